"""Directions of debates between rule agents on random triage scenarios; directions, not decimals.

The scenarios, criteria and pairings are those of ``benchmarks/deliberation_directions.py``, which prints the numbers.
"""

from __future__ import annotations

import functools
import subprocess
import sys

import pytest

from accordant.agents import create
from accordant.allocations.measures.measure import Criterion
from accordant.allocations.measures.measure import measures
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.deliberation.assessment import Group, flip_test, regrets, satisfaction
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.repetition import repeat
from accordant.deliberation.settlement import settlements
from accordant.errors import InputError

MARGINAL = Group("group", "marginal")
CRITERIA = (
    Criterion("access gap", measures.create("access_gap", {"group": "group"}), 0.25),
    Criterion(
        "opportunity gap", measures.create("equal_opportunity_gap", {"group": "group", "urgent": "severity"}), 0.34
    ),
    Criterion("need", measures.create("need_capture"), 0.6),
    Criterion("benefit", measures.create("benefit_ratio"), 0.75),
)
SCENARIOS = 60


def speaker(name, concession="linear"):
    if name.startswith("biased"):
        strength = float(name.split()[1])
        parameters = {"favoured_value": "favoured", "strength": strength, "concession": concession}
        return create("biased", parameters, allow_adversarial=True)
    return create(name, {"concession": concession})


@functools.cache
def repeated(first, second, settle="bargain", tough="linear", soft="linear", n=SCENARIOS, jobs=1, rules=()):
    return repeat(
        random_scenario, (speaker(first, tough), speaker(second, soft)), n, criteria=CRITERIA, settle=settle,
        group=MARGINAL, rules=rules, allow_adversarial=True, jobs=jobs,
    )  # fmt: skip


def access(found, label):
    return found.lines[label].access


@pytest.mark.long
@pytest.mark.parametrize(("aligned", "biased"), [("rawlsian", "biased 1"), ("utilitarian", "biased 0.3")])
def test_access_comes_back_in_part(aligned, biased):
    found = repeated(aligned, biased)
    assert found.restored.low > 0
    assert access(found, "joint").high < access(found, f"solo {aligned}").low
    assert access(found, "solo biased").value == 0


def test_against_a_strong_bias_more_is_lost_than_gained():
    found = repeated("rawlsian", "biased 1")
    assert found.loss.low > found.gain.high
    assert found.loss.low > 0.5
    assert found.difference.high < 0
    assert found.lines["joint"].all_met.high < found.lines["solo rawlsian"].all_met.low
    assert found.lines["joint"].all_met.value < found.random["rawlsian"].value  # worse than chance at its level


@pytest.mark.long
def test_two_legitimate_frameworks_gain_more_than_chance():
    found = repeated("utilitarian", "rawlsian")
    assert found.strict.low > 0.1
    joint = found.lines["joint"].all_met
    assert joint.low > max(each.high for each in found.random.values())
    assert joint.value > max(found.lines[f"solo {name}"].all_met.value for name in found.agents)
    assert found.gain.value > found.loss.value


@pytest.mark.long
def test_who_is_tough_decides():
    tough = access(repeated("rawlsian", "biased 1", tough="boulware", soft="conceder"), "joint")
    level = access(repeated("rawlsian", "biased 1"), "joint")
    soft = access(repeated("rawlsian", "biased 1", tough="conceder", soft="boulware"), "joint")
    assert soft.value == 0
    assert soft.high < level.low
    assert level.high < tough.low


@pytest.mark.long
@pytest.mark.parametrize(("first", "second"), [("rawlsian", "biased 1"), ("utilitarian", "rawlsian")])
def test_a_mediator_meets_more_but_cannot_rescue_a_captured_zone(first, second):
    bargained, mediated = repeated(first, second), repeated(first, second, "mediated")
    for name in ("gain", "strict"):
        assert getattr(mediated, name).value >= getattr(bargained, name).value
    assert mediated.lines["joint"].all_met.value >= bargained.lines["joint"].all_met.value
    if second == "biased 1":
        assert mediated.loss.low > mediated.gain.high
    else:
        assert mediated.gain.low > mediated.loss.high


@pytest.mark.few(1)
@pytest.mark.parametrize("settle", ["bargain", "mediated"])
@pytest.mark.parametrize("second", ["biased 1", "rawlsian", "baseline"])
def test_null_hypotheses_stand_beside_every_result(second, settle):
    found = repeated("utilitarian", second, settle, n=20, rules=("debate",))
    joint = found.lines["joint"].all_met
    assert set(found.random) == set(found.search) == set(found.agents)
    for search in found.search.values():
        assert found.possible.value >= search.value >= joint.value
    assert found.adversarial == (("biased",) if second == "biased 1" else ())
    assert found.search["utilitarian"].low is not None
    assert found.random["utilitarian"].low is not None
    assert set(found.lines) == {
        "solo utilitarian", f"solo {found.agents[1]}", "revised utilitarian", f"revised {found.agents[1]}", "joint",
        "disagreement", "strategy debate",
    }  # fmt: skip


