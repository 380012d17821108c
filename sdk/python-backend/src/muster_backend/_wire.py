# SPDX-License-Identifier: Apache-2.0
"""The part of protobuf's encoding that the frames need: varints and bytes.

Written by hand, so that a backend's environment may have any version of protobuf, or none.
"""

from typing import Dict, List, Union

from ._errors import Code, Failure, Malformed

Value = Union[int, bytes]
Fields = Dict[int, List[Value]]

_SHORT = [bytes((n,)) for n in range(128)]
_MASK = (1 << 64) - 1


def varint(value: int) -> bytes:
    """A number of 64 bits; a negative one as its two's complement."""
    if 0 <= value < 128:
        return _SHORT[value]
    if not -(1 << 63) <= value <= _MASK:
        raise Failure(Code.INTERNAL, f"the number {value} does not fit into 64 bits")
    value &= _MASK
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(number: int, value: int) -> bytes:
    """A field of int32, int64, uint32, uint64, bool or an enumeration. Zero is not written."""
    return varint(number << 3) + varint(value) if value else b""


def signed(number: int, value: int) -> bytes:
    """A field of sint64."""
    return integer(number, value << 1 if value >= 0 else ~(value << 1))


def data(number: int, value: bytes) -> bytes:
    """A field of bytes, or of a message that has been encoded. Empty is not written."""
    return varint(number << 3 | 2) + varint(len(value)) + value if value else b""


def text(number: int, value: str) -> bytes:
    """A field of string. Raises Failure for what is not valid Unicode (MP-4)."""
    try:
        return data(number, value.encode())
    except UnicodeEncodeError:
        raise Failure(Code.INTERNAL, f"{value!a} is not valid UTF-8 (MP-4)") from None


def message(number: int, value: bytes) -> bytes:
    """A field of a message, which is there even when it is empty."""
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(encoded: bytes) -> Fields:
    """The fields of a message by their numbers, each with its values in order. Raises Malformed."""
    out: Fields = {}
    at, end = 0, len(encoded)
    while at < end:
        key, at = _read_varint(encoded, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise Malformed("a field has the number 0")
        value: Value
        if kind == 0:
            value, at = _read_varint(encoded, at)
        elif kind in (1, 2, 5):
            size = 8 if kind == 1 else 4
            if kind == 2:
                size, at = _read_varint(encoded, at)
            if size > end - at:
                raise Malformed(f"field {number} goes beyond the end")
            value = encoded[at : at + size]
            at += size
        else:
            raise Malformed(f"field {number} is of the unknown kind {kind}")
        out.setdefault(number, []).append(value)
    return out


def get_integer(message_fields: Fields, number: int) -> int:
    """A field of int32, int64 or bool; 0 when it is absent."""
    value = get_unsigned(message_fields, number)
    return value - (1 << 64) if value >> 63 else value


def get_unsigned(message_fields: Fields, number: int) -> int:
    """A field of uint32 or uint64; 0 when it is absent."""
    value = message_fields.get(number, (0,))[-1]
    if not isinstance(value, int):
        raise Malformed(f"field {number} is no number")
    return value


def get_all(message_fields: Fields, number: int) -> List[bytes]:
    """A repeated field of bytes, strings or messages."""
    values = message_fields.get(number, [])
    out = [value for value in values if isinstance(value, bytes)]
    if len(out) != len(values):
        raise Malformed(f"field {number} has no bytes")
    return out


def get_data(message_fields: Fields, number: int) -> bytes:
    """A field of bytes or a message; empty when it is absent."""
    values = get_all(message_fields, number)
    return values[-1] if values else b""


def get_text(message_fields: Fields, number: int) -> str:
    """A field of string; empty when it is absent."""
    return decode(get_data(message_fields, number))


def decode(value: bytes) -> str:
    """The text of a string field. Raises Malformed."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Malformed("a text is not UTF-8") from None


def _read_varint(encoded: bytes, at: int) -> "tuple[int, int]":
    value = shift = 0
    while True:
        if at >= len(encoded) or shift > 63:
            raise Malformed("a number does not end")
        byte = encoded[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _MASK, at
        shift += 7
