# SPDX-License-Identifier: Apache-2.0
"""What is handed to a backend."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from ._errors import Failure

UNRANKED = -1
"""The index of a task whose platform gives it none: the core ranks by the natural order of names."""


class LogLevel(IntEnum):
    """How much a line of the log matters. An expected fallback is DEBUG and is not worded as a failure."""

    DEBUG = 0
    INFO = 1
    WARNING = 2
    ERROR = 3


@dataclass
class HttpRequest:
    """An HTTP exchange; the core does the rest: retries, redirects, proxies, TLS, gzip (`http.h`)."""

    method: str
    url: str  # absolute, http or https; already percent-encoded
    headers: Union[Mapping[str, str], Iterable[Tuple[str, str]]] = ()
    body: bytes = b""
    purpose: str = ""  # why it is made, in a few words, for `muster explain`
    maximum_body_size: int = 0  # of the response, in bytes; 0: 64 MiB
    timeout: float = 0  # seconds, beside the call's deadline; 0: that alone
    idle_timeout: float = 0  # seconds that a streamed response may be silent, and `timeout` then counts up to its first piece
    idempotent: bool = False  # a POST that is safe to send again
    retry: bool = True  # False: one attempt
    follow_redirects: bool = False  # to other origins too, without credentials
    secret_body: bool = False  # both bodies are secrets
    insecure: bool = False  # TLS without verification: only when the user asked for it
    no_proxy: bool = False
    proxy_url: str = ""  # instead of the environment's
    ca_pem: bytes = b""  # empty: the system's authorities
    client_certificate_pem: bytes = b""
    client_key_pem: bytes = b""
    tls_server_name: str = ""  # instead of the URL's host


class HttpResponse(NamedTuple):
    """A response that was received, whatever its status."""

    status: int
    headers: List[Tuple[str, str]]  # names as received, in order
    body: bytes  # empty when the pieces of a streamed one were handed over

    def header(self, name: str) -> Optional[str]:
        """The first header of this name, which is compared without case; None when there is none."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), None)


class StreamEnd(NamedTuple):
    """An exchange of `Call.begin_http` that has ended, by a response or by a failure."""

    number: int
    response: Optional[HttpResponse]
    failure: Optional[Failure]


class ProgramResult(NamedTuple):
    """What a program that ended said."""

    exit_status: int  # 0 to 255; 128 and the signal's number when a signal ended it
    output: bytes
    error_output: str  # the last of its standard error, without what is known as a secret
    keep: bool  # the output may serve later calls too


class PermissionsRequest(NamedTuple):
    """For whom `permissions` is asked, and for what."""

    principal: str  # empty: whom this process runs as, if that can be told
    watch: bool  # for a watch too
