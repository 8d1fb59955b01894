"""The OpenAPI document, and whether the daemon keeps to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from claude_sessions.demo import Sandbox
from claude_sessions.gateway import openapi
from claude_sessions.gateway.rest import TABLE
from tests.gateway.port import Port, opened

CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
OUTWARD = ("/api/v1/plugins", "/api/v1/mcp")  # at random they would ask strangers' servers
REFUSED = ["400", "404", "409", "413"]
CONFIG = SchemathesisConfig.from_dict(
    {"checks": {"negative_data_rejection": {"expected-statuses": REFUSED}}}
)
EXAMPLES = 15  # of good and of bad requests to each operation

DOCUMENT = "/api/v1/openapi.json"


async def test_the_document_is_there_for_everybody(port: Port) -> None:
    answer = await port.http.get(DOCUMENT, headers={"Authorization": ""})
    assert answer.json() == openapi.document()
    assert answer.json()["openapi"].startswith("3.1")


def test_what_refers_to_something_refers_to_something_that_is_there() -> None:
    document = openapi.document()
    schemas = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= schemas


def test_whatever_a_command_may_be_refused_with_is_in_every_answer_to_it() -> None:
    for operation in TABLE:
        path = openapi.document()["paths"][f"/api/v1{operation.path}"]
        told = path[operation.method.lower()]["responses"]
        assert set(told) >= {"400", "401", "403", "429", "500", "502", "507"}
        assert told["401"]["description"] == "INVALID_TOKEN, TOKEN_EXPIRED, UNAUTHORIZED"


def test_what_no_name_or_type_says_of_a_field_is_described() -> None:
    told = openapi.document()["components"]["schemas"]
    for model, field in [
        ("NewPlugin", "package"),
        ("NewMarketplace", "url"),
        ("NewSession", "forkFromSnapshot"),
        ("Approval", "persist"),
        ("Approval", "answers"),
    ]:
        assert told[model]["properties"][field]["description"], (model, field)


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(ref := part.get("$ref"), str):
            yield ref
        for each in part.values():
            yield from references(each)
    elif isinstance(part, list):
        for each in part:
            yield from references(each)


async def test_the_daemon_answers_as_the_document_says(sandbox: Sandbox, workdir: Path) -> None:
    """Good requests and bad ones, to every operation that ends, about things that are there."""
    few = {"max_sessions": 1}
    async with opened(sandbox, workdir, sessions=few) as port:
        made = await port.http.post("/api/v1/projects", json={"path": str(workdir)})
        project = made.json()["data"]["id"]
        path = f"/api/v1/projects/{project}/sessions"
        session = await port.http.post(path, json={"title": "target"})
        ids = {"project": project, "session": session.json()["data"]["id"]}
        await asyncio.to_thread(tried, port.url, port.token, ids)
        for state in port.daemon.manager.live():
            await port.daemon.manager.kill(state)


def tried(url: str, token: str, ids: dict[str, str]) -> None:
    # Each request has its token, so that nothing but the request itself is put to the test.
    schema = schemathesis.openapi.from_dict({**openapi.document(), "security": []}, config=CONFIG)
    for result in schema.get_all_operations():
        assert isinstance(result, Ok), result.err()
        operation = result.ok()
        if operation.path in openapi.STREAMS or operation.path.startswith(OUTWARD):
            continue
        kind = "project" if "/projects/" in operation.path else "session"
        for mode in GenerationMode:
            with suppress(Unsatisfiable):  # nothing about it can be wrong
                ask(operation, mode, ids[kind], url, token)


def ask(operation: Any, mode: GenerationMode, id_: str, url: str, token: str) -> None:
    good = mode is GenerationMode.POSITIVE

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode), st.booleans())
    def one(case: Any, known: bool) -> None:
        if known and good and "id" in (case.path_parameters or {}):
            case.path_parameters["id"] = id_
        answer = case.call(base_url=url, headers={"Authorization": f"Bearer {token}"})
        case.validate_response(answer, checks=CHECKS)

    one()
