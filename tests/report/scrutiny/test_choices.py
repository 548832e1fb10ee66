"""Other choices behind a score: sentences on normalisations and on candidates that are left out."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.evaluation.composite import NORMALISATIONS
from accordant.evaluation.weighting.choices import SCALES, ScoreTable, other_choices
from accordant.report.scrutiny.weight_regions import NORMALISATIONS as WORDS
from accordant.report.scrutiny.weight_regions import choices
from accordant.runs.record.choice import ChoicesPart


@pytest.fixture
def found() -> ChoicesPart:
    """Without the baseline z, b is ahead of a: Belton and Gear's effect on the scale of the first metric."""
    raw = np.array([[1.0, 0.0], [0.8, 0.5], [0.0, 1.0]])
    everybody, baselines = np.ones(3, dtype=bool), np.array([False, False, True])
    weights, plain = np.array([0.7, 0.3]), np.zeros(2, dtype=bool)
    table = ScoreTable(
        ("a", "b", "z"), ("max", "max"), weights, raw, plain, everybody, baselines, "relative", ((0.0, 1.0),) * 2
    )
    return ChoicesPart.model_validate(other_choices(table))


def test_every_normalisation_has_words() -> None:
    assert set(WORDS) == set(SCALES) >= set(NORMALISATIONS)


def test_winners_and_what_they_depend_on(found: ChoicesPart) -> None:
    said = choices(found)
    own = next(each for each in said.normalisations if each.chosen)
    assert (own.name, own.winners, own.same) == ("relative", found.normalisations[1].winners, True)
    assert {each.same for each in said.normalisations} <= {True, False}
    assert said.summary == "Leaving out one candidate turns round 1 of 3 pairs of others (rank reversal)."
    assert said.reversals == ("b is ahead of a by 0.010; without z it is behind by 0.400.",)
    assert said.removals[0] == "Without z, a wins although the former winner is still in."
    assert said.removals[1].startswith(
        "Of 1 set of baselines that can be left out, 1 brought another winner; without z"
    )
    assert said.removals[-1] == "Without any baseline a wins."


def test_another_winner_is_told_from_the_same(found: ChoicesPart) -> None:
    others = {"relative": found.normalisations[1].winners, "rank": ("z",)}
    changed = tuple(
        each.model_copy(update={"winners": others.get(each.normalisation, ("z", "b"))}) for each in found.normalisations
    )
    said = choices(found.model_copy(update={"normalisations": changed}))
    assert [each.same for each in said.normalisations] == [True, True, True, False, True]


def test_nothing_depends_on_others(found: ChoicesPart) -> None:
    found = found.model_copy(
        update={
            "reversals": (),
            "smallest_change": None,
            "baseline_changes": 0,
            "without_baselines": None,
            "without": (),
        }
    )
    said = choices(found)
    assert said.summary == "Leaving out any one candidate changes the order of none of 3 pairs of others."
    assert said.removals == ("None of 1 set of baselines that can be left out brings another winner.",)
    found = found.model_copy(update={"pairs": 0, "baseline_subsets": 0})
    assert choices(found).summary == "There is no pair of ranked candidates whose order could change."
    assert choices(found).removals == ()
