# SPDX-License-Identifier: Apache-2.0
"""What a backend is given: a Host for as long as it lives, and a Call for each of its calls."""

import threading
import time
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _frames, _wire
from ._connection import Connection, HandlerOf, PieceHandler
from ._errors import CANCELLED, DEADLINE_EXCEEDED, Code, Failure
from ._frames import Answer
from ._types import HttpRequest, HttpResponse, LogLevel, ProgramResult, StreamEnd


class Host:
    """What is there between calls too. `log` is for any thread, the rest for the one that runs the backend."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self.path = path
        """Where the resolver stands in the config, for people: "cluster.merge[0]"."""

    def log(self, level: LogLevel, text: str) -> None:
        """Writes to the launcher's log; never a secret (MP-17)."""
        self._connection.log(level, text)

    def check_address(self, address: str, port: int = 0) -> Optional[str]:
        """None where add_task would take this address and port (MP-7), else why not, in words: put the place before them."""
        answer = self._connection.request(_frames.CHECK_ADDRESS, _wire.text(1, address) + _wire.integer(2, port))
        return None if answer.code == Code.OK else answer.message


class Call:
    """One running call: takes what is found, and asks the world. For the thread that runs the call alone, and until it ends (MP-15).

    Everything raises Failure once the call was cancelled, its deadline has come, or the core has refused something that was pushed;
    let it pass, the core knows the reason. A push is not answered, so a refusal is seen by one of the next.
    """

    def __init__(self, connection: Connection, run: _frames.Run) -> None:
        self._connection = connection
        self._state = run.state
        self._run = run
        self._thread = threading.get_ident()
        self._ended = False
        self._handlers: Dict[int, PieceHandler] = {}  # of the streams, by their numbers
        self._raised: Dict[int, BaseException] = {}  # by these handlers

    # ---- The call itself

    @property
    def deadline_ns(self) -> int:
        """When the call has to be over, on time.monotonic_ns(). A watch's never comes: it is 146 years away."""
        return self._run.deadline_ns

    @property
    def remaining(self) -> float:
        """Seconds until then, not below 0."""
        return max(0.0, (self.deadline_ns - time.monotonic_ns()) / 1e9)

    @property
    def interval(self) -> float:
        """In a watch: how many seconds its user lets pass between two questions to a source that has to be asked again and again."""
        return self._run.interval_ns / 1e9

    @property
    def live(self) -> bool:
        """Whether it is neither recorded nor replayed: what it learns (a token) may serve other calls too."""
        return self._run.live

    @property
    def cancelled(self) -> bool:
        """Whether the call is over for the core: cancelled, refused, or beyond its deadline. Cheap, for long loops of one's own."""
        return self._state.cancelled or self._state.refused != 0

    def check(self) -> None:
        """Raises Failure when the call is over for the core; every other method does so too."""
        if self._ended or threading.get_ident() != self._thread:
            raise RuntimeError("a call was used after its end, or on another thread (MP-15)")
        if self._state.refused:
            raise Failure(self._state.refused, "refused")  # the core has kept the words
        if self._state.cancelled:
            if time.monotonic_ns() >= self.deadline_ns:
                raise Failure(Code.DEADLINE_EXCEEDED, DEADLINE_EXCEEDED)
            raise Failure(Code.CANCELLED, CANCELLED)

    def log(self, level: LogLevel, text: str) -> None:
        """Writes to the launcher's log; never a secret (MP-17)."""
        self._connection.log(level, text)

    def progress(self, text: str) -> None:
        """What the call is waiting for now, in a few words: the launcher may show it."""
        self.check()
        self._connection.write(0, _frames.SET_PROGRESS, _wire.text(1, text))

    # ---- What was found

    def add_job(self, job: str) -> None:
        """Declares a job, which may then have no task. Jobs keep the order in which they are first named."""
        self._push(_frames.ADD_JOB, _wire.text(1, job))

    def add_task(self, job: str, index: int, name: str, address: str, port: int = 0) -> None:
        """Adds a member. The index may be UNRANKED. The address is "host:port", "[v6]:port", or a host alone when there is a port."""
        self._push(
            _frames.ADD_TASK,
            _wire.text(1, job) + _wire.signed(2, index) + _wire.text(3, name) + _wire.text(4, address) + _wire.integer(5, port),
        )

    def set_attribute(self, key: str, value: str) -> None:
        """Says something about the task added last or, before any task, about the whole cluster. `plugin.h` has the keys with a meaning."""
        self._push(_frames.SET_ATTRIBUTE, _wire.text(1, key) + _wire.text(2, value))

    def add_missing(self, job: str, index: int, name: str, reason: str) -> None:
        """Names a member that should be there and is not, and why in words. The index may be UNRANKED, the name empty."""
        self._push(_frames.ADD_MISSING, _wire.text(1, job) + _wire.signed(2, index) + _wire.text(3, name) + _wire.text(4, reason))

    def set_expected(self, job: str, count: int) -> None:
        """How many tasks the platform says the job has when it is whole."""
        self._push(_frames.SET_EXPECTED, _wire.text(1, job) + _wire.integer(2, count))

    def set_identity(self, job: str, index: int, evidence: str, name: str = "") -> None:
        """Which task this process is, with the evidence in words. UNRANKED: the task of this name."""
        self._push(_frames.SET_IDENTITY, _wire.text(1, job) + _wire.signed(2, index) + _wire.text(3, name) + _wire.text(4, evidence))

    def add_warning(self, text: str) -> None:
        """Something the user should know although the answer is right."""
        self._push(_frames.ADD_WARNING, _wire.text(1, text))

    def mark_secret(self, text: Union[str, bytes]) -> None:
        """From here on this text is shown nowhere. For secrets that were learned in the call: options with "writeOnly" are known."""
        self.check()
        encoded = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
        self._connection.write(0, _frames.MARK_SECRET, _wire.data(1, encoded))

    def commit(self) -> None:
        """In watch: what was pushed since the last commit is one whole snapshot, and the next begins with nothing."""
        self._ask(_frames.COMMIT)

    def add_permission(self, scope: str, rule: str, principal_kind: str = "", principal: str = "") -> None:
        """In permissions: one thing that must be allowed: "namespace ml", "list pods", "ServiceAccount", "ml/trainer"."""
        self._push(
            _frames.ADD_PERMISSION,
            _wire.text(1, principal_kind) + _wire.text(2, principal) + _wire.text(3, scope) + _wire.text(4, rule),
        )

    def set_grant(self, command: str, text: str) -> None:
        """In permissions: the text that allows all of them when it is given to `command` on its standard input."""
        self._push(_frames.SET_GRANT, _wire.text(1, command) + _wire.text(2, text))

    def add_planned(
        self, api: str, request: str, least: int, most: int, reason: str = "", quota: str = "", quota_per_minute: int = 0
    ) -> None:
        """In plan: one kind of requests that a resolve makes, `least` to `most` of them; the quota is the one that they count to."""
        self._push(
            _frames.ADD_PLANNED,
            _wire.text(1, api) + _wire.text(2, request) + _wire.text(3, reason) + _wire.integer(4, least) + _wire.integer(5, most)
            + _wire.text(6, quota) + _wire.integer(7, quota_per_minute),
        )

    # ---- What is asked of the world

    def check_address(self, address: str, port: int = 0) -> Optional[str]:
        """As Host.check_address."""
        answer = self._request(_frames.CHECK_ADDRESS, _wire.text(1, address) + _wire.integer(2, port))
        return None if answer.code == Code.OK else answer.message

    def monotonic_ns(self) -> int:
        """The time on the clock of deadline_ns. A replay gives the recorded one."""
        return self._ask(_frames.GET_TIME, _wire.integer(1, 1)).number

    def realtime_ns(self) -> int:
        """Nanoseconds since 1970-01-01 UTC. A replay gives the recorded time."""
        return self._ask(_frames.GET_TIME).number

    def sleep(self, seconds: float) -> None:
        """Waits. Raises Failure as soon as the call ends earlier."""
        self._ask(_frames.SLEEP, _wire.integer(1, _nanoseconds(seconds)))

    def variable(self, name: str) -> Optional[str]:
        """An environment variable of the launcher; None when it is unset."""
        answer = self._request(_frames.GET_VARIABLE, _wire.text(1, name))
        if answer.code == Code.NOT_FOUND:
            return None
        return _checked(answer).content.decode("utf-8", "surrogateescape")

    def hostname(self) -> Optional[str]:
        """The name of the machine that the launcher runs on; None when it has none. A replay gives the recorded one."""
        answer = self._request(_frames.GET_HOSTNAME)
        if answer.code == Code.NOT_FOUND:
            return None
        return _checked(answer).content.decode("utf-8", "surrogateescape")

    def file(self, path: str, maximum_size: int = 64 << 20, secret: bool = False) -> bytes:
        """A whole regular file; a leading "~/" is the user's home. `secret`: the whole content is one.

        Raises Failure: NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED (longer than the maximum), FAILED_PRECONDITION (no regular file).
        """
        return self._ask(_frames.READ_FILE, _wire.text(1, path) + _wire.integer(2, maximum_size) + _wire.integer(3, int(secret))).content

    def http(self, request: HttpRequest, on_piece: Optional[PieceHandler] = None) -> HttpResponse:
        """Does one exchange and returns the response, whatever its status.

        `on_piece` gets the body of a 2xx response piece by piece instead; what it raises ends the exchange, and is raised here.

        Raises Failure: UNAVAILABLE (name, connection, cut off), DEADLINE_EXCEEDED, CANCELLED, FAILED_PRECONDITION (TLS verification),
        RESOURCE_EXHAUSTED (too large), INVALID_ARGUMENT (the URL).
        """
        raised: List[BaseException] = []
        handler: Optional[PieceHandler] = None
        if on_piece is not None:
            handler = _keeping(on_piece, raised.append)
        message = _http_message(request, on_piece is not None)
        answer = self._request(_frames.SEND_HTTP, _wire.message(1, message), lambda _: handler)
        if raised:
            raise raised[0]
        return _response(_checked(answer))

    def begin_http(self, request: HttpRequest, on_piece: Optional[PieceHandler] = None) -> int:
        """Begins an exchange and does not wait for it: next_http does. Returns its number."""
        number = self._ask(_frames.BEGIN_HTTP, _wire.message(1, _http_message(request, on_piece is not None))).number
        if on_piece is not None:
            self._handlers[number] = _keeping(on_piece, lambda error: self._raised.setdefault(number, error))
        return number

    def next_http(self, timeout: float) -> Optional[StreamEnd]:
        """Waits, for `timeout` seconds at most, until an exchange has something to tell: pieces, which its on_piece gets, or its end.

        None where none has ended. What an on_piece raises is raised here when its exchange has ended by it.
        """

        answer = self._request(_frames.NEXT_HTTP, _wire.integer(1, _nanoseconds(timeout)), self._handlers.get)
        if answer.number == 0:
            if answer.code not in (Code.OK, Code.DEADLINE_EXCEEDED):
                raise answer.failure()
            self.check()
            return None
        self._handlers.pop(answer.number, None)
        raised = self._raised.pop(answer.number, None)
        if raised is not None:
            raise raised
        if answer.code != Code.OK:
            return StreamEnd(answer.number, None, answer.failure())
        return StreamEnd(answer.number, _response(answer), None)

    def end_http(self, number: int) -> None:
        """Ends an exchange wherever it is; next_http says nothing of it any more."""
        self._handlers.pop(number, None)
        self._push(_frames.END_HTTP, _wire.integer(1, number))

    def has_terminal(self) -> bool:
        """Whether a program may be given the launcher's terminal."""
        return self._ask(_frames.HAS_TERMINAL).number == 1

    def run_program(
        self,
        arguments: Sequence[str],
        *,
        environment: Optional[Mapping[str, str]] = None,
        terminal: bool = False,
        maximum_output_size: int = 0,
        timeout: float = 0,
    ) -> ProgramResult:
        """Runs a program to its end, whatever its exit status. The first argument is a path, or a name that is looked up in PATH.

        `environment` is set beside and above the launcher's own; `terminal` lends it the launcher's; `maximum_output_size` is in
        bytes (0: 1 MiB) and `timeout` in seconds (0: the call's deadline alone). Raises Failure where it could not be run.
        """
        message = _wire.integer(1, int(terminal)) + b"".join(_wire.message(2, word.encode("utf-8", "surrogateescape")) for word in arguments)
        for name, value in (environment or {}).items():
            message += _wire.text(3, f"{name}={value}")
        message += _wire.integer(4, maximum_output_size) + _wire.integer(5, _nanoseconds(timeout))
        answer = self._ask(_frames.RUN_PROGRAM, message)
        return answer.program._replace(output=answer.content)

    # ---- Inside

    def _end(self) -> None:
        self._ended = True

    def _push(self, kind: int, message: bytes) -> None:
        self.check()
        self._connection.push(kind, message)

    def _request(
        self, kind: int, message: bytes = b"", handler_of: Optional[HandlerOf] = None
    ) -> Answer:
        self.check()
        return self._connection.request(kind, message, handler_of)

    def _ask(self, kind: int, message: bytes = b"") -> Answer:
        return _checked(self._request(kind, message))


