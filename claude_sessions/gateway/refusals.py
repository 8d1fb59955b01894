"""No, in the words of programs: each error of ours has a code, an HTTP status and an RPC number."""

from __future__ import annotations

from dataclasses import dataclass

from claude_sessions.errors import (
    BadRequest,
    Conflict,
    EngineError,
    Forbidden,
    NotFound,
    SessionsError,
    StorageFull,
)

TOLD = 20  # problems of a request: much may be wrong at every place


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    name: str
    status: int
    rpc: int


UNAUTHORIZED = Code(name="UNAUTHORIZED", status=401, rpc=-32005)
TOKEN_EXPIRED = Code(name="TOKEN_EXPIRED", status=401, rpc=-32005)
INVALID_TOKEN = Code(name="INVALID_TOKEN", status=401, rpc=-32005)
FORBIDDEN = Code(name="FORBIDDEN", status=403, rpc=-32003)
NOT_FOUND = Code(name="NOT_FOUND", status=404, rpc=-32001)
METHOD_NOT_ALLOWED = Code(name="METHOD_NOT_ALLOWED", status=405, rpc=-32601)
TIMEOUT = Code(name="REQUEST_TIMEOUT", status=408, rpc=-32006)
CONFLICT = Code(name="CONFLICT", status=409, rpc=-32002)
APPROVAL_TIMEOUT = Code(name="APPROVAL_TIMEOUT", status=408, rpc=-32002)
TOO_LARGE = Code(name="PAYLOAD_TOO_LARGE", status=413, rpc=-32600)
HEADERS_TOO_LARGE = Code(name="HEADERS_TOO_LARGE", status=431, rpc=-32600)
MISDIRECTED = Code(name="FORBIDDEN", status=421, rpc=-32003)
INVALID = Code(name="VALIDATION_ERROR", status=400, rpc=-32602)
TOO_MANY = Code(name="RATE_LIMITED", status=429, rpc=-32007)
INTERNAL = Code(name="INTERNAL_ERROR", status=500, rpc=-32603)
ENGINE = Code(name="ENGINE_ERROR", status=502, rpc=-32008)
STORAGE = Code(name="STORAGE_FULL", status=507, rpc=-32009)

TREE: tuple[tuple[type[SessionsError], Code], ...] = (
    (BadRequest, INVALID),
    (NotFound, NOT_FOUND),
    (Conflict, CONFLICT),
    (Forbidden, FORBIDDEN),
    (EngineError, ENGINE),
    (StorageFull, STORAGE),
)


class Refused(Exception):
    """Its text is for whoever wrote the program."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        retry_after: float | None = None,
        details: object = None,
    ) -> None:
        self.code = code
        self.retry_after = retry_after
        self.details = details
        super().__init__(message)


def code_of(error: SessionsError) -> Code:
    return next((code for kind, code in TREE if isinstance(error, kind)), INTERNAL)


def refused(error: SessionsError) -> Refused:
    return Refused(code_of(error), str(error))
