"""The OpenAPI document says what the service does: every route is asked with what it allows, and what it does not."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from accordant.service.api import rates
from accordant.service.api.app import make_app

EXAMPLES = 60  # of every route


@pytest.mark.long
@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_every_route_keeps_its_contract(service, key, extra, monkeypatch):
    schemathesis = extra("schemathesis")
    monkeypatch.setattr(rates.Rates.__init__, "__defaults__", (rates.Rate(10**6, 10**6), rates.Rate(10**6, 10**6)))

    @schemathesis.serializer("application/x-ndjson")
    def lines(_context, value):
        return value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"

    schemathesis.checks.load_all_checks()  # who asks for one before a schema was read finds a single check
    # which columns a case has stands in no document
    left_out = [schemathesis.checks.CHECKS.get_one("positive_data_acceptance")]
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", make_app(service))
    asked = []

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def one(case):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {key}"}
        answer = case.call_and_validate(excluded_checks=left_out)
        asked.append((case.method, case.path, answer.status_code))

    for operation in schema.get_all_operations():
        given(case=operation.ok().as_strategy())(one)()
    assert {path for _, path, _ in asked} >= {"/v1/decisions", "/v1/outcomes"}
    assert max(status for _, _, status in asked) < 500
