"""What a person could change, against trying every combination of allowed values one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from accordant.contexts import Contexts
from accordant.errors import InputError, SpecError, UnknownNameError
from accordant.explanation.recourse import MOST_TRIED, UNDECLARED, Changeable, candidates, recourse

ACTIONS = ("Grant", "Less", "Deny")


def make_observed(n=60, seed=0, values=7):
    generator = np.random.default_rng(seed)
    return Contexts(
        {
            "savings": generator.integers(0, values, n) * 10.0,
            "debt": generator.integers(0, values, n) * 5.0,
            "job": np.array(["none", "part", "full"])[generator.integers(0, 3, n)],
            "age": generator.integers(20, 70, n).astype(float),
        }
    )


def decide(contexts):
    """A rule without order: more savings do not always help."""
    score = contexts["savings"] - contexts["debt"] + 12 * (contexts["job"] == "full") - 8 * (contexts["savings"] == 40)
    return np.where(score > 35, 0, np.where(score > 15, 1, 2))


def plausible(contexts):
    return ~((contexts["job"] == "none") & (contexts["savings"] > 30))


def allowed(rule, here, values):
    """The slow twin of `Changeable.allowed`."""
    found = []
    for value in sorted(set(values.tolist())):
        if value == here:
            continue
        if isinstance(value, str):
            if not rule.values or value in rule.values:
                found.append(value)
            continue
        good = {"up": value > here, "down": value < here, "either": True}[rule.direction]
        good = good and (rule.low is None or value >= rule.low) and (rule.high is None or value <= rule.high)
        if good and (rule.most is None or abs(value - here) <= rule.most):
            found.append(value)
    return found


def apart(observed, name, here, there):
    if observed[name].dtype != np.float64:
        return float(here != there)
    lower, upper = np.quantile(observed[name], [0.25, 0.75])
    return abs(here - there) / ((upper - lower) or observed[name].std())


def nearest(person, observed, changeable):
    """Distance of the nearest plausible change to each other action, by trying every combination."""
    decided, found = int(decide(person)[0]), {}
    rules = {name: Changeable.read(given) for name, given in changeable.items()}
    choices = [[person[n][0], *allowed(rule, person[n][0], observed[n])] for n, rule in rules.items()]
    for values in product(*choices):
        changed = Contexts({**person, **{n: np.array([v]) for n, v in zip(rules, values, strict=True)}})
        code = int(decide(changed)[0])
        if code != decided and plausible(changed)[0]:
            distance = sum(apart(observed, n, person[n][0], v) for n, v in zip(rules, values, strict=True))
            found[ACTIONS[code]] = min(found.get(ACTIONS[code], np.inf), distance)
    return found


@pytest.mark.parametrize(
    "changeable",
    [
        {"savings": "up", "debt": "down"},
        {"savings": {"direction": "up", "most": 20, "high": 50}, "debt": "either", "job": {"values": ["full"]}},
        {"job": "either"},
        {"debt": {"direction": "down", "low": 10}},
    ],
)
def test_the_nearest_changes_against_every_combination(changeable):
    observed = make_observed()
    differing = 0
    for t in range(12):
        person = observed.take(slice(t, t + 1))
        found = recourse(
            person, int(decide(person)[0]), actions=ACTIONS, decide=decide, plausible=plausible, observed=observed,
            changeable=changeable,
        )  # fmt: skip
        assert found.everything
        assert {each.action: each.distance for each in found.changes} == pytest.approx(
            nearest(person, observed, changeable)
        )
        assert [each.distance for each in found.changes] == sorted(each.distance for each in found.changes)
        for each in found.changes:
            changed = Contexts({**person, **{d.feature: np.array([d.there]) for d in each.differences}})
            assert ACTIONS[int(decide(changed)[0])] == each.action
            assert plausible(changed)[0]
            assert all(d.feature in changeable and d.here == person[d.feature][0] != d.there for d in each.differences)
            differing += 1
    assert differing > 0


def test_many_values_are_thinned_and_what_is_found_still_holds():
    generator = np.random.default_rng(1)
    columns = {name: generator.normal(0, 1, 3000) for name in "abcd"}
    observed = Contexts(columns)

    def rule(contexts):
        return (sum(contexts[name] for name in "abcd") > 4).astype(int)

    person = Contexts({name: [0.1] for name in "abcd"})
    found = recourse(
        person, 0, actions=("No", "Yes"), decide=rule, plausible=lambda c: np.ones(c.n_contexts, bool), observed=observed,
        changeable=dict.fromkeys("abcd", "up"),
    )  # fmt: skip
    assert not found.everything
    assert found.tried <= MOST_TRIED
    (change,) = found.changes
    changed = Contexts({**person, **{each.feature: [each.there] for each in change.differences}})
    assert rule(changed)[0] == 1
    assert 3.6 / 1.37 <= change.distance < 3.6 / 1.35 + 1  # the sum must rise by 3.6, in interquartile ranges of 1.35


def test_what_a_training_row_has_together_is_tried_where_it_may_change():
    """Of five features with eleven values each no more than three are combined freely; rows are tried as they are."""
    generator, names = np.random.default_rng(0), tuple("abcde")
    columns = {name: np.concatenate([[0.0], generator.integers(1, 11, 300)]) for name in names}
    columns["e"][0] = 3.0
    person = Contexts({name: [8.0] for name in names})

    def rule(contexts):
        return np.all([contexts[name] == 0 for name in "abcd"] + [contexts["e"] == 8], axis=0).astype(int)

    found = recourse(
        person, 0, actions=("No", "Yes"), decide=rule, plausible=lambda c: np.ones(c.n_contexts, bool),
        observed=Contexts(columns), changeable=dict.fromkeys("abcd", "down") | {"e": "up"},
    )  # fmt: skip
    assert not found.everything
    (change,) = found.changes
    assert {each.feature: each.there for each in change.differences} == dict.fromkeys("abcd", 0.0)


def test_a_change_that_holds_in_a_batch_only_is_not_told():
    observed = make_observed()
    person = observed.take(slice(0, 1))

    def unstable(contexts):
        return np.zeros(1, int) if contexts.n_contexts == 1 else np.ones(contexts.n_contexts, int)

    found = recourse(
        person, 0, actions=ACTIONS, decide=unstable, plausible=plausible, observed=observed, changeable={"savings": "either"}
    )  # fmt: skip
    assert found.changes == ()


def test_nothing_declared_is_said_and_what_to_declare():
    observed = make_observed()
    found = recourse(
        observed.take(slice(0, 1)), 0, actions=ACTIONS, decide=decide, plausible=plausible, observed=observed, changeable={}
    )  # fmt: skip
    assert found.reason == UNDECLARED
    assert '"changeable:"' in found.reason and "`" not in found.reason


def test_a_missing_number_has_no_direction():
    observed = Contexts({"savings": [1.0, np.nan, 3.0]})
    assert len(candidates(observed.take(slice(1, 2)), observed, {"savings": Changeable()}).choices) == 0


def test_wrong_declarations_are_refused():
    observed = make_observed()
    person = observed.take(slice(0, 1))
    for changeable, error, message in [
        ({"saving": "up"}, UnknownNameError, "did you mean 'savings'"),
        ({"job": "up"}, InputError, "'job' holds texts"),
        ({"savings": {"values": ["a"]}}, InputError, "'savings' holds numbers"),
        ({"savings": 3}, InputError, "is no declaration; allowed: up, down, either"),
        ({"savings": "upward"}, SpecError, "up"),
        ({"savings": {"low": 3, "high": 2}}, SpecError, "low 3 is above high 2"),
        ({"savings": {"direction": "up", "values": ["a"]}}, SpecError, "declare one kind"),
        ({"savings": {"must": 3}}, SpecError, "most"),
    ]:
        with pytest.raises(error, match=message):
            recourse(
                person, 0, actions=ACTIONS, decide=decide, plausible=plausible, observed=observed, changeable=changeable
            )  # fmt: skip
