# SPDX-License-Identifier: Apache-2.0
"""How failures are told."""

from enum import IntEnum
from typing import Dict, Mapping, Optional


class Code(IntEnum):
    """Why something failed: the numbers and meanings of google.rpc.Code. `plugin.h` says after which a chain goes on."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3  # the configuration is wrong; a chain stops
    DEADLINE_EXCEEDED = 4  # a chain goes on
    NOT_FOUND = 5  # not here: a chain goes on
    ALREADY_EXISTS = 6  # two members claim one place
    PERMISSION_DENIED = 7  # known, and not allowed; a chain stops
    RESOURCE_EXHAUSTED = 8  # quota or a stated limit; a chain goes on
    FAILED_PRECONDITION = 9  # cannot be asked from here: a chain goes on
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14  # not now: a chain goes on
    DATA_LOSS = 15  # the source's answer cannot be understood
    UNAUTHENTICATED = 16  # credentials absent or refused; a chain stops


class Failure(Exception):
    """A failure that a user is told: raised by a backend, and by a `Call` whose service failed, was cancelled or was refused.

    The message says what was asked, what happened and what to do; it has no secret in it. Standard keys of the details:
    `http_status`, `retry_after_ms`, `endpoint`, `hint` (what the user should do) and `option` (a JSON pointer into the options,
    as "/token": the place in the config is shown then).
    """

    def __init__(self, code: int, message: str, details: Optional[Mapping[str, object]] = None) -> None:
        super().__init__(message)
        self.code = _known(code)
        self.message = message
        self.details: Dict[str, str] = {key: str(value) for key, value in (details or {}).items()}


class Ended(BaseException):
    """The core has shut the conversation down. No Exception, so that no backend catches it by accident."""


class Malformed(BaseException):
    """What the core wrote is no frame that it may write; this process ends."""


# The words for a call that is over.
CANCELLED = "cancelled"
DEADLINE_EXCEEDED = "the deadline has come"


def _known(code: int) -> Code:
    try:
        return Code(code)
    except ValueError:
        return Code.UNKNOWN  # of a newer core
