#!/usr/bin/env python3
"""A backend that speaks the frames and breaks the duty that LC_BAD names. LC_BAD_PATH is where frames_proto.py is."""
import json
import os
import select
import socket
import sys
import time

sys.path.insert(0, os.environ["LC_BAD_PATH"])
from frames_proto import decode, encode  # noqa: E402

WRONG = os.environ.get("LC_BAD", "")
NAME = "worse" if WRONG == "OTHER_NAME" else "bad"
URL = "http://roster.test/members"
PERMISSIONS, PLAN = 3, 4
CANCELLED, DEADLINE_EXCEEDED, UNIMPLEMENTED, UNAVAILABLE, DATA_LOSS = 1, 4, 12, 14, 15


class Stop(Exception):
    """The call is over; with the code to answer."""


class State:
    minor = 0       # the core's
    refused = 0     # of the call: the code
    cancelled = False


def write(kind, message=None, id=0):
    body = encode("Frame", {**({"id": id} if id else {}), kind: message or {}})
    left = len(body).to_bytes(4, "little") + body
    try:
        while left:
            left = left[os.write(3, left):]
    except OSError:
        leave()


def leave(where=""):
    """The core has shut down."""
    if where and WRONG == where:
        time.sleep(60)
    sys.exit(0)


def take(size, where):
    data = b""
    while len(data) < size:
        piece = os.read(3, size - len(data))
        if not piece:
            leave(where)
        data += piece
    return data


def read(where=""):
    """The next frame that is known: (kind, id, message)."""
    while True:
        size = int.from_bytes(take(4, where), "little")
        if not 1 <= size <= 64 << 20 and WRONG != "READS_ANYTHING":
            sys.exit("a frame of that size there is not")
        if WRONG == "READS_ANYTHING" and not 1 <= size <= 64 << 20:
            continue
        try:
            frame = decode("Frame", take(size, where), WRONG != "KNOWS_EVERY_FIELD")
        except KeyError:
            sys.exit(4)
        except Exception:
            if WRONG == "CRASHES_ON_GARBAGE":
                os.abort()
            sys.exit("that is no frame")
        id = frame.pop("id", 0)
        if frame:
            (kind, message), = frame.items()
            return kind, id, message
        if State.minor == 0:
            sys.exit("a frame of no known kind")
        if id and WRONG != "KNOWS_EVERY_REQUEST":
            write("answer", {"code": 0 if WRONG == "ANSWERS_EVERY_REQUEST" else UNIMPLEMENTED}, id)


def fail(id, text, code=UNAVAILABLE):
    write("answer", {"code": code, "message": text}, id)


def ask(id, kind, message):
    """The answer to a request."""
    write(kind, message, id)
    while True:
        kind, answered, message = read("STAYS_IN_RESOLVE" if id == 2 else "")
        if kind == "cancel":
            State.cancelled = True
            if WRONG == "IGNORES_CANCEL":
                time.sleep(60)
            if WRONG == "ANSWERS_CANCEL_LATE":
                time.sleep(0.7)
        elif kind == "refused":
            State.refused = message.get("code", 0)
            if WRONG == "WAITS_WHEN_REFUSED":
                time.sleep(1.5)
        elif answered == id:
            break
    if message.get("code", 0) in (CANCELLED, DEADLINE_EXCEEDED) and WRONG == "IGNORES_CANCEL":
        time.sleep(60)
    if State.refused and WRONG != "IGNORES_REFUSED":
        raise Stop(State.refused)
    if State.cancelled:
        raise Stop(UNAVAILABLE if WRONG == "CANCEL_IS_UNAVAILABLE" else CANCELLED)
    return message


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
    if WRONG == "CONNECTS":
        socket.socket().connect_ex(("127.0.0.1", 9))
    if WRONG == "WRONG_ADDRESS":
        write("add_task", {"job": "worker", "index": 0, "address": "10.0.0.1"})
        return write("answer", {}, id)
    try:
        write("add_job", {"job": "worker"})
        ask(1, "get_hostname", {})
        message = ask(2, "send_http", {"request": {"method": "GET", "url": URL, "purpose": "the members"}})
    except Stop as stop:
        return fail(id, "it is over", stop.args[0])
    code, status = message.get("code", 0), message.get("http", {}).get("status", 0)
    if code or status != 200:
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


def permissions(id, for_watch):
    if WRONG == "ASKS_FOR_PERMISSIONS":
        ask(1, "send_http", {"request": {"method": "GET", "url": URL}})
    for rule in ("list members", "watch members")[WRONG == "FORGETS_FOR_A_WATCH" and for_watch:1 + for_watch]:
        write("add_permission", {"scope": "roster.test", "rule": rule})
    write("set_grant", {"command": "sh", "text": f"# {time.monotonic_ns() if WRONG == 'CHANGING_GRANT' else 'allow'}\n"})
    write("answer", {}, id)


def plan(id):
    if WRONG == "ASKS_FOR_A_PLAN":
        ask(1, "send_http", {"request": {"method": "GET", "url": URL}})
    least = 2 if WRONG == "PLANS_TOO_MUCH" else 1
    write("add_planned", {"api": "roster.test", "request": "GET members", "least": least, "most": least})
    write("answer", {}, id)


def greet():
    """Says Hello and reads the core's."""
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
    _, _, hello = read()
    State.minor = hello.get("minor", 0)
    if hello["major"] != 1 and WRONG != "SPEAKS_EVERY_MAJOR":
        sys.exit(1 if WRONG == "SILENT_ABOUT_MAJOR" else f"this is frames 1.0, and the core's are {hello['major']}.{State.minor}")


def main():
    greet()
    options = {}
    called = 0
    while True:
        kind, id, message = read("STAYS_WHEN_IDLE" if called else "")
        if kind == "hello" and WRONG != "READS_ANYTHING":
            sys.exit("a second Hello")
        if kind == "create":
            if WRONG == "EXITS_IN_CREATE":
                sys.exit(3)
            if WRONG == "HANGS_IN_CREATE":
                time.sleep(60)
            options = json.loads(message["options"])
            write("answer", {"extensions": ["muster.permissions/1", "muster.plan/1"]}, id)
        elif kind == "run":
            called += 1
            if WRONG != "KEEPS_CANCEL":
                State.cancelled = False
            if WRONG != "KEEPS_REFUSED":
                State.refused = 0
            if message["function"] == PERMISSIONS:
                permissions(id, message.get("for_watch", False))
            elif message["function"] == PLAN:
                plan(id)
            else:
                resolve(id, options)
        elif kind == "cancel":
            State.cancelled = True


main()
