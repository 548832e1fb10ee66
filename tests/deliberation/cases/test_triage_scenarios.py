"""Triage scenarios: the declared distribution, the declared mapping, and draws that depend on the seed alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.cases.triage.estimates import NORMAL, Estimates, abnormal_signs, estimates
from accordant.deliberation.cases.triage.scenarios import PROTECTED, ktas_scenario
from accordant.cases.triage.visits import simulate_visits
from accordant.deliberation.cases.triage.scenarios import GROUPS, acuity_of, random_scenario
from accordant.errors import DataError, InputError

VISITS = simulate_visits(150, np.random.default_rng(0))

# --- random scenarios ------------------------------------------------------------------------------------------


def test_a_random_scenario_is_as_declared():
    scenario = random_scenario(7)
    assert scenario.name == "simulated triage, seed 7"
    assert scenario.ids == tuple(f"p{number:02d}" for number in range(1, 13))
    assert [(each.name, each.capacity, each.portion) for each in scenario.resources] == [("bed", 5, 1.0)]
    assert scenario.protected == ("group",)
    assert scenario.facts == ("acuity", "arrival", "dependency", "group", "p_with", "p_without", "severity")
    assert (scenario.demand == 1).all()


@pytest.mark.parametrize("seed", range(40))
def test_ranges_of_random_scenarios(seed):
    scenario = random_scenario(seed)
    p_with, p_without = scenario.numbers("p_with"), scenario.numbers("p_without")
    severity = scenario.numbers("severity")
    assert ((p_without >= 0.05) & (p_without <= 0.7)).all()
    assert ((p_with > p_without) & (p_with <= 0.98) & (p_with - p_without <= 0.6)).all()
    assert np.abs(severity - (1 - p_without)).max() < 0.25 and ((severity >= 0) & (severity <= 1)).all()
    assert sorted(scenario.numbers("arrival")) == list(range(1, 13))
    assert [int(level) for level in scenario.numbers("acuity")] == [by_hand(value) for value in severity]
    assert sorted(scenario.column("group")) == ["favoured"] * 6 + ["marginal"] * 6


def by_hand(severity):
    """The slow twin of `acuity_of`."""
    for level, least in enumerate((0.85, 0.7, 0.55, 0.4), start=1):
        if severity >= least:
            return level
    return 5


@given(st.floats(0, 1))
def test_acuity_by_the_declared_cuts(severity):
    assert acuity_of(np.array([severity]))[0] == by_hand(severity)


def test_the_declared_distribution():
    """Means over 400 scenarios of 12: U(.05, .7) and U(.02, .6) capped at .98, severity noise of .05, no group differs."""
    scenarios = [random_scenario(seed) for seed in range(400)]
    p_without = np.concatenate([each.numbers("p_without") for each in scenarios])
    p_with = np.concatenate([each.numbers("p_with") for each in scenarios])
    noise = np.concatenate([each.numbers("severity") for each in scenarios]) - (1 - p_without)
    assert p_without.mean() == pytest.approx(0.375, abs=0.01)
    assert p_without.std() == pytest.approx(0.65 / np.sqrt(12), abs=0.01)
    lift = (p_with - p_without)[p_without < 0.38]  # the cap cannot bind there
    assert lift.mean() == pytest.approx(0.31, abs=0.015) and lift.std() == pytest.approx(0.58 / np.sqrt(12), abs=0.01)
    assert noise.std() == pytest.approx(0.05, abs=0.004) and abs(noise.mean()) < 0.004
    severity = np.concatenate([each.numbers("severity") for each in scenarios])
    assert severity.max() == 1.0 and (severity == 1.0).mean() < 0.05  # noise would lift some above it
    dependency = np.concatenate([each.numbers("dependency") for each in scenarios])
    assert dependency.mean() == pytest.approx(0.5, abs=0.015)
    assert dependency.std() == pytest.approx(1 / np.sqrt(12), abs=0.01)
    marginal = np.concatenate([each.column("group") == "marginal" for each in scenarios])
    assert p_without[marginal].mean() == pytest.approx(p_without[~marginal].mean(), abs=0.02)
    first = np.array([each.column("group")[0] == "marginal" for each in scenarios])
    assert 0.4 < first.mean() < 0.6  # ids say nothing about groups


@pytest.mark.parametrize(("patients", "sizes"), [(1, (0, 1)), (2, (1, 1)), (5, (2, 3)), (120, (60, 60))])
def test_groups_of_any_number(patients, sizes):
    scenario = random_scenario(0, patients=patients, beds=0)
    assert tuple((scenario.column("group") == name).sum() for name in GROUPS) == sizes
    assert scenario.capacity.tolist() == [0] and len(scenario.ids) == patients
    assert len({len(each) for each in scenario.ids}) == 1


def test_same_seed_same_scenario():
    assert random_scenario(3).hash == random_scenario(3).hash != random_scenario(4).hash
    generator = np.random.default_rng(1)
    first, second = random_scenario(generator, name="a"), random_scenario(generator, name="a")
    assert first.hash != second.hash
    assert first.hash == random_scenario(np.random.default_rng(1), name="a").hash


@pytest.mark.parametrize(("patients", "beds"), [(0, 5), (-1, 5), (12, -1)])
def test_sizes_that_cannot_be(patients, beds):
    with pytest.raises(InputError, match="allowed"):
        random_scenario(0, patients=patients, beds=beds)


# --- scenarios of visits ---------------------------------------------------------------------------------------


def test_a_scenario_of_visits():
    scenario = ktas_scenario(VISITS, 0)
    assert len(scenario.ids) == 12 and scenario.capacity.tolist() == [5]
    assert scenario.protected == PROTECTED == ("sex", "age_band", "arrival_mode")
    assert sorted(scenario.numbers("arrival")) == list(range(1, 13))
    for patient in scenario.claimants:
        visit = VISITS.iloc[int(patient.id.removeprefix("v")) - 1]
        facts = patient.facts
        assert (facts["acuity"], facts["nurse_acuity"]) == (visit["KTAS_expert"], visit["KTAS_RN"])
        assert (facts["sex"], facts["age_band"]) == (visit["Sex"], visit["Age_band"])
        assert (facts["arrival_mode"], facts["mental"]) == (visit["Arrival_mode"], visit["Mental"])
        assert (facts["pain"], facts["note"]) == (visit["Pain"], visit["Chief_complain"])
        assert type(facts["acuity"]) is int and type(facts["severity"]) is float
    assert "age" not in scenario.facts  # it would tell the protected age band


def test_draws_depend_on_the_seed_alone():
    assert ktas_scenario(VISITS, 5).hash == ktas_scenario(VISITS, 5).hash
    assert len({ktas_scenario(VISITS, seed).hash for seed in range(20)}) == 20
    small, large = ktas_scenario(VISITS, 5, patients=4), ktas_scenario(VISITS, 5, patients=9)
    assert set(small.ids) <= set(large.ids)
    assert all(dict(large.claimants[large.index(p.id)].facts) == dict(p.facts) for p in small.claimants)


@pytest.mark.long
def test_every_visit_is_drawn_equally_often():
    drawn = np.zeros(len(VISITS))
    for seed in range(500):
        for each in ktas_scenario(VISITS, seed).ids:
            drawn[int(each[1:]) - 1] += 1
    assert drawn.sum() == 6000 and drawn.min() > 15 and drawn.max() < 75  # 40 on average, standard deviation 6


def test_all_visits_at_once():
    scenario = ktas_scenario(VISITS.head(5), 0, patients=5, beds=2)
    assert scenario.ids == ("v1", "v2", "v3", "v4", "v5")


@pytest.mark.parametrize(
    ("visits", "patients", "message"),
    [
        (VISITS.head(11), 12, "11 rows; 12 patients are declared"),
        (VISITS.drop(columns="KTAS_expert"), 12, "column 'KTAS_expert' is missing; did you mean it by 'KTAS_RN'"),
        (VISITS.drop(columns="Mental"), 12, "column 'Mental' is missing"),
    ],
)
def test_visits_that_do_not_do(visits, patients, message):
    with pytest.raises(DataError, match=message):
        ktas_scenario(visits, 0, patients=patients)
    with pytest.raises(InputError, match="allowed: 1 or more"):
        ktas_scenario(VISITS, 0, patients=0)


def test_missing_facts_stay_missing():
    blank = VISITS.head(3).copy()
    for name in ("Sex", "Age_band", "Mental", "Pain", "Chief_complain", "Arrival_mode"):
        blank[name] = pd.Series([None] * 3, index=blank.index, dtype=object)
    blank["Age"] = np.nan
    scenario = ktas_scenario(blank, 0, patients=3)
    assert scenario.column("note").tolist() == [None] * 3 and scenario.column("sex").tolist() == [None] * 3
    assert np.isfinite(scenario.numbers("p_with")).all()


# --- the mapping -----------------------------------------------------------------------------------------------

RISK = {1: 0.84, 2: 0.66, 3: 0.48, 4: 0.30, 5: 0.12}
GAIN = {1: 0.45, 2: 0.45, 3: 0.30, 4: 0.15, 5: 0.05}
LIMITS = {"SBP": (90, 200), "HR": (50, 120), "RR": (10, 24), "BT": (35.0, 38.5)}


def twin(visit):
    """The mapping in plain Python, without noise: risk, p_with, p_without, dependency."""
    risk, age = RISK[visit["KTAS_expert"]], visit["Age"]
    for name, (low, high) in LIMITS.items():
        if not np.isnan(visit[name]) and not low <= visit[name] <= high:
            risk += 0.024
    if visit["Mental"] is not None and visit["Mental"] != "alert":
        risk += 0.024
    gain = GAIN[visit["KTAS_expert"]]
    dependency = 0.1
    if age >= 80:
        gain, dependency = gain * 0.7, dependency + 0.4
    elif age >= 65:
        gain, dependency = gain * 0.85, dependency + 0.2
    if visit["Mental"] == "unresponsive":
        gain *= 0.7
    if visit["Mental"] is not None and visit["Mental"] != "alert":
        dependency += 0.3
    if visit["Arrival_mode"] in ("public ambulance", "private ambulance"):
        dependency += 0.2
    return risk, min(0.98, 1 - risk + gain), 1 - risk, min(1.0, dependency)


VISIT = st.fixed_dictionaries(
    {
        "KTAS_expert": st.integers(1, 5),
        "Age": st.integers(16, 95).map(float) | st.just(float("nan")),
        "Mental": st.sampled_from(["alert", "verbal", "pain", "unresponsive", None]),
        "Arrival_mode": st.sampled_from(["walking", "public ambulance", "private ambulance", "other"]),
        "SBP": st.floats(40, 260) | st.just(float("nan")) | st.sampled_from([90.0, 200.0]),
        "HR": st.floats(20, 220) | st.just(float("nan")),
        "RR": st.floats(4, 40) | st.just(float("nan")),
        "BT": st.floats(30, 42) | st.just(float("nan")),
    }
)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.lists(VISIT, min_size=1, max_size=6), st.integers(0, 5))
def test_the_mapping_against_its_twin(visits, seed):
    ids = [f"v{row}" for row in range(len(visits))]
    found = estimates(pd.DataFrame(visits), ids, seed)
    risk, p_with, p_without, dependency = np.array([twin(visit) for visit in visits]).T
    assert np.allclose(found.p_with, p_with) and np.allclose(found.p_without, p_without)
    assert np.allclose(found.dependency, dependency)
    assert np.abs(found.severity - risk).max() <= 0.02 + 1e-12
    for values in (found.severity, found.p_with, found.p_without, found.dependency):
        assert ((values >= 0) & (values <= 1)).all()
    assert (found.p_with > found.p_without).all()


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(VISIT, VISIT, st.integers(0, 5))
def test_the_mapping_is_monotone_in_acuity(visit, other, seed):
    """Severity and p_without whatever else differs; p_with where nothing else does."""
    rows = [visit | {"KTAS_expert": level} for level in range(1, 6)]
    found = estimates(pd.DataFrame(rows), [f"v{level}" for level in range(5)], seed)
    assert (np.diff(found.severity) < 0).all()
    assert (np.diff(found.p_without) > 0).all() and (np.diff(found.p_with) > 0).all()
    mixed = [each | {"KTAS_expert": level} for each, level in ((visit, 2), (other, 3))]
    found = estimates(pd.DataFrame(mixed), ["v1", "v2"], seed)
    assert found.severity[0] > found.severity[1] and found.p_without[0] < found.p_without[1]


def test_noise_depends_on_seed_and_id_alone():
    def severity(visits, ids, seed) -> Estimates:
        return estimates(visits, ids, seed).severity

    ids = [f"v{row}" for row in range(len(VISITS))]
    whole = severity(VISITS, ids, 1)
    turned = severity(VISITS.iloc[::-1], ids[::-1], 1)
    assert np.array_equal(whole, turned[::-1])
    assert np.array_equal(whole[:7], severity(VISITS.head(7), ids[:7], 1))
    assert not np.array_equal(whole, severity(VISITS, ids, 2))


def test_abnormal_signs_count_what_was_measured():
    normal = {"SBP": 120.0, "HR": 80.0, "RR": 18.0, "BT": 36.6}
    rows = [normal, normal | {"SBP": 60.0}, normal | {"SBP": np.nan, "HR": 160.0, "BT": 40.0}]
    rows += [dict.fromkeys(NORMAL, np.nan), {name: low for name, (low, _) in NORMAL.items()}]
    assert abnormal_signs(pd.DataFrame(rows)).tolist() == [0, 1, 2, 0, 0]
