# SPDX-License-Identifier: Apache-2.0
"""Backends of muster in Python, as programs that speak its frames.

    import muster_backend

    class Roster:
        def __init__(self, options, host):
            self.url = options["url"]

        def resolve(self, call):
            answer = call.http(muster_backend.HttpRequest("GET", self.url, purpose="the roster"))
            ...
            call.add_task("worker", 0, "node-a", "10.0.0.1:8470")

    if __name__ == "__main__":
        muster_backend.main(Roster, {"name": "roster", "version": "1.0.0", ...})

A backend is a class. It is made once, with its options (checked against the descriptor's schema) and a `Host`; its `resolve` is
called with a `Call` whenever an answer is wanted. It may have `watch(call)`, `permissions(call, request)` and `plan(call, members)`
besides, and `close()`, which is called at the end. What fails raises `Failure`.
"""

from ._call import Call, Host
from ._errors import Code, Failure
from ._main import main
from ._types import UNRANKED, HttpRequest, HttpResponse, LogLevel, PermissionsRequest, ProgramResult, StreamEnd

__all__ = [
    "UNRANKED",
    "Call",
    "Code",
    "Failure",
    "Host",
    "HttpRequest",
    "HttpResponse",
    "LogLevel",
    "PermissionsRequest",
    "ProgramResult",
    "StreamEnd",
    "main",
]
