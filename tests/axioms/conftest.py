"""Every axiom once more, in plain Python: is this pair of small matrices a violation by this rule?

Written from the definitions, with lists and loops, independently of the checks that the package runs on whole
batches. A matrix is a list of rows, one per stakeholder; `after` is None where an axiom speaks about one E.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import pytest

from accordant.axioms.incentives import without
from accordant.axioms.sample import ACTIONS, STAKEHOLDERS
from accordant.utilities import ExpectedRewards

SLACK = 1e-12


@dataclass
class Play:
    """What a rule does with one matrix."""

    chosen: int
    winners: list[int]
    scores: list[float] | None


def play(rule, matrix, stakeholders=None, actions=None):
    """Apply a rule to one matrix."""
    stakeholders = stakeholders or STAKEHOLDERS[: len(matrix)]
    actions = actions or ACTIONS[: len(matrix[0])]
    found = rule(ExpectedRewards(matrix, stakeholders=stakeholders, actions=actions))
    chosen = int(found.codes[0])
    if found.scores is None:
        assert not found.tied[0], "the winners of this rule are not known"
        return Play(chosen, [chosen], None)
    scores = [float(row[0]) for row in found.scores]
    best = max(scores)
    slack = SLACK * max(1.0, abs(best)) if best > float("-inf") else 0.0
    winners = [a for a, score in enumerate(scores) if score >= best - slack]
    if chosen not in winners:
        assert not found.tied[0], "the winners of this rule are not known"
        return Play(chosen, [chosen], None)
    return Play(chosen, winners, scores)


def column(matrix, a):
    return [row[a] for row in matrix]


def without_column(matrix, a):
    return [row[:a] + row[a + 1 :] for row in matrix]


def same(left, right):
    return all(
        abs(x - y) < 1e-9 for one, other in zip(left, right, strict=True) for x, y in zip(one, other, strict=True)
    )


def changed_row(before, after):
    rows = [i for i, (old, new) in enumerate(zip(before, after, strict=True)) if not same([old], [new])]
    assert len(rows) == 1
    return rows[0]


def weak_pareto(rule, before, after, names):
    winners = play(rule, before, *names).winners
    pairs = itertools.permutations(range(len(before[0])), 2)
    return any(a in winners and all(row[b] > row[a] for row in before) for a, b in pairs)


def strong_pareto(rule, before, after, names):
    winners = play(rule, before, *names).winners
    pairs = itertools.permutations(range(len(before[0])), 2)
    return any(
        a in winners and all(row[b] >= row[a] for row in before) and any(row[b] > row[a] for row in before)
        for a, b in pairs
    )


def anonymity(rule, before, after, names):
    assert sorted(before) == sorted(after) and before != after
    return play(rule, before, *names).winners != play(rule, after, *names).winners


def neutrality(rule, before, after, names):
    columns = [column(before, a) for a in range(len(before[0]))]
    orders = itertools.permutations(range(len(columns)))
    old, new = play(rule, before, *names).winners, play(rule, after, *names).winners
    moves = [
        order for order in orders if [columns[a] for a in order] == [column(after, a) for a in range(len(columns))]
    ]
    assert moves
    return any(sorted(order[a] for a in new) != old for order in moves)


def monotonicity(rule, before, after, names):
    old, new = play(rule, before, *names), play(rule, after, *names)
    a = old.chosen
    assert same(without_column(before, a), without_column(after, a))
    rises = [y - x for x, y in zip(column(before, a), column(after, a), strict=True)]
    assert min(rises) >= 0 and max(rises) > 0
    return a not in new.winners


def pairwise_independence(rule, before, after, names):
    old, new = play(rule, before, *names), play(rule, after, *names)

    def order(found, a, b):
        x, y = found.scores[a], found.scores[b]
        if x == y or (math.isfinite(x - y) and abs(x - y) <= SLACK * max(1.0, abs(x))):
            return 0
        return 1 if x > y else -1

    kept = [a for a in range(len(before[0])) if same([column(before, a)], [column(after, a)])]
    assert len(before[0]) >= 3
    return any(order(old, a, b) != order(new, a, b) for a, b in itertools.combinations(kept, 2))


def choice_independence(rule, before, after, names):
    stakeholders, actions = names or (STAKEHOLDERS[: len(before)], ACTIONS[: len(before[0])])
    old = play(rule, before, stakeholders, actions).chosen
    removed = [a for a in range(len(actions)) if same(without_column(before, a), after)]
    assert removed and old not in removed
    left = [name for name in actions if name != actions[removed[0]]]
    return left[play(rule, after, stakeholders, left).chosen] != actions[old]


def condorcet_consistency(rule, before, after, names):
    def beats(a, b):
        return sum(row[a] > row[b] for row in before) > sum(row[a] < row[b] for row in before)

    actions = range(len(before[0]))
    winner = [a for a in actions if all(beats(a, b) for b in actions if b != a)]
    return bool(winner) and play(rule, before, *names).winners != winner


def participation(rule, before, after, names):
    stakeholders, actions = names or (STAKEHOLDERS[: len(before)], ACTIONS[: len(before[0])])
    old = play(rule, before, stakeholders, actions).chosen
    away = [i for i in range(len(before)) if same(before[:i] + before[i + 1 :], after)]
    assert away
    return any(
        before[i][play(without(rule, i), after, stakeholders[:i] + stakeholders[i + 1 :], actions).chosen]
        > before[i][old]
        for i in away
    )


def non_dictatorship(rule, before, after, names):
    """In every order of the rows, the same stakeholder's single best action wins alone, against others."""
    found = []
    for i in range(len(before)):
        prevails, opposed = True, False
        for order in itertools.permutations(before):
            best = [a for a, value in enumerate(order[i]) if value == max(order[i])]
            others = [[a for a, value in enumerate(row) if value == max(row)] for row in order]
            if len(best) == 1 and any(best[0] not in other for other in others):
                opposed = True
                prevails &= play(rule, [list(row) for row in order], *names).winners == best
        found.append(prevails and opposed)
    return any(found)


