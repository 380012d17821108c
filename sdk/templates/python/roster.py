"""Backend "roster": the members of a cluster from a text that a server gives. Copy the folder and make it yours.

    # index name address
    0 node-a 10.0.0.1:8470
    1 node-b fd00::2
    2 node-c - powered off since Monday

A member whose address is "-" should be there and is not; the rest of its line says why.
"""

import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import muster_backend
from muster_backend import Call, Code, Failure, Host, HttpRequest, HttpResponse

# What is known without running any of this. The options arrive checked against their schema.
DESCRIPTOR = {
    "name": "roster",
    "version": "1.0.0",
    "abi": {"major": 1, "minor": 0},
    "description": "Members from a roster that a server gives: one line 'index name address' for each.",
    "license": "Apache-2.0",
    "services": ["muster.address/1", "muster.clock/1", "muster.environment/1", "muster.http/1"],
    "options": {
        "type": "object",
        "additionalProperties": False,
        "required": ["url"],
        "properties": {
            "url": {"type": "string", "pattern": "^https?://", "description": "where the roster is: an http or https URL"},
            "job": {"type": "string", "minLength": 1, "default": "worker", "description": "the job of all members"},
            "port": {"type": "integer", "minimum": 1, "maximum": 65535, "description": "the port of an address that has none"},
            "token": {"type": "string", "minLength": 1, "writeOnly": True, "description": "sent as 'Authorization: Bearer TOKEN'"},
            "identity_variable": {
                "type": "string",
                "minLength": 1,
                "default": "HOSTNAME",
                "description": "the environment variable that holds the name of this process's own member",
            },
        },
    },
}

WAIT_SECONDS = 30  # that the server may hold a request of a watch back until the roster changes
LEAST_SECONDS = 1  # between two requests of a watch: a server that does not wait is not flooded


class Member(NamedTuple):
    """One line of a roster."""

    index: int
    name: str
    address: str  # empty when it is missing
    port: int  # 0: it is in the address
    reason: str  # why it is missing


class Roster:
    """One configured resolver. Nothing is read or asked when it is made (MP-19), and nothing is kept between its calls."""

    def __init__(self, options: Dict[str, Any], host: Host) -> None:
        self.url: str = options["url"]
        self.job: str = options["job"]
        self.port: int = options.get("port", 0)
        self.token: str = options.get("token", "")
        self.identity_variable: str = options["identity_variable"]

    def resolve(self, call: Call) -> None:
        self.push(call, self.ask(call))

    def watch(self, call: Call) -> None:
        """Lets the server hold each request back until the roster is another one than that with this ETag."""
        etag = ""
        while True:
            began = call.monotonic_ns()
            response = self.ask(call, etag)
            if response.status != 304:
                etag = response.header("ETag") or ""
                if not etag:
                    raise Failure(Code.UNIMPLEMENTED, "the server of the roster gives no ETag, so it is polled")
                self.push(call, response)
                call.commit()
            call.progress("a change of the roster")
            call.sleep(LEAST_SECONDS - (call.monotonic_ns() - began) / 1e9)

    def plan(self, call: Call, members: int) -> None:
        call.add_planned("roster", "GET", 1, 1)

    def ask(self, call: Call, etag: str = "") -> HttpResponse:
        """The server's answer: 200 or, where there is an ETag, 304."""
        headers = {"Accept": "text/plain"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = HttpRequest("GET", self.url, headers, purpose="the roster")
        if etag:
            headers.update({"If-None-Match": etag, "Prefer": f"wait={WAIT_SECONDS}"})
            request.timeout = 2 * WAIT_SECONDS
        response = call.http(request)
        if response.status == 200 or (response.status == 304 and etag):
            return response
        details = {"http_status": response.status}
        if response.status in (404, 410):
            raise Failure(Code.NOT_FOUND, f"there is no roster at {self.url}: HTTP {response.status}", {**details, "option": "/url"})
        code = {401: Code.UNAUTHENTICATED, 403: Code.PERMISSION_DENIED}.get(response.status, Code.UNAVAILABLE)
        if code != Code.UNAVAILABLE:
            details.update({"option": "/token", "hint": "look at the token" if self.token else "give the option 'token'"})
        raise Failure(code, f"the roster at {self.url} was not given: HTTP {response.status}", details)

    def push(self, call: Call, response: HttpResponse) -> None:
        """Pushes what the roster says, and which member this process is."""
        members = read(response.body, self.url, self.port, call.check_address)
        own_name = call.variable(self.identity_variable)
        call.add_job(self.job)
        for member in members:
            if member.address:
                call.add_task(self.job, member.index, member.name, member.address, member.port)
            else:
                call.add_missing(self.job, member.index, member.name, member.reason)
            if member.name == own_name:
                call.set_identity(self.job, member.index, f"{self.identity_variable} is '{member.name}'")


def read(body: bytes, url: str, port: int, check: Callable[[str, int], Optional[str]]) -> List[Member]:
    """The members of a roster. `check` says why an address with a port (0: it has one) is none. Raises Failure with the line."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise Failure(Code.DATA_LOSS, f"the roster at {url} is not UTF-8") from None
    members = []
    for number, line in enumerate(text.split("\n"), 1):
        words = re.split("[ \t]+", line.strip(" \t\r"), maxsplit=3)
        if words[0] and not words[0].startswith("#"):
            try:
                members.append(_member(words, port, check))
            except ValueError as error:
                hint = "write 'index name address', or '-' and a reason as the address"
                raise Failure(Code.DATA_LOSS, f"{url}:{number}: {error}; {hint}") from None
    if not members:
        raise Failure(Code.NOT_FOUND, f"the roster at {url} has no member")
    return members


def _member(words: List[str], port: int, check: Callable[[str, int], Optional[str]]) -> Member:
    index, name, address, reason = (words + ["", "", ""])[:4]
    if not re.fullmatch("[0-9]{1,10}", index) or int(index) > 2147483647:
        raise ValueError("the index is not a number from 0 to 2147483647")
    if not name:
        raise ValueError("there is no name")
    if not address:
        raise ValueError("there is no address")
    if address == "-":
        return Member(int(index), name, "", 0, reason or "the roster gives no address")
    # An address may have its port or not; what one is, the core knows.
    own_port = 0
    problem = check(address, own_port)
    if problem is not None and port != 0:
        own_port = port
        problem = check(address, own_port)
    if problem is not None:
        raise ValueError(problem)
    return Member(int(index), name, address, own_port, "")


def main() -> None:
    muster_backend.main(Roster, DESCRIPTOR)


if __name__ == "__main__":
    main()