def _checked(answer: Answer) -> Answer:
    if answer.code != Code.OK:
        raise answer.failure()
    return answer


def _response(answer: Answer) -> HttpResponse:
    return answer.http._replace(body=answer.content)


def _keeping(handler: PieceHandler, keep: Callable[[BaseException], object]) -> PieceHandler:
    """A handler of which what it raises is kept for who waits for the exchange, and told to the core as a Failure."""

    def handle(piece: bytes) -> None:
        try:
            handler(piece)
        except Failure as failure:
            keep(failure)
            raise
        except Exception as error:
            keep(error)
            raise Failure(Code.INTERNAL, type(error).__name__) from None

    return handle


def _http_message(request: HttpRequest, streamed: bool) -> bytes:
    w = _wire
    pairs = request.headers.items() if isinstance(request.headers, Mapping) else request.headers
    flags = (
        request.idempotent * 1 | (not request.retry) * 2 | request.follow_redirects * 4
        | request.secret_body * 8 | request.insecure * 16 | request.no_proxy * 32
    )  # fmt: skip
    return b"".join((
        w.integer(1, flags),
        w.text(2, request.method),
        w.text(3, request.url),
        *(w.message(4, w.text(1, name) + w.data(2, value.encode("utf-8", "surrogateescape"))) for name, value in pairs),
        w.data(5, request.body),
        w.integer(6, request.maximum_body_size),
        w.text(7, request.purpose),
        w.data(8, request.ca_pem),
        w.data(9, request.client_certificate_pem),
        w.data(10, request.client_key_pem),
        w.text(11, request.tls_server_name),
        w.text(12, request.proxy_url),
        w.integer(13, _nanoseconds(request.timeout)),
        w.integer(14, _nanoseconds(request.idle_timeout)),
        w.integer(15, int(streamed)),
    ))


def _nanoseconds(seconds: float) -> int:
    return max(0, int(seconds * 1e9))
