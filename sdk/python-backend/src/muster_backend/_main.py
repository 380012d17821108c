# SPDX-License-Identifier: Apache-2.0
"""The life of a backend's process."""

import io
import json
import os
import socket
import sys
import traceback
from typing import Any, Callable, Mapping, NoReturn, Optional, Union

from . import _frames, _wire
from ._call import Call, Host
from ._connection import Connection
from ._errors import Code, Ended, Failure, Malformed
from ._types import PermissionsRequest

VARIABLE = "MUSTER_FRAMES_FD"


def main(backend: Callable[[Any, Host], Any], descriptor: Union[str, Mapping[str, Any]]) -> NoReturn:
    """Speaks with muster until it ends the conversation, and then exits.

    `backend` is a class, or a function that makes one: it gets the options, a dict that was checked against the descriptor's schema,
    and the Host. It does not wait, read files or ask the network (MP-19). `descriptor` is what `plugin.h` says of
    MUSTER_DESCRIPTOR, as a dict or as JSON. A program that was not started by muster says what it is for.
    """
    text = descriptor if isinstance(descriptor, str) else json.dumps(descriptor)
    about = json.loads(text)
    software = f"{about['name']} {about['version']}"
    number = os.environ.pop(VARIABLE, "")
    if not number:
        sys.exit(
            f"{software} is a backend of muster, which starts it and speaks with it: name it in a muster.yaml, "
            f"as `command: [{sys.argv[0]}]`"
        )
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # the launcher shows each line
    try:
        conversation = socket.socket(fileno=int(number))
        conversation.set_inheritable(False)
    except (OSError, ValueError) as error:
        sys.exit(f"{software}: {VARIABLE} is {number!r}, which is no socket: {error}")
    try:
        _serve(Connection(conversation, software, text), backend)
    except Malformed as malformed:
        sys.exit(f"{software}: the core wrote what it may not: {malformed}")
    except Ended:
        sys.exit(0)


def _serve(connection: Connection, make: Callable[[Any, Host], Any]) -> NoReturn:
    backend: Any = None
    try:
        while True:
            request = connection.next()
            if isinstance(request, _frames.Create) and backend is None:
                backend = _create(connection, make, request)
            elif isinstance(request, _frames.Run) and backend is not None:
                _run(connection, backend, request)
            else:
                raise Malformed(f"a frame {type(request).__name__} came where it may not")
    finally:
        close = getattr(backend, "close", None)
        if close is not None:
            close()


def _create(connection: Connection, make: Callable[[Any, Host], Any], request: _frames.Create) -> Any:
    try:
        backend = make(json.loads(request.options), Host(connection, request.path))
    except Failure as failure:
        connection.answer(request.id, failure)
        return None
    except Exception as error:
        traceback.print_exc()
        connection.answer(request.id, Failure(Code.INTERNAL, f"create failed: {_words(error)}"))
        return None
    extensions = [id for name, id in _frames.EXTENSIONS.items() if hasattr(backend, name)]
    connection.answer(request.id, message=b"".join(_wire.text(7, id) for id in extensions))
    return backend


def _run(connection: Connection, backend: Any, request: _frames.Run) -> None:
    name = _frames.FUNCTIONS.get(request.function, "")
    function = getattr(backend, name, None) if name else None
    if function is None:
        connection.answer(request.id, Failure(Code.UNIMPLEMENTED, f"this backend has no {name or 'such function'}"))
        return
    call = Call(connection, request)
    more = {"permissions": (PermissionsRequest(request.principal, request.for_watch),), "plan": (request.members,)}
    failure: Optional[Failure] = None
    try:
        try:
            function(call, *more.get(name, ()))
        except Failure as raised:
            failure = raised if raised.code != Code.OK else Failure(Code.INTERNAL, raised.message)
        # Cancelled or refused it is, whatever the backend made of it; a service may have told the end in words of its own.
        if failure is None or failure.code not in (Code.CANCELLED, Code.DEADLINE_EXCEEDED) or call._state.refused:
            call.check()
    except Failure as over:
        failure = over
    except Exception as error:
        traceback.print_exc()
        what = f"{name} failed: {_words(error)}"
        connection.push(_frames.MISBEHAVED, _wire.text(1, "MP-13") + _wire.text(2, what))
        failure = Failure(Code.INTERNAL, what)
    call._end()
    connection.answer(request.id, failure)


def _words(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip()
