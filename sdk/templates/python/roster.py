"""Backend "roster": the members of one job from a list over HTTP.

    # name address, or name - and why it has none
    node-1 10.0.0.1:8470
    node-2 [fd00::2]:8470
    node-3 - powered off since Monday

The core ranks the members by natural order of their names. A member without an address keeps its rank.
"""

from typing import Any, Dict, Iterator, NamedTuple

import muster_backend
from muster_backend import UNRANKED, Call, Code, Failure, Host, HttpRequest, HttpResponse

# What is known without running any of this. The options arrive checked against their schema.
DESCRIPTOR = {
    "name": "roster",
    "version": "1.0.0",
    "abi": {"major": 1, "minor": 0},
    "description": "The members of one job from a list over HTTP: a line 'name address' for each.",
    "license": "Apache-2.0",
    "services": ["muster.http/1", "muster.environment/1", "muster.address/1", "muster.clock/1"],
    "extensions": ["muster.watch/1"],
    "options": {
        "type": "object",
        "additionalProperties": False,
        "required": ["url"],
        "properties": {
            "url": {"type": "string", "pattern": "^https?://", "description": "Where the list is."},
            "job": {"type": "string", "minLength": 1, "default": "worker", "description": "The job of the members."},
            "port": {"type": "integer", "minimum": 1, "maximum": 65535, "description": "The port of members whose address has none."},
            "token": {"type": "string", "minLength": 1, "writeOnly": True, "description": "Sent as 'Authorization: Bearer'."},
            "identity_variable": {
                "type": "string",
                "minLength": 1,
                "description": "The environment variable that has the name of this process's own member; without it, that is the host's name.",
            },
        },
    },
}

LINE = "a line is 'name address', or 'name -' and why it has none"

# Statuses that have a meaning here: the code, and what to do.
STATUSES = {
    401: (Code.UNAUTHENTICATED, "give or renew the option 'token'"),
    403: (Code.PERMISSION_DENIED, "the token may not read this list"),
    404: (Code.NOT_FOUND, "look at the option 'url'"),
    410: (Code.NOT_FOUND, "look at the option 'url'"),
    429: (Code.RESOURCE_EXHAUSTED, "ask less often"),
    408: (Code.UNAVAILABLE, ""),
}


class Backend:
    """One configured resolver. Nothing is read or asked when it is made (MP-19), and nothing is kept between its calls."""

    def __init__(self, options: Dict[str, Any], host: Host) -> None:
        self.url: str = options["url"]
        self.job: str = options["job"]
        self.port: int = options.get("port", 0)
        self.token: str = options.get("token", "")
        self.identity_variable: str = options.get("identity_variable", "")

    def resolve(self, call: Call) -> None:
        self.push(call, self.ask(call).body)

    def watch(self, call: Call) -> None:
        """Commits the list, and again whenever its ETag has changed, for which it is asked as often as the user wants.

        Without ETags the core had better ask resolve.
        """
        etag = ""
        while True:
            response = self.ask(call, etag)
            if response.status == 200:
                etag = response.header("ETag") or ""
                if not etag:
                    raise Failure(Code.UNIMPLEMENTED, "the list has no ETag to watch it by")
                self.push(call, response.body)
                call.commit()
            call.sleep(call.interval)

    def ask(self, call: Call, etag: str = "") -> HttpResponse:
        """The list, or (status 304) that it still is the one of this ETag."""
        headers = {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if etag:
            headers["If-None-Match"] = etag
        # A watch has no other deadline than this one.
        response = call.http(HttpRequest("GET", self.url, headers, purpose="the list of members", timeout=30))
        status = response.status
        if status == 200 or (status == 304 and etag):
            return response
        code, hint = STATUSES.get(status, (Code.UNAVAILABLE if status >= 500 else Code.FAILED_PRECONDITION, ""))
        details = {"http_status": status, **({"hint": hint} if hint else {})}
        raise Failure(code, f"{self.url} answered with status {status}", details)

    def push(self, call: Call, body: bytes) -> None:
        # What this process is called. The core is asked, so that a recorded resolve can be replayed (MP-14).
        own_name = call.variable(self.identity_variable) if self.identity_variable else call.hostname()
        source = self.identity_variable or "the host's name"
        call.add_job(self.job)  # it may have no member
        for member in read(body):
            problem = member.problem
            if not problem and member.address:
                # An address has its port, or gets the option's. Which of the two, the core knows; nobody looks for a colon.
                port = 0
                problem = call.check_address(member.address) or ""
                if problem and self.port:
                    port = self.port
                    problem = call.check_address(member.address, port) or ""
                if not problem:
                    call.add_task(self.job, UNRANKED, member.name, member.address, port)
            elif not problem:
                call.add_missing(self.job, UNRANKED, member.name, member.reason)
            if problem:
                raise Failure(Code.DATA_LOSS, f"{self.url}:{member.line}: {problem}; {LINE}")
            if member.name == own_name:
                call.set_identity(self.job, UNRANKED, f"{source} is '{own_name}'", member.name)


class Member(NamedTuple):
    """One line of the list."""

    line: int
    name: str = ""
    address: str = ""  # empty: it is missing
    reason: str = ""  # of a missing one
    problem: str = ""  # what is wrong with the line; nothing else counts then


def read(body: bytes) -> Iterator[Member]:
    """The members of a list. Comments and empty lines are passed over."""
    for number, line in enumerate(body.split(b"\n"), 1):
        if line.endswith(b"\r"):
            line = line[:-1]
        if any(byte != 9 and not 32 <= byte <= 126 for byte in line):
            yield Member(number, problem="there is a byte that is no printable ASCII")
            continue
        words = line.decode("ascii").split(maxsplit=2)
        if not words or words[0].startswith("#"):
            continue
        name, address, rest = (words + ["", ""])[:3]
        if not address:
            yield Member(number, name, problem="there is no address")
        elif address == "-":
            yield Member(number, name, reason=rest or "the list has no address for it")
        elif rest:
            yield Member(number, name, problem="there is a third word")
        else:
            yield Member(number, name, address)


def main() -> None:
    muster_backend.main(Backend, DESCRIPTOR)


if __name__ == "__main__":
    main()
