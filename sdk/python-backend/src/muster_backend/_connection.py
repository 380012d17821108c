# SPDX-License-Identifier: Apache-2.0
"""The two ends of a conversation: frames are gathered and written, and a thread reads."""

import os
import queue
import socket
import threading
import time
from typing import Callable, Optional, Union

from . import _frames, _wire
from ._errors import Code, Ended, Failure, Malformed
from ._frames import Answer, Create, Incoming, Piece, Run, State

GATHERED_MAXIMUM = 1 << 16
GRACE_SECONDS = 0.25  # of the 300 ms in which a program has to exit

PieceHandler = Callable[[bytes], None]
"""Takes one piece; what it raises ends the exchange."""

HandlerOf = Callable[[int], Optional[PieceHandler]]


class Connection:
    """A conversation with the core. All but `log` is for the thread that runs the backend."""

    def __init__(self, conversation: socket.socket, software: str, descriptor: str) -> None:
        self._socket = conversation
        self._lock = threading.Lock()  # over what is gathered and the socket's writing side
        self._gathered = bytearray()
        self._incoming: "queue.SimpleQueue[Optional[Union[Incoming, Malformed]]]" = queue.SimpleQueue()
        self._last_id = 0
        self._core_minor = 0
        hello = _wire.integer(1, _frames.MAJOR) + _wire.integer(2, _frames.MINOR)
        self.write(0, _frames.HELLO, hello + _wire.text(3, software) + _wire.text(4, descriptor))
        threading.Thread(target=self._read, daemon=True, name="muster frames").start()

    # ---- Writing

    def push(self, kind: int, message: bytes) -> None:
        """Gathers a frame that has no answer."""
        encoded = _frames.frame(0, kind, message)
        with self._lock:
            self._gathered += encoded
            if len(self._gathered) >= GATHERED_MAXIMUM:
                self._flush()

    def write(self, id: int, kind: int, message: bytes) -> None:
        """Writes a frame, and before it all that was gathered. Any thread may."""
        encoded = _frames.frame(id, kind, message)
        with self._lock:
            self._gathered += encoded
            self._flush()

    def log(self, level: int, text: str) -> None:
        """Writes lines of the log. Any thread may."""
        for line in text.splitlines():
            self.write(0, _frames.LOG, _wire.integer(1, level) + _wire.text(2, line))

    def answer(self, id: int, failure: Optional[Failure] = None, message: bytes = b"") -> None:
        """Answers a request of the core."""
        if failure is not None:
            message = _wire.integer(1, failure.code) + _wire.text(2, failure.message)
            for key, value in failure.details.items():
                message += _wire.message(3, _wire.text(1, key) + _wire.text(2, value))
        self.write(id, _frames.ANSWER, message)

    def _flush(self) -> None:
        try:
            self._socket.sendall(self._gathered, socket.MSG_NOSIGNAL)
        except OSError:
            raise Ended() from None
        self._gathered.clear()

    # ---- Asking

    def request(self, kind: int, message: bytes, handler_of: Optional[HandlerOf] = None) -> Answer:
        """Asks the core and waits for its answer, which may be a failure. `handler_of` gives who takes the pieces of an exchange."""
        self._last_id += 1
        id = self._last_id
        self.write(id, kind, message)
        parts = []
        while True:
            incoming = self.next()
            if isinstance(incoming, Piece):
                self._take_piece(incoming, handler_of)
            elif isinstance(incoming, Answer) and incoming.id == id:
                parts.append(incoming.content)
                if not incoming.more:
                    incoming.content = b"".join(parts)
                    return incoming
            else:
                raise Malformed(f"a frame {type(incoming).__name__} came while request {id} waits for its answer")

    def _take_piece(self, piece: Piece, handler_of: Optional[HandlerOf]) -> None:
        handler = handler_of(piece.stream) if handler_of is not None else None
        if handler is None:
            raise Malformed(f"a piece came for the stream {piece.stream}, which is none")
        try:
            handler(piece.data)
        except Failure as failure:
            self.answer(piece.id, failure if failure.code != Code.OK else Failure(Code.INTERNAL, failure.message))
        else:
            self.answer(piece.id)

    # ---- Reading

    def next(self) -> Union[Answer, Create, Run, Piece]:
        """The next frame that is for the backend's thread. Raises Ended or Malformed."""
        while True:
            incoming = self._incoming.get()
            if incoming is None:
                self._incoming.put(None)  # for who asks again
                raise Ended()
            if isinstance(incoming, Malformed):
                raise incoming
            if isinstance(incoming, _frames.Unknown):
                if incoming.id:
                    self.answer(incoming.id, Failure(Code.UNIMPLEMENTED, "this backend speaks version 1.0 of the frames"))
                continue
            if isinstance(incoming, (Answer, Create, Run, Piece)):
                return incoming
            raise Malformed(f"a frame {type(incoming).__name__} came where it may not")

    def _read(self) -> None:
        status = 0
        try:
            self._read_frames()
        except Malformed as malformed:
            self._incoming.put(malformed)
            status = 1
        except OSError:
            pass
        self._incoming.put(None)
        # A backend that is busy does not see the end, and the core has no patience.
        time.sleep(GRACE_SECONDS)
        os._exit(status)

    def _read_frames(self) -> None:
        state = State()
        first = True
        with self._socket.makefile("rb", buffering=GATHERED_MAXIMUM) as stream:
            while True:
                header = stream.read(4)
                size = int.from_bytes(header, "little")
                if len(header) == 4 and not 1 <= size <= _frames.SIZE_MAXIMUM:
                    raise Malformed(f"a frame of {size} bytes")
                body = stream.read(size)
                if len(header) < 4 or len(body) < size:
                    return
                incoming = _frames.parse(body)
                if first != isinstance(incoming, _frames.Hello):
                    raise Malformed(f"a frame {type(incoming).__name__} came " + ("before Hello" if first else "behind Hello"))
                first = False
                if isinstance(incoming, _frames.Hello):
                    self._greet(incoming)
                elif isinstance(incoming, _frames.Cancel):
                    state.cancelled = True
                elif isinstance(incoming, _frames.Refused):
                    state.refused = incoming.code
                elif isinstance(incoming, _frames.Unknown) and self._core_minor <= _frames.MINOR:
                    raise Malformed("a frame of an unknown kind")
                else:
                    if isinstance(incoming, Run):
                        state = incoming.state
                    self._incoming.put(incoming)

    def _greet(self, hello: _frames.Hello) -> None:
        if hello.major != _frames.MAJOR:
            raise Malformed(
                f"this backend speaks version {_frames.MAJOR}.{_frames.MINOR} of the frames, "
                f"and {hello.software or 'the core'} version {hello.major}.{hello.minor}"
            )
        self._core_minor = hello.minor
