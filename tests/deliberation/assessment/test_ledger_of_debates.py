"""The ledger of whole debates: what an agent did, and what the environment did to it."""

from __future__ import annotations

from accordant.agents import create
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.deliberation.assessment import ledger
from accordant.deliberation.protocols import debate


def conceded(guard, seed):
    agents = [create("rawlsian"), create("biased", allow_adversarial=True)]
    held = debate(random_scenario(seed), agents, guard=guard, seed=seed, allow_adversarial=True)
    return held, {each.patient for each in ledger(held) if each.agent == "biased" and each.conceded_to}


def test_a_strike_is_no_concession():
    moved = 0
    for seed in range(6):
        logged, own = conceded("log", seed)
        struck, also = conceded("strike", seed)
        assert "biased" in struck.struck and "biased" not in logged.struck
        assert also == own
        before, after = (each.revised["biased"].allocation for each in (logged, struck))
        moved += before != after
    assert moved > 0
