"""Protobuf for messages that are dicts, by what sdk/frames/frames.proto says: the SDKs' own encodings are held against it."""
import os
import re

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sdk", "frames", "frames.proto")
FIELD = re.compile(r"(repeated )?(\w+) (\w+) = (\d+);")


def read():
    """Each message's fields, number -> (name, type, repeated), and each enumeration's values."""
    with open(PROTO) as file:
        text = re.sub(r"//[^\n]*", "", file.read())
    messages, enums = {}, {}
    for kind, name, body in re.findall(r"\b(message|enum) (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}", text):
        if kind == "enum":
            enums[name] = {value: int(number) for value, number in re.findall(r"(\w+) = (\d+);", body)}
        else:
            messages[name] = {int(number): (field, type, bool(repeated)) for repeated, type, field, number in FIELD.findall(body)}
    return messages, enums


MESSAGES, ENUMS = read()


def encode_varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes((value,)))


def decode_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value & (1 << 64) - 1, at


def encode(message, values):
    """The bytes of {field: value}; a field that is not given, is absent."""
    numbers = {field: (number, type, repeated) for number, (field, type, repeated) in MESSAGES[message].items()}
    out = b""
    for field, value in values.items():
        number, type, repeated = numbers[field]
        for one in value if repeated else [value]:
            if type in MESSAGES or type in ("string", "bytes"):
                data = encode(type, one) if type in MESSAGES else one.encode() if type == "string" else one
                out += encode_varint(number << 3 | 2) + encode_varint(len(data)) + data
            else:
                if type == "sint64":
                    one = one << 1 ^ one >> 63
                out += encode_varint(number << 3) + encode_varint(ENUMS[type][one] if type in ENUMS else int(one))
    return out


def decode(message, data, unknown=False):
    """{field: value} of those that are there. What no field of the message is, or is of another type than it, is an error.

    `unknown`: fields that the message has not are passed over.
    """
    values, at = {}, 0
    while at < len(data):
        key, at = decode_varint(data, at)
        if unknown and key >> 3 not in MESSAGES[message]:
            size, at = decode_varint(data, at)
            at += size if key & 7 == 2 else 0
            continue
        field, type, repeated = MESSAGES[message][key >> 3]
        packed = type in MESSAGES or type in ("string", "bytes")
        assert key & 7 == (2 if packed else 0), f"{message}.{field} has the wire type {key & 7}"
        value, at = decode_varint(data, at)
        if packed:
            assert at + value <= len(data), f"{message}.{field} is cut off"
            data_of, at = bytes(data[at:at + value]), at + value
            value = decode(type, data_of, unknown) if type in MESSAGES else data_of.decode() if type == "string" else data_of
        elif type == "sint64":
            value = value >> 1 ^ -(value & 1)
        elif type == "bool":
            value = bool(value)
        elif type in ("int32", "int64") and value >> 63:
            value -= 1 << 64
        if repeated:
            values.setdefault(field, []).append(value)
        else:
            values[field] = value
    return values
