"""Types among people who answered, in worlds of known truth: none where people are alike, and the two that there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from accordant.preferences.learned_rewards import groups, read_answers
from accordant.problem import DecisionProblem

pytestmark = pytest.mark.long
ACTIONS, OUTCOMES = ("Tutor", "Group", "Alone"), ("Passed", "Better", "Same")
CELLS = tuple(product(ACTIONS, OUTCOMES))
TRUTH = np.array([0.9, 0.6, 0.3, 0.85, 0.55, 0.2, 1.0, 0.5, 0.0])
OPPOSED = np.repeat([-0.5, 0.0, 0.5], 3)  # what the second kind of people adds to each action
STEEPNESS = 8.0
SEEDS = 8
PROBLEM = DecisionProblem(stakeholders=["Pupils"], actions=ACTIONS, outcomes=OUTCOMES)


def read(path, seed, people, questions, second):
    """Return the answers of some people, the last of whom are of a second kind."""
    generator = np.random.default_rng([seed, people])
    lines = ["user_id,chosen_action,chosen_outcome,rejected_action,rejected_outcome"]
    for person in range(people):
        values = TRUTH + OPPOSED * (person >= people - second)
        for _ in range(questions):
            one, other = generator.choice(len(CELLS), 2, replace=False)
            if generator.random() > 1 / (1 + np.exp(-STEEPNESS * (values[one] - values[other]))):
                one, other = other, one
            lines.append(",".join((f"p{person}", *CELLS[one], *CELLS[other])))
    path.write_text("\n".join(lines))
    return read_answers(path, PROBLEM)


def found_types(answers):
    return groups.groups_of(answers, PROBLEM, (), by="types", most=4, least=5)


@pytest.mark.parametrize(("people", "questions"), [(20, 12), (60, 15)])
def test_people_who_are_alike_stay_together(tmp_path, people, questions):
    found = [found_types(read(tmp_path / "answers.csv", seed, people, questions, 0)) for seed in range(SEEDS)]
    assert np.mean([len(each.groups) == 1 for each in found]) >= 0.95


def test_two_kinds_of_people_are_found_and_each_person_with_its_kind(tmp_path):
    wrong, right_number = [], []
    for seed in range(SEEDS):
        answers = read(tmp_path / "answers.csv", seed, 40, 15, 15)
        right_number.append(len(found_types(answers).groups) == 2)
        second = groups.people_of_type(answers, PROBLEM, (), 2, 2)
        wrong.append(len(set(second.tolist()) ^ set(range(25, 40))) / 40)
    assert np.mean(right_number) >= 0.95
    assert np.mean(wrong) <= 0.05
