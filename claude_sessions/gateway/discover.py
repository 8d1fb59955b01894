"""What there is, as an OpenRPC document: made from the models that check every call."""

from __future__ import annotations

from functools import cache
from typing import Any

from claude_sessions import __version__
from claude_sessions.gateway.methods import METHODS
from claude_sessions.gateway.methods.base import Method
from claude_sessions.gateway.refusals import TREE

DISCOVER = "rpc.discover"
REF = "#/components/schemas/{model}"


@cache
def document() -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    methods = [_method(method, schemas) for method in METHODS.values()]
    return {
        "openrpc": "1.3.2",
        "info": {"title": "claude-sessions", "version": __version__},
        "methods": methods,
        "components": {"schemas": schemas},
    }


def _method(method: Method[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    params = method.params.model_json_schema(ref_template=REF, by_alias=True)
    result = method.result.model_json_schema(ref_template=REF, mode="serialization", by_alias=True)
    for schema in (params, result):
        for name, shape in schema.pop("$defs", {}).items():
            if schemas.setdefault(name, shape) != shape:
                raise TypeError(f"Two shapes are called {name}: only one would be described.")
    required = params.get("required", [])
    return {
        "name": method.name,
        "summary": method.summary,
        "paramStructure": "by-name",
        "params": [
            {"name": name, "required": name in required, "schema": schema}
            for name, schema in params.get("properties", {}).items()
        ],
        "result": {"name": method.result.__name__, "schema": result},
        "errors": [{"code": code.rpc, "message": code.name} for _, code in TREE],
    }
