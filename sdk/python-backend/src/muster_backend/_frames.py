# SPDX-License-Identifier: Apache-2.0
"""The frames of frames.proto: their numbers, and those that the core writes."""

from dataclasses import dataclass, field
from typing import Callable, Dict, List, Tuple, Union

from . import _wire
from ._errors import CANCELLED, DEADLINE_EXCEEDED, Code, Failure, Malformed
from ._types import HttpResponse, ProgramResult

MAJOR = 1
MINOR = 0
SIZE_MAXIMUM = 67108864

# The kinds of frames: numbers of the fields of Frame.
HELLO = 2
ANSWER = 3
CREATE = 4
RUN = 5
CANCEL = 6
REFUSED = 7
PIECE = 8
LOG = 16
CHECK_ADDRESS = 17
ADD_JOB = 18
ADD_TASK = 19
SET_ATTRIBUTE = 20
ADD_MISSING = 21
SET_EXPECTED = 22
SET_IDENTITY = 23
ADD_WARNING = 24
MARK_SECRET = 25
SET_PROGRESS = 26
COMMIT = 27
ADD_PERMISSION = 28
SET_GRANT = 29
ADD_PLANNED = 30
MISBEHAVED = 31
GET_TIME = 40
SLEEP = 41
GET_VARIABLE = 42
READ_FILE = 43
SEND_HTTP = 44
BEGIN_HTTP = 45
NEXT_HTTP = 46
END_HTTP = 47
HAS_TERMINAL = 48
RUN_PROGRAM = 49
GET_HOSTNAME = 50

# Functions of a Run, and the extensions that they belong to.
RESOLVE = 1
WATCH = 2
PERMISSIONS = 3
PLAN = 4
FUNCTIONS = {RESOLVE: "resolve", WATCH: "watch", PERMISSIONS: "permissions", PLAN: "plan"}
EXTENSIONS = {"watch": "muster.watch/1", "permissions": "muster.permissions/1", "plan": "muster.plan/1"}


# Of answers that have none.
_WORDS = {int(Code.CANCELLED): CANCELLED, int(Code.DEADLINE_EXCEEDED): DEADLINE_EXCEEDED}


@dataclass
class Hello:
    major: int
    minor: int
    software: str


@dataclass
class Answer:
    id: int
    code: int
    message: str
    details: List[Tuple[str, str]]
    content: bytes
    more: bool
    number: int
    http: HttpResponse
    program: ProgramResult

    def failure(self) -> Failure:
        words = self.message or _WORDS.get(self.code, f"muster answered with code {self.code}")
        return Failure(self.code, words, dict(self.details))


@dataclass
class Create:
    id: int
    options: str
    path: str


@dataclass
class State:
    """What becomes of a call while it runs. The reading thread writes it, the call's own reads it."""

    cancelled: bool = False
    refused: int = 0  # the code of Refused


@dataclass
class Run:
    id: int
    function: int
    deadline_ns: int
    principal: str
    for_watch: bool
    members: int
    live: bool
    interval_ns: int
    state: State = field(default_factory=State)


@dataclass
class Cancel:
    pass


@dataclass
class Refused:
    code: int


@dataclass
class Piece:
    id: int
    stream: int  # 0: of the SendHttp that waits
    data: bytes


@dataclass
class Unknown:
    """A frame of a newer core."""

    id: int


Incoming = Union[Hello, Answer, Create, Run, Cancel, Refused, Piece, Unknown]


def frame(id: int, kind: int, message: bytes) -> bytes:
    """A frame as it is written. Raises ValueError where it is longer than frames may be."""
    body = _wire.integer(1, id) + _wire.message(kind, message)
    if len(body) > SIZE_MAXIMUM:
        raise ValueError(f"a frame of {len(body)} bytes: at most {SIZE_MAXIMUM} are taken")
    return len(body).to_bytes(4, "little") + body


def parse(encoded: bytes) -> Incoming:
    """A frame of the core, without its size. Raises Malformed."""
    outer = _wire.fields(encoded)
    id = _wire.get_unsigned(outer, 1)
    kinds = [number for number in outer if number != 1]
    known = [number for number in kinds if number in _PARSERS]
    if not known:
        return Unknown(id)
    kind = known[-1]
    if (id != 0) != (kind in (ANSWER, CREATE, RUN, PIECE)):
        raise Malformed(f"frame {kind} has the id {id}")
    return _PARSERS[kind](id, _wire.fields(_wire.get_data(outer, kind)))


def _answer(id: int, f: _wire.Fields) -> Answer:
    return Answer(
        id=id,
        code=_wire.get_integer(f, 1),
        message=_wire.get_text(f, 2),
        details=[(_wire.get_text(d, 1), _wire.get_text(d, 2)) for d in map(_wire.fields, _wire.get_all(f, 3))],
        content=_wire.get_data(f, 4),
        more=_wire.get_integer(f, 5) != 0,
        number=_wire.get_integer(f, 6),
        http=_response(_wire.fields(_wire.get_data(f, 8))),
        program=_program(_wire.fields(_wire.get_data(f, 9))),
    )


def _response(f: _wire.Fields) -> HttpResponse:
    headers = [(_wire.get_text(h, 1), _wire.get_data(h, 2).decode("utf-8", "surrogateescape")) for h in map(_wire.fields, _wire.get_all(f, 2))]
    return HttpResponse(_wire.get_integer(f, 1), headers, b"")


def _program(f: _wire.Fields) -> ProgramResult:
    return ProgramResult(_wire.get_integer(f, 1), b"", _wire.get_text(f, 2), _wire.get_integer(f, 3) != 0)


def _run(id: int, f: _wire.Fields) -> Run:
    return Run(
        id=id,
        function=_wire.get_integer(f, 1),
        deadline_ns=_wire.get_integer(f, 2),
        principal=_wire.get_text(f, 4),
        for_watch=_wire.get_integer(f, 5) != 0,
        members=_wire.get_integer(f, 6),
        live=_wire.get_integer(f, 7) != 0,
        interval_ns=_wire.get_integer(f, 8),
    )


_PARSERS: Dict[int, Callable[[int, _wire.Fields], Incoming]] = {
    HELLO: lambda id, f: Hello(_wire.get_unsigned(f, 1), _wire.get_unsigned(f, 2), _wire.get_text(f, 3)),
    ANSWER: _answer,
    CREATE: lambda id, f: Create(id, _wire.get_text(f, 1), _wire.get_text(f, 2)),
    RUN: _run,
    CANCEL: lambda id, f: Cancel(),
    REFUSED: lambda id, f: Refused(_wire.get_integer(f, 1)),
    PIECE: lambda id, f: Piece(id, _wire.get_unsigned(f, 3), _wire.get_data(f, 2)),
}