@pytest.mark.long
def test_results_do_not_depend_on_the_number_of_processes():
    wide = settlements.create("mediated", {"widening": 0.2})  # a rule with parameters goes along
    for settle in ("bargain", wide):
        alone, shared = (repeated("utilitarian", "rawlsian", settle, n=4, jobs=jobs) for jobs in (2, 1))
        assert alone == shared
    alone = repeated("utilitarian", "rawlsian", n=4)
    assert len(set(alone.hashes)) == 4
    longer = repeated("utilitarian", "rawlsian", n=20)
    assert longer.hashes[:4] == alone.hashes


def test_a_single_repetition_has_a_table():
    found = repeated("rawlsian", "biased 1", n=1)
    assert found.restored.n == 1
    assert found.lines["joint"].all_met.value in (0.0, 1.0)
    assert found.lines["joint"].all_met.high - found.lines["joint"].all_met.low > 0.5


def test_without_a_group_and_without_bias_there_is_nothing_to_restore():
    agents = tuple(speaker(name) for name in ("utilitarian", "rawlsian", "care"))
    found = repeat(random_scenario, agents, 3, criteria=CRITERIA, rules=("utilitarian",), settle="nash_product")
    assert found.restored is None
    assert found.conversion == found.approach == {}
    assert set(found.random) == {"utilitarian", "rawlsian", "care"}
    assert all(line.access is None for line in found.lines.values())
    assert found.agrees["utilitarian"].n == 3
    alone = repeat(random_scenario, agents[:1], 2, criteria=CRITERIA, rules=())
    assert set(alone.lines) == {"solo utilitarian", "revised utilitarian", "joint", "disagreement"}


def test_the_biased_agent_comes_nearer_and_is_not_converted():
    found = repeated("rawlsian", "biased 1")
    assert found.conversion["rawlsian"].low > 0.1
    assert found.conversion["rawlsian"].high < 0.9
    assert 0.1 < found.approach["rawlsian"].value <= found.conversion["rawlsian"].value + 1e-12


def test_wrong_arguments():
    agents = (speaker("rawlsian"), speaker("biased 1"))
    with pytest.raises(InputError, match="0 repetitions"):
        repeat(random_scenario, agents, 0, criteria=CRITERIA)
    with pytest.raises(InputError, match="0 criteria"):
        repeat(random_scenario, agents, 1, criteria=())
    with pytest.raises(InputError, match="is adversarial"):
        repeat(random_scenario, agents, 1, criteria=CRITERIA)


def test_protected_facts_change_what_the_biased_agent_wants_and_nothing_that_is_blind_to_them():
    agents = (speaker("utilitarian"), speaker("biased 1"))

    def deliberate(scenario):
        return debate(scenario, agents, seed=3, allow_adversarial=True)

    found = flip_test(random_scenario(3), deliberate, permutations=6, seed=1)
    assert found.facts == ("group",)
    assert found.touched > 0.2
    blind = found.rates["solo utilitarian"]
    assert (blind.value, blind.low) == (0.0, 0.0)
    assert found.rates["solo biased"].low > 0.1
    assert found.rates["joint"].low > 0  # the joint decision took the bias in

    def without_bias(scenario):
        return debate(scenario, (speaker("utilitarian"), speaker("rawlsian")), seed=3)

    for name, rate in flip_test(random_scenario(3), without_bias, permutations=3).rates.items():
        assert rate.value == 0.0, name


def test_regrets_show_whom_an_agent_favours():
    held = debate(random_scenario(2), (speaker("utilitarian"), speaker("rawlsian")), seed=2)
    matrix = regrets(held)
    for name in ("utilitarian", "rawlsian"):
        assert matrix.of(f"solo {name}", name) == 0.0
        assert matrix.of("joint", name) > 0
    assert matrix.missing == {}
    assert matrix.exact
    assert satisfaction(held).solo == {"utilitarian": 1.0, "rawlsian": 1.0}


def test_importing_all_of_it_stays_light():
    heavy = ("sklearn", "pandas", "matplotlib", "scipy", "joblib", "torch", "pydantic_ai", "openai", "bm25s")
    script = (
        "import sys\n"
        "import accordant.deliberation.assessment, accordant.deliberation.adapters, accordant.deliberation.repetition\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
