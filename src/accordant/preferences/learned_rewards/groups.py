"""Groups of people who answered: the types that their answers fall into, or the groups that their file names.

    types      how many: the number that predicts people who took no part in finding them best, by the rule of one
               standard error (`choose_types`); who: each person belongs to the most likely type of a `Mixture`
    group_id   as the column of the file says

Types are found in the answers alone: context columns are standardised on the answers, not on the rows of a case, so
that the same file has the same types in every case with the same actions and outcomes. [ours] Each person belongs to
one type whole, although some could be of either; `RewardGroups.unsure` says how many.

One type is the answer unless more predict new people better. People who differ by degrees and not by kind may be
divided as well: types describe how answers differ, they do not prove that there are kinds of people.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accordant.arrays import Codes
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.naming import counted
from accordant.preferences.learned_rewards.answers import GROUP, USER, Answers
from accordant.preferences.learned_rewards.fitted_reward import CellFeatures
from accordant.preferences.learners.mixture import Mixture
from accordant.preferences.learners.number_of_types import TypeChoice, choose_types
from accordant.preferences.records import Comparisons
from accordant.problem import DecisionProblem
from accordant.reward_groups import RewardGroup, RewardGroups, TypesTried

SEED = 0  # of folds and starts: types belong to the file, so they do not change with the seed of a run
MOST_TYPES = 8


def groups_of(
    answers: Answers, problem: DecisionProblem, context: tuple[str, ...], *, by: str, most: int, least: int
) -> RewardGroups:
    """Return the groups of the people who answered, largest first.

    Parameters
    ----------
    answers
        Of at least two people.
    problem, context
        Declares actions and outcomes; context columns on which the reward may depend.
    by, most, least
        ``types`` or ``group_id``; the most groups; the fewest people of a group.

    Raises
    ------
    InputError
        If one person answered, or declared groups are missing, too many or too small.
    """
    answers, left_out = answers.of_weighing_users()
    if len(answers.user_names) < 2:
        raise InputError(
            f"groups need answers of several people; found those of {len(answers.user_names)} in {answers.source} "
            f"({USER})"
        )
    groups = _declared(answers, most, least) if by == GROUP else _types(answers, problem, context, most, least)
    who = counted(left_out, "person is", "people are")
    weightless = (f"records of weight 0 alone are no answers; {who} in no group.",) if left_out else ()
    return RewardGroups(groups.groups, groups.tried, groups.unsure, (*groups.warnings, *weightless))


def people_of_group(answers: Answers, group: str) -> Codes:
    """Return the positions of the people whom their file puts into a group.

    Raises
    ------
    DataError
        If the file names no groups, or not this one.
    """
    labels = _labels(answers)
    if group not in labels:
        raise DataError(f"{answers.source}: {UnknownNameError(GROUP, group, dict.fromkeys(labels))}")
    return np.flatnonzero(np.array(labels) == group)


def people_of_type(
    answers: Answers, problem: DecisionProblem, context: tuple[str, ...], number: int, types: int
) -> Codes:
    """Return the positions of the people of one of several types; type 1 has most people.

    Raises
    ------
    DataError
        If nobody is of this type.
    """
    ranks, _ = _ranked_types(_comparisons(answers, problem, context), types)
    people = np.flatnonzero(ranks == number - 1)
    if not len(people):
        raise DataError(f"{answers.source}: nobody is of type {number} of {types}")
    return people


def _declared(answers: Answers, most: int, least: int) -> RewardGroups:
    labels = _labels(answers)
    counts = {label: labels.count(label) for label in dict.fromkeys(labels)}
    for label, people in counts.items():
        if people < least:
            raise DataError(f"{answers.source}: {GROUP} {label!r} has {_people(people)}; allowed: at least {least}")
    if len(counts) > most:
        raise DataError(f"{answers.source}: {GROUP} names {len(counts)} groups; allowed: at most {most} (`most`)")
    largest_first = sorted(counts, key=lambda label: -counts[label])  # equal ones in the order of the file
    return RewardGroups(tuple(RewardGroup(label, counts[label], {"group": label}) for label in largest_first))


def _labels(answers: Answers) -> Sequence[str]:
    """Return the group of each person, or raise if the file names none."""
    if answers.groups is None:
        raise DataError(f"{answers.source} has no column {GROUP!r}, which names the group of each person")
    return answers.groups


def _types(answers: Answers, problem: DecisionProblem, context: tuple[str, ...], most: int, least: int) -> RewardGroups:
    people = len(answers.user_names)
    largest = min(most, people // least)
    if largest < 2:
        few = f"{_people(people)} answered, too few for two groups of at least {least}: nobody looked for types."
        return RewardGroups((RewardGroup("", people, {}),), warnings=(few,))
    comparisons = _comparisons(answers, problem, context)
    choice = choose_types(comparisons, most=largest, generator=np.random.default_rng(SEED))
    warnings = [f"{sentence}." for sentence in choice.warnings]
    for types in range(choice.chosen, 1, -1):
        ranks, unsure = _ranked_types(comparisons, types)
        sizes = np.bincount(ranks, minlength=types)
        if sizes.min() >= least:
            groups = tuple(
                RewardGroup(f"type {rank}", int(size), {"type": rank, "types": types})
                for rank, size in enumerate(sizes, 1)
            )
            return RewardGroups(groups, _tried(choice), unsure, tuple(warnings))
        warnings.append(
            f"of {types} types the smallest has {_people(int(sizes.min()))}, fewer than {least}: fewer types are taken."
        )
    return RewardGroups((RewardGroup("", people, {}),), _tried(choice), None, tuple(warnings))


def _comparisons(answers: Answers, problem: DecisionProblem, context: tuple[str, ...]) -> Comparisons:
    """Return answers as comparisons of items, each record with two of its own."""
    items, rows = CellFeatures.of_answers(answers, problem, context).items(answers), np.arange(len(answers))
    return Comparisons(
        items, rows, rows + len(answers), answers.users, answers.user_names, None, answers.weights
    )  # fmt: skip


def _ranked_types(comparisons: Comparisons, types: int) -> tuple[Codes, float]:
    """Return the rank of each person's type by its number of people, shape (user,), and the share of unsure people."""
    model = Mixture(types=types).fit(comparisons, generator=np.random.default_rng(SEED))
    likeliest = model.memberships.argmax(axis=1)
    first = {int(kind): person for person, kind in reversed(list(enumerate(likeliest)))}
    sizes = np.bincount(likeliest, minlength=types)
    order = sorted(range(types), key=lambda kind: (-sizes[kind], first.get(kind, len(likeliest))))
    rank = np.empty(types, dtype=np.intp)
    rank[order] = np.arange(types)
    return rank[likeliest], model.unsure


def _tried(choice: TypeChoice) -> tuple[TypesTried, ...]:
    return tuple(
        TypesTried(score.types, score.log_likelihood, score.shortfall, score.standard_error) for score in choice.scores
    )


def _people(number: int) -> str:
    return counted(number, "person", "people")