def scale_invariance(rule, before, after, names):
    i = changed_row(before, after)
    factors = {round(new / old, 6) for old, new in zip(before[i], after[i], strict=True) if old > 0}
    zeros = [new for old, new in zip(before[i], after[i], strict=True) if old == 0]
    assert len(factors) == 1 and factors.pop() > 0 and not any(zeros)
    return play(rule, before, *names).winners != play(rule, after, *names).winners


def shift_invariance(rule, before, after, names):
    i = changed_row(before, after)
    assert len({round(new - old, 6) for old, new in zip(before[i], after[i], strict=True)}) == 1
    return play(rule, before, *names).winners != play(rule, after, *names).winners


def ordinal_invariance(rule, before, after, names):
    i = changed_row(before, after)
    for a, b in itertools.combinations(range(len(before[i])), 2):
        assert (before[i][a] > before[i][b]) == (after[i][a] > after[i][b])
        assert (before[i][a] < before[i][b]) == (after[i][a] < after[i][b])
    return play(rule, before, *names).winners != play(rule, after, *names).winners


def pigou_dalton(rule, before, after, names):
    a = play(rule, before, *names).chosen
    places = [b for b in range(len(before[0])) if not same([column(before, b)], [column(after, b)])]
    assert len(places) == 1 and places[0] != a
    place = places[0]
    old, new = column(after, a), column(after, place)
    moved = [i for i in range(len(old)) if abs(old[i] - new[i]) > 1e-9]
    assert len(moved) == 2
    i, j = sorted(moved, key=lambda each: old[each])  # i is worse off
    assert old[i] < new[i] <= new[j] + 1e-9 and new[j] < old[j] and abs(sum(old) - sum(new)) < 1e-9
    return a in play(rule, after, *names).winners


def strategy_proofness(rule, before, after, names):
    i = changed_row(before, after)
    assert all(len(set(row)) == len(row) for row in [*before, *after])
    honest, other = play(rule, before, *names).chosen, play(rule, after, *names).chosen
    return before[i][other] > before[i][honest]


TWINS = {
    twin.__name__: twin
    for twin in (
        weak_pareto, strong_pareto, anonymity, neutrality, monotonicity, pairwise_independence, choice_independence,
        condorcet_consistency, participation, non_dictatorship, scale_invariance, shift_invariance, ordinal_invariance,
        pigou_dalton, strategy_proofness,
    )
}  # fmt: skip


@pytest.fixture(scope="session")
def confirms():
    """Return (axiom, rule, before, after, names) → whether this is a violation, worked out in plain Python."""

    def judged(axiom, rule, before, after, names=()):
        return TWINS[axiom](rule, before, after, names)

    return judged


@pytest.fixture(scope="session")
def twins():
    """The plain twins by axiom."""
    return TWINS
