"""Scores that are folds over stakeholders, and the kernels that one template makes of each.

A rule says what one stakeholder adds to the score of one action in one context, see `fold`. Two kernels are made of it.
One writes scores, row by row, for any number of stakeholders and actions. The other, for small numbers, is unrolled: in
one reading of E, all scores of a context stand in registers together, and so do the best of them, who is level with it,
and the sums that break ties; nothing but actions and ties is written.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from accordant.arrays import Integers, Values
from accordant.kernels import Compiled, compiled_text
from accordant.strategies.block import Block
from accordant.strategies.reductions import GROUP
from accordant.strategies.selection import CHUNK, Selection, code_type

Rows = Literal["rewards", "ascending", "extremes"]
OPERANDS = ("reward", "low", "high", "weight", "level")
UNROLLED = 36  # entries of E in a context up to which machine code is unrolled: beyond, LLVM keeps scalars
WORTHWHILE = 1 << 17  # entries of E in a block from which the unrolled kernel is asked for
PATIENCE = 5e6  # times the square of the entries of a context: decided without it, its gain had paid for compiling
MOST_SORTED = 8  # rewards that are sorted by an unrolled network
CERTAIN = 1000.0  # times the tolerance: so far apart, scores of which a fold is a monotone function do not tie


@dataclass(frozen=True, eq=False)
class Fold:
    """How stakeholders make up the score of an action in a context.

    Attributes
    ----------
    step
        From the total so far and any of `OPERANDS`, by name, to the total with one more stakeholder: its reward, its
        reference points `low` and `high`, its weight, its level.
    start
        The total of nobody.
    finish
        From the total to the score.
    usually_tied
        Whether some contexts in a thousand are tied whatever the rewards are: otherwise ties are looked for first, and
        broken in a second reading where there are some.
    """

    step: Callable[..., float]
    start: float
    finish: Callable[[float], float]
    usually_tied: bool = False

    @functools.cached_property
    def operands(self) -> tuple[str, ...]:
        """What a step reads beside the total, in its order."""
        return tuple(inspect.signature(self.step).parameters)[1:]

    @functools.cached_property
    def writer(self) -> Compiled[..., None]:
        """The kernel ``(values, low, high, weights, levels, scores)`` for any shape."""
        lines = [
            "n_rows, n_actions, n_contexts = values.shape",
            "for a in range(n_actions):",
            "    out = scores[a]",
            "    out[:] = start_total",
            "    for i in range(n_rows):",
            "        rewards = values[i, a]",
            *(f"        {name}s = {name}[i]" for name in ("low", "high") if name in self.operands),
            "        weight, level = weights[i], levels[i]",
            "        for t in range(n_contexts):",
            f"            out[t] = step(out[t], {', '.join(OF_ROW[name] for name in self.operands)})",
            "    for t in range(n_contexts):",
            "        out[t] = finish(out[t])",
        ]
        return self._compiled("write", "values, low, high, weights, levels, scores", lines)

    @functools.lru_cache(maxsize=64)  # noqa: B019  # folds are made once, where a rule is defined
    def chooser(
        self, n_stakeholders: int, n_actions: int, rows: Rows, given: tuple[str, ...], filtered: str
    ) -> Compiled[..., int]:
        """Return the unrolled kernel.

        Its parameters are ``values, at, low, high, weights, levels, tolerance, sum_tolerance, codes, tied``. It reads
        as many contexts as there are codes, from `at` on, and writes the best action, ties broken by the sum of
        rewards, then by order, and whether it is tied. It returns how many contexts it leaves open, with action −1:
        where a score is NaN or +inf, and, if it is `filtered`, where the second best score is within the tolerance of
        a best one that is finite.

        Parameters
        ----------
        n_stakeholders, n_actions
            Shape of E without contexts.
        rows
            What is folded: rewards as they are, sorted, or the largest and the smallest.
        given
            Which of the reference points come as arrays; others are the context's lowest and highest rewards.
        filtered
            Empty where the fold is the score; otherwise the tolerance: ``absolute`` (times at least 1) or ``relative``.
        """
        lines = _unrolled(
            self.operands, n_stakeholders, n_actions, rows, given, filtered, usually_tied=self.usually_tied
        )
        name = "_".join(["choose", rows, str(n_stakeholders), str(n_actions), *given, filtered or "exact"])
        return self._compiled(
            name, "values, at, low, high, weights, levels, tolerance, sum_tolerance, codes, tied", lines
        )

    def _compiled(self, name: str, parameters: str, lines: Sequence[str]) -> Compiled[..., Any]:
        scope = {"np": np, "CHUNK": CHUNK, "start_total": self.start, "step": self.step, "finish": self.finish}
        return compiled_text(f"{self.step.__name__}_{name}", parameters, lines, scope, __file__)


POINTS = {"low": "<", "high": ">"}
"""Reference point to what makes a reward of the context take its place."""
OF_ROW = {"reward": "rewards[t]", "low": "lows[t]", "high": "highs[t]", "weight": "weight", "level": "level"}


def fold(
    *, start: float, finish: Callable[[float], float] | None = None, usually_tied: bool = False
) -> Callable[[Callable[..., float]], Fold]:
    """Return a decorator that makes a `Fold` of its step.

    For example::

        @fold(start=0.0)
        def weighted_mean(total, reward, weight):
            return total + weight * reward

    The docstring of a step gives the same in NumPy, with which tests compare both kernels.
    """

    def decorate(step: Callable[..., float]) -> Fold:
        """Make one fold."""
        return Fold(step, start, finish or _itself, usually_tied)

    return decorate


def _itself(total: float) -> float:
    return total


def negative(total: float) -> float:
    """Return minus the total: what is to be small."""
    return -total


def _unrolled(
    operands: Sequence[str],
    n: int,
    n_actions: int,
    rows: Rows,
    given_points: Collection[str],
    filtered: str,
    *,
    usually_tied: bool,
) -> list[str]:
    """Return the lines of an unrolled kernel: e is a reward, r what is folded, s a score, u a sum."""
    scored = [
        *_read(operands, n, n_actions, given_points), *_scored(operands, n, n_actions, rows),
        *_best(n_actions, filtered),
    ]  # fmt: skip
    written = ["chosen[t] = -1 if undecided else first", "level_at[t] = near"]
    quick = [] if usually_tied else [
        "n_close = 0", *_loop([*scored, *written, "n_close += 1 if near | undecided else 0"]),
        "if n_close == 0:", "    continue",
    ]  # fmt: skip
    parameters = [f"w{i}, l{i} = weights[{i}], levels[{i}]" for i in range(_n_folded(n, rows))]
    nobody = "-np.inf" if n_actions > 1 else "np.nan"  # −inf ties with −inf, but one action ties with nobody
    body = [
        "stop = min(start + CHUNK, len(codes))", *_cut(n, n_actions, given_points), *quick,
        *_loop([*scored, *_broken(n, n_actions, filtered), *written, "n_open += 1 if undecided else 0"]),
    ]  # fmt: skip
    return [
        *parameters, f"nobody, n_open = {nobody}, 0", "for start in range(0, len(codes), CHUNK):",
        *(f"    {line}" for line in body), "return n_open",
    ]  # fmt: skip


def _n_folded(n: int, rows: Rows) -> int:
    """Return how many numbers of an action are folded."""
    return 2 if rows == "extremes" else n


def _cut(n: int, n_actions: int, given_points: Collection[str]) -> list[str]:
    """Return the lines that cut a chunk of contexts out of all arrays."""
    given = [(name, i) for name in POINTS if name in given_points for i in range(n)]
    return [
        *(f"row{i}_{a} = values[{i}, {a}, at + start : at + stop]" for a in range(n_actions) for i in range(n)),
        *(f"all_{name}{i} = {name}[{i}][start:stop]" for name, i in given),
        "chosen, level_at = codes[start:stop], tied[start:stop]",
    ]


def _read(operands: Sequence[str], n: int, n_actions: int, given_points: Collection[str]) -> list[str]:
    """Return the lines that read the rewards of a context, and read or find its reference points."""
    lines = [f"e{i}_{a} = row{i}_{a}[t]" for a in range(n_actions) for i in range(n)]
    for name, beyond in POINTS.items():
        if name in given_points:
            lines += [f"{name}{i} = all_{name}{i}[t]" for i in range(n)]
        elif name in operands:
            lines += [f"{name}{i} = e{i}_0" for i in range(n)]
            lines += [
                f"{name}{i} = e{i}_{a} if e{i}_{a} {beyond} {name}{i} else {name}{i}"
                for a in range(1, n_actions)
                for i in range(n)
            ]
    return lines


def _scored(operands: Sequence[str], n: int, n_actions: int, rows: Rows) -> list[str]:
    """Return the lines that fold the score of every action."""
    lines = []
    for a in range(n_actions):
        lines += [*_prepared(n, a, rows), f"s{a} = start_total"]
        for i in range(_n_folded(n, rows)):
            given = {"reward": f"r{i}_{a}", "low": f"low{i}", "high": f"high{i}", "weight": f"w{i}", "level": f"l{i}"}
            lines.append(f"s{a} = step(s{a}, {', '.join(given[name] for name in operands)})")
        lines.append(f"s{a} = finish(s{a})")
    return lines


def _best(n_actions: int, filtered: str) -> list[str]:
    """Return the lines that find the first action with the highest score, and whether another one is level with it."""
    lines = ["best, second, first = s0, nobody, 0"]
    for a in range(1, n_actions):
        lines += [
            f"other = best if s{a} > best else s{a}",
            "second = other if other > second else second",
            f"first = {a} if s{a} > best else first",
            f"best = s{a} if s{a} > best else best",
        ]
    return [
        *lines, "size = abs(best)", f"level = best - tolerance * {_magnitude(filtered)}", "near = second >= level",
        f"undecided = not ({' + '.join(f's{a}' for a in range(n_actions))} < np.inf)",
    ]  # fmt: skip


def _broken(n: int, n_actions: int, filtered: str) -> list[str]:
    """Return the lines that break ties by the sum of rewards, then by order."""
    actions = range(n_actions)
    lines = [f"u{a} = ({' + '.join(f'e{i}_{a}' for i in range(n))}) if s{a} >= level else -np.inf" for a in actions]
    lines += ["highest = u0", *(f"highest = u{a} if u{a} > highest else highest" for a in actions[1:])]
    lines += ["size = abs(highest)", f"level_sum = highest - sum_tolerance * {_magnitude('')}"]
    lines += [f"first = {a} if u{a} >= level_sum else first" for a in reversed(actions)]
    return [*lines, "undecided = undecided | (near & (best > -np.inf))"] if filtered else lines


def _loop(lines: Sequence[str]) -> list[str]:
    return ["for t in range(stop - start):", *(f"    {line}" for line in lines)]


def _magnitude(filtered: str) -> str:
    return "size" if filtered == "relative" else "(size if size > 1.0 else 1.0)"


def _prepared(n: int, a: int, rows: Rows) -> list[str]:
    """Return the lines that make what is folded of the rewards of one action."""
    if rows == "extremes":
        lines = [f"r0_{a} = r1_{a} = e0_{a}"]
        for i in range(1, n):
            lines += [f"r0_{a} = e{i}_{a} if e{i}_{a} > r0_{a} else r0_{a}"]
            lines += [f"r1_{a} = e{i}_{a} if e{i}_{a} < r1_{a} else r1_{a}"]
        return lines
    lines = [f"r{i}_{a} = e{i}_{a}" for i in range(n)]
    for end in range(n - 1, 0, -1) if rows == "ascending" else ():
        for i in range(end):
            lower, upper = f"r{i}_{a}", f"r{i + 1}_{a}"
            lines += [f"below = {lower} < {upper}"]
            lines += [f"{lower}, {upper} = {lower} if below else {upper}, {upper} if below else {lower}"]
    return lines


@dataclass(frozen=True, eq=False)
class Formula:
    """A score as a fold with its numbers, for one block of contexts.

    Attributes
    ----------
    fold
        Of which Φ is the result; or a monotone function of it, if the fold is a `filter`.
    weights
        One for each row that is folded, shape (row,).
    low, high
        Reference points, shape (stakeholder, context); None for the lowest and highest rewards in the context.
    levels
        One for each row, where the fold reads them.
    rows
        What is folded: rewards as they are, sorted from the worst-off to the best-off, or the largest and the smallest.
    filter
        Empty if the fold is Φ itself. Otherwise actions are told apart by the fold where it lies farther apart than
        `spread` times the tolerance, and by Φ elsewhere: ``absolute`` compares with at least 1, ``relative`` does not.
    spread
        So many tolerances apart, the fold says that Φ is no tie.
    """

    fold: Fold
    weights: Values
    low: Values | None = None
    high: Values | None = None
    levels: Values | None = None
    rows: Rows = "rewards"
    filter: Literal["", "absolute", "relative"] = ""
    spread: float = CERTAIN

    def scores(self, block: Block) -> Values:
        """Return the fold of every action in every context, shape (action, context).

        Parameters
        ----------
        block
            E of those with weight above 0.
        """
        scores = block.scores()
        low = block.lows if self.low is None and "low" in self.fold.operands else self.low
        high = block.highs if self.high is None and "high" in self.fold.operands else self.high
        values = getattr(block, VIEWS[self.rows])
        self.fold.writer(values, _or_nothing(low), _or_nothing(high), self.weights, self._levels, scores)
        return scores

    def choose(self, block: Block, exactly: Callable[[Integers], Selection]) -> Selection | None:
        """Return the best actions and ties; None where no unrolled kernel is worthwhile: for many
        stakeholders and actions, few contexts, and as long as it would have to be compiled for too few of them.

        Parameters
        ----------
        block
            E of those with weight above 0: their sum breaks ties.
        exactly
            Decides in some contexts by Φ.
        """
        (whole, start), n_contexts = block.source, block.n_contexts
        n, n_actions = whole.shape[:2]
        entries = n * n_actions
        if entries * n_contexts < WORTHWHILE or entries > UNROLLED or (self.rows == "ascending" and n > MOST_SORTED):
            return None
        points = {"low": self.low, "high": self.high}
        given = tuple(name for name, point in points.items() if point is not None)
        kernel = self.fold.chooser(n, n_actions, self.rows, given, self.filter)
        if not kernel.is_due(entries * n_contexts, PATIENCE * entries**2):
            return None
        codes = np.empty(n_contexts, dtype=code_type(n_actions))
        tied = np.empty(n_contexts, dtype=bool)
        tolerance = block.tolerance * (self.spread if self.filter else 1.0)
        if kernel(
            whole, start, *map(_or_nothing, points.values()), self.weights, self._levels, tolerance, block.tolerance,
            codes, tied,
        ):  # fmt: skip
            where = np.flatnonzero(codes < 0)
            chosen = exactly(where)
            codes[where], tied[where] = chosen.codes, chosen.tied
        return Selection(codes, tied)

    @property
    def _levels(self) -> Values:
        return self.weights if self.levels is None else self.levels


def _or_nothing(points: Values | None) -> Values:
    return np.empty((0, 0)) if points is None else points


VIEWS = {"rewards": "values", "ascending": "ascending", "extremes": "extremes"}


def product_filter(product: Fold, weights: Values) -> Formula | None:
    """Return a product that tells actions apart as Σ_i w_i log does, for equal weights; None for others.

    Logarithms differ by at least as much as one less the ratio of the products, times the weight; and a tie is a
    difference below the tolerance times the larger of 1 and that sum, of at most 691 times the weight.
    """
    if len(weights) > GROUP or not (weights == weights[0]).all():
        return None
    return Formula(product, weights, filter="relative", spread=CERTAIN * max(1.0, 1.0 / weights[0]))
