#!/usr/bin/env python3
"""A backend that speaks the frames and breaks the duty that LC_BAD names. LC_BAD_PATH is where frames_proto.py is."""
import json
import os
import select
import sys
import time

sys.path.insert(0, os.environ["LC_BAD_PATH"])
from frames_proto import decode, encode  # noqa: E402

WRONG = os.environ.get("LC_BAD", "")
NAME = "worse" if WRONG == "OTHER_NAME" else "bad"
URL = "http://roster.test/members"
UNAVAILABLE, DATA_LOSS = 14, 15


def write(kind, message=None, id=0):
    body = encode("Frame", {**({"id": id} if id else {}), kind: message or {}})
    left = len(body).to_bytes(4, "little") + body
    while left:
        left = left[os.write(3, left):]


def take(size):
    data = b""
    while len(data) < size:
        piece = os.read(3, size - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def read():
    frame = decode("Frame", take(int.from_bytes(take(4), "little")))
    id = frame.pop("id", 0)
    (kind, message), = frame.items()
    return kind, id, message


def fail(id, text, code=UNAVAILABLE):
    write("answer", {"code": code, "message": text}, id)


def resolve(id, options):
    if WRONG == "WRITES_GARBAGE":
        os.write(3, b"\xff" * 64)
    if WRONG == "ANSWERS_NOBODY":
        write("answer", {}, 4711)
    if WRONG == "EXITS_IN_RESOLVE":
        sys.exit(5)
    if WRONG == "LOGS_SECRET":
        write("log", {"level": 1, "text": f"the token is {options['token']}"})
    if WRONG == "PRINTS_SECRET":
        print("the token is", options["token"], flush=True)
    if WRONG == "FAILS_SILENTLY":
        return fail(id, "")
    if WRONG == "WRONG_ADDRESS":
        write("add_task", {"job": "worker", "index": 0, "address": "10.0.0.1"})
        return write("answer", {}, id)
    write("send_http", {"request": {"method": "GET", "url": URL, "purpose": "the members"}}, 1)
    kind, _, message = read()
    if kind == "cancel" and WRONG == "IGNORES_CANCEL":
        time.sleep(60)
    if kind == "cancel":
        return fail(id, "it was cancelled", 1)
    code, status = message.get("code", 0), message.get("http", {}).get("status", 0)
    if code or status != 200:
        if WRONG == "IGNORES_CANCEL" and code in (1, 4):
            time.sleep(60)
        if WRONG == "TELLS_SECRET" and status == 401:
            return fail(id, f"the token {options['token']} is refused", 16)
        return fail(id, message.get("message") or f"status {status}", code or {401: 16, 403: 7, 404: 5}.get(status, UNAVAILABLE))
    try:
        addresses = json.loads(message.get("content", b""))
    except ValueError as error:
        return fail(id, f"the members cannot be read: {error}", DATA_LOSS)
    for index, address in enumerate(addresses):
        write("add_task", {"job": "worker", "index": index, "address": address})
    return write("answer", {}, id)


def main():
    descriptor = {"name": NAME, "version": "1.0.0", "abi": {"major": 1, "minor": 0}, "description": "Breaks one duty.",
                  "services": ["muster.http/1"],
                  "options": {"type": "object", "properties": {"token": {"type": "string", "writeOnly": True, "default": "none"}}}}
    if WRONG == "CHANGING_HELLO":
        descriptor["description"] = f"It is {time.monotonic_ns()}."
    if WRONG == "SILENT":
        select.select([], [], [], 60)
    if WRONG == "GREETS_WITH_GARBAGE":
        os.write(3, b"hello, core\n" * 8)
        time.sleep(60)
    write("hello", {"major": 1, "minor": 0, "software": "bad", "descriptor": "{" if WRONG == "NO_DESCRIPTOR" else json.dumps(descriptor)})
    options = {}
    while True:
        kind, id, message = read()
        if kind == "create":
            if WRONG == "EXITS_IN_CREATE":
                sys.exit(3)
            if WRONG == "HANGS_IN_CREATE":
                time.sleep(60)
            options = json.loads(message["options"])
            write("answer", {}, id)
        elif kind == "run":
            resolve(id, options)


main()
