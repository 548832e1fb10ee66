"""Methods: how they are named, which controls come with them, what is left out and why."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.preferences.comparison.methods import (
    CONTROLS,
    LENGTH,
    POOLED,
    Method,
    choose_methods,
    fit_methods,
    labels_of,
    margins_of,
)
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.learners.learner import LinearReward, learners


def chosen(*named, parameters=None, everything=False, texts=False):
    return choose_methods(named, parameters, everything=everything, texts=texts)


def test_controls_come_first_whatever_is_named():
    assert [each.label for each in chosen("mixture")] == [*CONTROLS, "mixture"]
    assert [each.label for each in chosen("pooled", texts=True)] == [*CONTROLS, LENGTH]
    assert [each.control for each in chosen("per_user")] == [True, True, True, False]
    assert [each.label for each in chosen("balanced", "per_user")] == [*CONTROLS, "per_user"]


def test_parameters_make_another_method_that_is_no_control():
    method = chosen("bradley_terry[context=history, ridge=0.5]")[-1]
    assert method.label == "bradley_terry[context=history,ridge=0.5]"
    assert not method.control
    assert (method.learner.context, method.learner.ridge) == ("history", 0.5)
    assert chosen("mixture", parameters='{"types": 3}')[-1].learner.types == 3
    assert labels_of(["bradley_terry", "mixture[types=3]"], None) == (POOLED, "mixture[types=3]")


def test_comparing_everything_takes_every_registered_learner_once():
    labels = [each.label for each in chosen(everything=True)]
    assert labels[:3] == list(CONTROLS)
    assert sorted({*labels, "bradley_terry"} - {POOLED}) == sorted(learners.names())
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize(
    ("named", "parameters", "message"),
    [
        ((), None, "allowed: --method NAME, or --compare; valid: pooled, "),
        (("mixtur",), None, "did you mean 'mixture'"),
        (("poled",), None, "did you mean 'pooled'"),
        (("mix ture",), None, "allowed: name, or name[parameter=value,…]"),
        (("mixture[types]",), None, "found 'types', allowed: parameter=value"),
        (("mixture[typs=2]",), None, "did you mean 'types'"),
        (("mixture[types=0]",), None, "types is 0"),
        (("mixture", "per_user"), "{}", "belong to one --method"),
        (("mixture",), "[]", "allowed: a JSON object"),
        (("mixture",), "{", "is no JSON"),
    ],
)
def test_what_is_wrong_is_named(named, parameters, message):
    with pytest.raises(InputError) as error:
        chosen(*named, parameters=parameters)
    assert message in str(error.value)
    if "did you mean 'mixture'" in message:
        assert isinstance(error.value, UnknownNameError)


def test_learners_that_need_groups_are_left_out_if_there_is_one(opposed):
    one = opposed.with_groups(("all",) * 12)
    fitted, skipped = fit_methods(chosen("per_group", "per_user"), {"encoder": one}, seed=0)
    assert [row.label for row in fitted] == [POOLED, "per_user"]
    assert [each.method for each in skipped] == ["balanced", "group_robust", "per_group"]
    assert all("one group" in each.reason for each in skipped)
    without = opposed.of_users([0, 1])  # two groups are declared, records are of one
    assert len(fit_methods(chosen("per_group"), {"encoder": without}, seed=0)[1]) == 3


def test_a_learner_that_cannot_learn_is_left_out_with_its_reason(opposed):
    fitted, skipped = fit_methods(chosen("bradley_terry[context=given]"), {"encoder": opposed}, seed=0)
    assert len(fitted) == 3
    assert "no user_features" in skipped[0].reason


@dataclass(frozen=True, eq=False)
class WithControls(LinearReward):
    controls: dict = field(default_factory=dict)
    warnings: tuple = ("mind this",)


@dataclass(frozen=True)
class Bringer(BradleyTerry):
    name = "bringer"

    def fit(self, comparisons, *, generator=None):
        model = super().fit(comparisons)
        return WithControls(model.coefficients, {"teacher": LinearReward(-model.coefficients)})


def test_controls_that_a_model_brings_are_rows_of_their_own(opposed):
    methods = [*chosen("pooled"), Method("bringer", Bringer(), control=False)]
    fitted, _ = fit_methods(methods, {"encoder": opposed}, seed=0)
    own = {row.label: row for row in fitted}
    assert own["bringer"].warnings == ("mind this",)
    assert not own["bringer"].control
    teacher = own["bringer: teacher"]
    assert teacher.control and teacher.control_of == "bringer"
    np.testing.assert_allclose(margins_of(teacher, opposed), -margins_of(own["bringer"], opposed))


def test_margins_must_be_finite_and_one_per_record(opposed):
    (row, *_), _ = fit_methods(chosen("pooled"), {"encoder": opposed}, seed=0)
    for wrong in (np.full(len(opposed), np.nan), np.zeros((len(opposed), 1))):

        class Broken(LinearReward):
            def margins(self, comparisons, given=wrong):
                return given

        broken = type(row)(row.method, row.label, Broken(np.zeros(3)))
        with pytest.raises(InputError, match="margins have shape"):
            margins_of(broken, opposed)


def test_the_same_seed_learns_the_same(opposed):
    found = [fit_methods(chosen("mixture"), {"encoder": opposed}, seed=4)[0][-1] for _ in range(2)]
    np.testing.assert_array_equal(*(margins_of(each, opposed) for each in found))
