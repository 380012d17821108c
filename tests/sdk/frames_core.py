"""A small double of the core: starts one backend and speaks frames with it, as a test says."""
import itertools
import json
import os
import socket
import subprocess
import time

from frames_proto import decode, encode

TIMEOUT = 20


class Refused(Exception):
    """The backend wrote what it may not, or ended in the middle."""


class Core:
    """One process of a backend. `hello` is what it said first."""

    def __init__(self, command, greet=True, **hello):
        self.socket, other = socket.socketpair()
        self.socket.settimeout(TIMEOUT)
        with other:
            self.process = subprocess.Popen(
                command, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "MUSTER_FRAMES_FD": str(other.fileno())})
        self.ids = itertools.count(1)
        self.stream = self.socket.makefile("rb")
        if greet:
            self.write("hello", {"major": 1, "minor": 0, "software": "muster test", **hello})
        kind, id, self.hello = self.read()
        assert kind == "hello" and id == 0, kind

    # ---- Frames

    def write_raw(self, body):
        self.socket.sendall(len(body).to_bytes(4, "little") + body)

    def write(self, kind, message=None, id=0):
        self.write_raw(encode("Frame", {**({"id": id} if id else {}), kind: message or {}}))

    def take(self, size):
        data = self.stream.read(size)
        if len(data) < size:
            raise Refused("the backend ended")
        return data

    def read(self):
        """The next frame: (kind, id, message)."""
        frame = decode("Frame", self.take(int.from_bytes(self.take(4), "little")))
        id = frame.pop("id", 0)
        (kind, message), = frame.items()
        return kind, id, message

    # ---- A life

    def create(self, options=None, path="cluster"):
        """Makes the resolver; what Create is answered with."""
        id = next(self.ids)
        self.write("create", {"options": json.dumps(options or {}), "path": path}, id)
        return self.until(id, {})[0]

    def begin(self, function="RESOLVE", seconds=60.0, **more):
        """Begins a call and returns its id."""
        id = next(self.ids)
        nanoseconds = int(seconds * 1e9)
        self.write("run", {"function": function, "deadline_ns": time.monotonic_ns() + nanoseconds, "remaining_ns": nanoseconds, **more}, id)
        return id

    def until(self, id, answers):
        """Reads until this request is answered. (answer, frames that came before it, as (kind, message)).

        A request of the backend is answered by answers[kind]: a message, or a function of (core, id of the request, message) that
        returns one, or None when it has answered itself.
        """
        frames = []
        while True:
            kind, frame_id, message = self.read()
            if kind == "answer":
                if frame_id != id:
                    raise Refused(f"an answer to {frame_id}, not {id}")
                return message, frames
            frames.append((kind, message))
            if frame_id:
                answer = answers.get(kind, {"code": 12, "message": f"the test has no {kind}"})
                answer = answer(self, frame_id, message) if callable(answer) else answer
                if answer is not None:
                    self.write("answer", answer, frame_id)
            elif callable(answers.get(kind)):
                answers[kind](self, 0, message)

    def run(self, function="RESOLVE", answers=None, seconds=60.0, **more):
        """A whole call: (answer, frames)."""
        return self.until(self.begin(function, seconds, **more), answers or {})

    def piece(self, data, **exchange):
        """Hands over one piece of request=ID or stream=NUMBER; (its answer, what the backend said before)."""
        id = next(self.ids)
        self.write("piece", {"data": data, **exchange}, id)
        return self.until(id, {"get_variable": {"content": b"nested"}})

    def end(self):
        """Shuts down and returns (exit status, seconds that it took, standard output, standard error)."""
        begin = time.monotonic()
        self.socket.shutdown(socket.SHUT_RDWR)
        try:
            out, error = self.process.communicate(timeout=TIMEOUT)
        finally:
            self.close()
        return self.process.returncode, time.monotonic() - begin, out.decode(), error.decode()

    def close(self):
        self.socket.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
