"""Debating decisions of a finished run: the section, what stands beside it, and what is refused."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from accordant import strategies
from accordant.deliberation.decision.opened_decision import cast_for, open_decision
from accordant.deliberation.decision.options import DecisionOptions
from accordant.deliberation.decision.result import DecisionDebate
from accordant.deliberation.decision.section import debate_decision
from accordant.deliberation.page import render_decision, write_decision
from accordant.errors import InputError, RunFolderError
from accordant.naming import Named
from accordant.runs import read_run
from accordant.runs.chain import add_section
from accordant.sections import page_parts
from accordant.utilities import ExpectedRewards

OUTSIDE_CODE = re.compile(r"<(style|script|code|pre)\b.*?</\1>|<[^>]*>", re.DOTALL)


@pytest.fixture(scope="module")
def finished(run_of_three):
    run = read_run(run_of_three)
    assert run.policy.selected_.startswith("constrained[maximin")
    return run


@pytest.fixture(scope="module")
def new(run_of_three):
    return run_of_three.parent / "new.csv"


def debated(run, source=None, **options):
    options.setdefault("data", None if source else str(run.path.parent))
    opened = open_decision(run, source, DecisionOptions(**options))
    return debate_decision(opened, cast_for(opened))


def expected_of(found):
    values = [[[row.expected[who][what] for row in found.rows] for what in found.actions] for who in found.with_weight]
    return ExpectedRewards(np.array(values), stakeholders=found.with_weight, actions=found.actions)


@pytest.mark.parametrize("row", [0, 7, 29])
def test_an_untouched_row_is_settled_as_the_debate_strategy_decides_it(finished, row):
    found = debated(finished, rows=(row,))
    assert found.rows[0].row == row and found.source == "the 30 untouched rows of the run" and found.file is None
    assert found.rows[0].settled == strategies.create("debate")(expected_of(found)).actions[0]
    assert found.deliberation.settled.rule == "bargain"
    assert found.run.manifest_sha256 == finished.manifest.sha256


def test_the_section_holds_what_the_run_says(finished, new):
    found = debated(finished, new, rows=(0,))
    row, selected = found.rows[0], finished.policy.selected_
    contexts = finished.policy.contexts_of({"score": np.array([0.4]), "branch": np.array(["north"], dtype=object)})
    values = finished.policy.expected_rewards(contexts).values[:, :, 0]
    np.testing.assert_allclose([list(row.expected[who].values()) for who in found.stakeholders], values)
    assert row.context == {"score": 0.4, "branch": "north"} and found.file == "new.csv"
    assert list(row.decisions)[0] == selected and row.decisions[selected].inadmissible == ("Grant",)
    recommended = finished.policy.recommend(contexts).decisions
    assert row.recommended == recommended.actions[0] == row.decisions[selected].action
    for place, who in enumerate(found.stakeholders):
        standing = found.standings[who]
        assert standing.settled == row.expected[who][row.settled]
        assert standing.selected == row.expected[who][row.recommended]
        np.testing.assert_allclose([standing.best, standing.worst], [values[place].max(), values[place].min()])
    assert DecisionDebate.read(found.to_json()) == found


def test_the_same_seed_gives_the_same_bytes_and_a_page(finished, new):
    first, second = (debated(finished, new, rows=(1,), seed=4) for _ in range(2))
    assert first.to_json() == second.to_json() and render_decision(first) == render_decision(second)
    page = render_decision(first)
    for part in ("What was settled", "Row 1: expected rewards", "Transcript", "Bank", "--row 1 --seed 4"):
        assert part in page
    assert render_decision(DecisionDebate.read(first.to_json())) == page
    part = page_parts.factory(first.name)(first)
    assert (part.chapter, part.title) == ("talks", f"{first.subject}, debated")
    main = page[page.index("<section") : page.index("</main>")].strip()
    assert main in part.html and ".stamp" in part.style


def test_a_page_that_is_written_speaks_by_words(finished, new, tmp_path):
    found = debated(finished, new, rows=(1,))
    html = write_decision(found, tmp_path / "debate.html").read_text(encoding="utf-8")
    assert "expected_reward" in render_decision(found) and "expected reward · reads" in html
    assert not re.findall(r"\w+_\w+", OUTSIDE_CODE.sub("", html))


def test_what_constraints_forbid_and_who_is_left_to_a_person_is_said(finished, new):
    north, abroad, outside = (debated(finished, new, rows=(row,)) for row in (0, 2, 3))
    barred = "do not admit Grant, which was settled on" if north.rows[0].settled == "Grant" else "do not admit Grant;"
    assert any(each.startswith("row 0: constraints of D*") and barred in each for each in north.warnings)
    assert abroad.rows[0].recommended is None and abroad.rows[0].handling == "referred"
    assert any("leaves it to a person" in each for each in abroad.warnings)
    assert outside.rows[0].recommended == "Deny" and any("declared fall-back" in each for each in outside.warnings)
    assert "leaves this row to a person" in render_decision(abroad) and "left to a person" in abroad.words


def test_whoever_has_no_say_has_no_agent_unless_named(finished, new):
    found = debated(finished, new, rows=(0,))
    assert found.with_weight == ("Bank", "Applicant")
    assert [each.name for each in found.deliberation.agents] == ["Bank", "Applicant"]
    assert any(each.startswith("Auditor: weight 0") for each in found.warnings)
    named = debated(finished, new, rows=(0,), agents=(Named("Auditor", {}), Named("Bank", {"concession": "boulware"})))
    assert [each.concession for each in named.deliberation.agents] == ["linear", "boulware"]
    assert not any("weight 0" in each for each in named.warnings)
    assert DecisionDebate.read(named.to_json()) == named
    lottery = debated(finished, new, rows=(0,), agents=(Named("egalitarian", {}), Named("Bank", {})))
    assert lottery.rows[0].settled in lottery.actions


def test_rows_compete_for_an_action(finished, new):
    found = debated(finished, new, rows=(4, 0, 1), grant="Grant", otherwise="Deny", capacity=2)
    settled = [each.settled for each in found.rows]
    assert sorted(settled) == ["Deny", "Grant", "Grant"]
    assert found.scarce.capacity == 2 and "Deny for the others" in found.outcome
    mean = np.mean([each.expected["Bank"][each.settled] for each in found.rows])
    assert found.standings["Bank"].settled == pytest.approx(mean)
    assert "--rows 4,0,1 --grant Grant --otherwise Deny --capacity 2" in found.command_line
    assert "capacities are left out" in render_decision(found)


def test_a_section_is_added_and_read_again_through_the_registry(run_of_three, tmp_path, new):
    run = read_run(shutil.copytree(run_of_three, tmp_path / "run"))
    found = debated(run, new, rows=(0,))
    add_section(run.manifest, found)
    again = read_run(run.path)
    assert again.links[0].section() == found and again.links[0].words == found.words
    assert found.words.startswith("Row 0 of 5 rows of new.csv: Bank and Applicant settle on ")
    page = again.page()
    assert "Added since the run" in page and again.links[0].sha256 in page
    assert "Added since the run" not in run.page()
    add_section(run.manifest, found.model_copy(update={"rows": ()}))  # of the right types, and of no debate
    with pytest.raises(RunFolderError, match="0002-decision_debate.json is not what a section"):
        read_run(run.path).page()


WRONG = {
    "a row that is not there": ({"rows": (5,)}, r"row 5 is to be debated; allowed: 0 to 4"),
    "several rows alone": ({"rows": (0, 1)}, "--rows with 2 rows needs --grant"),
    "a capacity alone": ({"capacity": 1}, "--capacity needs --grant"),
    "the other action alone": ({"otherwise": "Deny"}, "--otherwise needs --grant"),
    "no such action": ({"rows": (0, 1), "grant": "Gran", "capacity": 1}, "unknown action of --grant 'Gran'"),
    "which other action": ({"rows": (0, 1), "grant": "Grant", "capacity": 1}, "--otherwise is missing.*Lower, Deny"),
    "the same action": (
        {"rows": (0, 1), "grant": "Grant", "otherwise": "Grant", "capacity": 1}, "unknown action of --otherwise"
    ),
    "no capacity": ({"rows": (0, 1), "grant": "Grant", "otherwise": "Deny"}, "--capacity is missing.*2 rows: 1 to 1"),
    "room for all": (
        {"rows": (0, 1), "grant": "Grant", "otherwise": "Deny", "capacity": 2}, "--capacity is 2.*2 rows: 1 to 1"
    ),
    "one row": ({"grant": "Grant", "otherwise": "Deny", "capacity": 1}, "names 1 row; allowed with --grant: 2 or more"),
    "one agent": ({"agents": (Named("Bank", {}),)}, "'Bank' has nobody to debate with"),
    "an agent of patients": (
        {"agents": (Named("Bank", {}), Named("rawlsian", {}))},
        "agent 'rawlsian' reads 'severity' of patients.*Bank, Applicant, Auditor",
    ),
    "a fixture": ({"agents": (Named("Bank", {}), Named("biased", {}))}, "fixture|biased"),
    "nobody": ({"agents": (Named("Bank", {}), Named("Nobody", {}))}, "Nobody"),
    "a parameter": ({"agents": (Named("Bank", {"power": 1}), Named("Applicant", {}))}, "unknown parameter 'power'"),
    "a rule": ({"settle": "coin"}, "coin"),
    "a rule of no protocol": ({"settle": "bargain", "protocol": "offers"}, "has no effect on --protocol offers"),
    "data of no rows": ({"data": "."}, "--data names the data of the untouched rows"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_input_is_refused_before_anybody_speaks(finished, new, kind):
    options, message = WRONG[kind]
    with pytest.raises(InputError, match=message):
        cast_for(open_decision(finished, new, DecisionOptions(**options)))
