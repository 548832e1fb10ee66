"""Watching a version from its record gives what `accordant monitor` gives for the same decisions in a log."""

from __future__ import annotations

import pandas as pd
import pytest

from accordant.errors import InputError
from accordant.monitoring.section import monitor, read_outcomes
from accordant.runs.decision_log import read_decisions
from accordant.runs.recommendation import write_recommendations
from accordant.service.deployments import deciding
from accordant.service.erasure import erase
from accordant.service.live_monitor import monitored_version
from accordant.service.outcomes import record_outcomes

CONTEXTS = [{"score": round(i / 10 - 2, 1), "branch": ("south", "north")[i % 2]} for i in range(40)] + [
    {"score": None, "branch": "abroad"}
]


def watched(service, finished):
    with service.database.snapshot() as connection:
        version, _ = deciding(connection, service.workspace, None)
        return monitored_version(connection, service.keys, finished, version)


def test_a_version_is_watched_as_its_log_would_be(service, client, finished, tmp_path):
    told = [
        *service.decider.decide(client, "one", CONTEXTS[:25]).decisions,
        *service.decider.decide(client, "two", CONTEXTS[25:]).decisions,
    ]
    with service.database.writing() as connection:
        followed = [(each["id"], ("Repaid", "Default")[i % 3 == 0]) for i, each in enumerate(told[:30])]
        record_outcomes(connection, service.decider.runs, service.workspace, followed)
    live = watched(service, finished)
    pd.DataFrame([{**context, "name": each["id"]} for context, each in zip(CONTEXTS, told)]).to_csv(
        tmp_path / "new.csv", index=False
    )
    write_recommendations(
        finished, str(tmp_path / "new.csv"), None, tmp_path / "out.csv", log=tmp_path / "log.jsonl", row_id="name"
    )
    pd.DataFrame(followed, columns=["row", "outcome"]).to_csv(tmp_path / "followed.csv", index=False)
    by_log = monitor(
        finished, read_decisions(tmp_path / "log.jsonl"), read_outcomes(finished, tmp_path / "followed.csv")
    )
    assert live.outcomes is not None and live.outcomes.used == by_log.outcomes.used > 20
    for mine, theirs in ((live.measures, by_log.measures), (live.rewards, by_log.rewards)):
        shown = [[each.model_dump() for each in part] for part in (mine, theirs)]
        for each in (*shown[0], *shown[1]):
            each.pop("path")
        assert shown[0] == shown[1] and len(shown[0]) > 2
    assert live.actions == by_log.actions


def test_who_was_erased_is_left_out(service, client, finished):
    told = service.decider.decide(client, "one", CONTEXTS[:4]).decisions
    assert watched(service, finished).lines.decisions == len(told)
    with service.database.reading() as connection:
        from sqlalchemy import select

        from accordant.service.schema import decision

        who = connection.execute(select(decision.c.person).where(decision.c.id == told[0]["id"])).scalar_one()
    erase(service.database, service.keys, who)
    assert watched(service, finished).lines.decisions == len(told) - 1


def test_nothing_was_promised_of_another_strategy(service, client, finished):
    service.deploy(finished, "other", "stakeholder:Bank")
    service.decider.decide(client, "one", CONTEXTS[:2], "other")
    with service.database.snapshot() as connection:
        version, _ = deciding(connection, service.workspace, "other")
        with pytest.raises(InputError, match="what is watched is what the run selected"):
            monitored_version(connection, service.keys, finished, version)
