"""The OpenAPI document: made from the table and the models that check every request."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pydantic import BaseModel

from claude_sessions import __version__
from claude_sessions.gateway.asking import Query
from claude_sessions.gateway.event_sourced import SessionEventsQuery
from claude_sessions.gateway.events_door import EventsQuery
from claude_sessions.gateway.refusals import (
    ENGINE,
    FORBIDDEN,
    INTERNAL,
    INVALID,
    INVALID_TOKEN,
    MISDIRECTED,
    NOT_FOUND,
    STORAGE,
    TIMEOUT,
    TOKEN_EXPIRED,
    TOO_LARGE,
    TOO_MANY,
    UNAUTHORIZED,
    Code,
)
from claude_sessions.gateway.rest import TABLE
from claude_sessions.gateway.rest.operation import BASE, NoBody, Operation

REF = "#/components/schemas/{model}"
WITHOUT_TOKEN = (UNAUTHORIZED, INVALID_TOKEN, TOKEN_EXPIRED)
ALWAYS = (INVALID, *WITHOUT_TOKEN, FORBIDDEN, TIMEOUT, TOO_LARGE, MISDIRECTED)
SOMETIMES = (TOO_MANY, INTERNAL, ENGINE, STORAGE)

STREAMS: dict[str, tuple[str, type[Query]]] = {
    f"{BASE}/events": ("All that happens, as server-sent events.", EventsQuery),
    f"{BASE}/sessions/{{id}}/events": ("What happens in a session.", EventsQuery),
    "/sessions/{id}/events": ("The same in the event-sourced dialect.", SessionEventsQuery),
}

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "requestId"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "details": {},
                "requestId": {"type": "string"},
            },
        }
    },
}
PAGINATION = {
    "type": "object",
    "required": ["hasMore"],
    "properties": {"nextCursor": {"type": "string"}, "hasMore": {"type": "boolean"}},
}


@cache
def document() -> dict[str, Any]:
    schemas: dict[str, Any] = {"Error": ERROR, "Pagination": PAGINATION}
    paths: dict[str, dict[str, Any]] = {}
    for operation in TABLE:
        described = _operation(operation, schemas)
        paths.setdefault(f"{BASE}{operation.path}", {})[operation.method.lower()] = described
    for path, (summary, query) in STREAMS.items():
        paths[path] = {"get": _stream(path, summary, query, schemas)}
    paths[f"{BASE}/health"] = {"get": _health()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "claude-sessions", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(operation: Operation[Any, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    codes = (*ALWAYS, *operation.refusals, *SOMETIMES)
    described: dict[str, Any] = {
        "operationId": _name(f"{operation.method.lower()} {operation.path}"),
        "summary": operation.summary,
        "parameters": _parameters(operation.path, operation.query, schemas),
        "responses": {str(operation.status): _success(operation, schemas), **_refusals(codes)},
    }
    if operation.body is not NoBody:
        schema = _kept(operation.body, schemas)
        required = bool(operation.body.model_json_schema(by_alias=True).get("required"))
        content = {"application/json": {"schema": schema}}
        described["requestBody"] = {"required": required, "content": content}
    return described


def _success(operation: Operation[Any, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    if operation.result is None:
        return {"description": "Done."}
    item = _kept(operation.result, schemas, mode="serialization")
    data: dict[str, Any] = {"type": "array", "items": item} if operation.many else item
    properties: dict[str, Any] = {"data": data}
    if operation.many:
        properties["pagination"] = {"$ref": REF.format(model="Pagination")}
    schema = {"type": "object", "required": list(properties), "properties": properties}
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}


def _stream(path: str, summary: str, query: type[Query], schemas: dict[str, Any]) -> dict[str, Any]:
    last = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}
    text = {"text/event-stream": {"schema": {"type": "string"}}}
    return {
        "operationId": _name(f"follow {path}"),
        "summary": summary,
        "parameters": [*_parameters(path, query, schemas), last],
        "responses": {
            "200": {"description": "It does not end by itself.", "content": text},
            **_refusals((*ALWAYS, NOT_FOUND, *SOMETIMES)),
        },
    }


def _name(told: str) -> str:
    return re.sub(r"\W+", "_", told).strip("_")


def _health() -> dict[str, Any]:
    status = {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}}
    schema = {"type": "object", "required": ["data"], "properties": {"data": status}}
    answer = {"description": "It lives.", "content": {"application/json": {"schema": schema}}}
    return {
        "operationId": "health",
        "summary": "Whether it lives.",
        "security": [],
        "responses": {"200": answer},
    }


def _parameters(path: str, query: type[Query], schemas: dict[str, Any]) -> list[dict[str, Any]]:
    in_path: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]
    schema = query.model_json_schema(by_alias=True, ref_template=REF)
    schemas |= schema.pop("$defs", {})
    required = schema.get("required", [])
    return in_path + [
        {"name": name, "in": "query", "required": name in required, "schema": _given(each)}
        for name, each in schema.get("properties", {}).items()
    ]


def _given(schema: dict[str, Any]) -> dict[str, Any]:
    """In an address there is no null: what is not given is left out."""
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if not choices:
        return schema
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**rest, **(choices[0] if len(choices) == 1 else {"anyOf": choices})}


def _kept(
    model: type[BaseModel], schemas: dict[str, Any], mode: Any = "validation"
) -> dict[str, Any]:
    schema = model.model_json_schema(ref_template=REF, by_alias=True, mode=mode)
    schemas |= schema.pop("$defs", {})
    schemas[model.__name__] = schema
    return {"$ref": REF.format(model=model.__name__)}


def _refusals(codes: tuple[Code, ...]) -> dict[str, Any]:
    schema = {"application/json": {"schema": {"$ref": REF.format(model="Error")}}}
    by_status: dict[int, set[str]] = {}
    for code in codes:
        by_status.setdefault(code.status, set()).add(code.name)
    return {
        str(status): {"description": ", ".join(sorted(names)), "content": schema}
        for status, names in sorted(by_status.items())
    }
