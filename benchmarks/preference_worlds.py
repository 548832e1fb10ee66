"""Learners of rewards side by side in worlds of known truth: who gains, who loses, and what controls gain as well.

    OMP_NUM_THREADS=1 python -m benchmarks.preference_worlds [--seeds 20] [--worlds NAMES] [--learners NAMES]

Work: for each seed a world is drawn, every registered learner learns from the training records and is judged on other
records of the same users. Peers are the references: the pooled reward that may know of users what the learner may know
(no context, given features, or a summary of records; a learner without that choice that tells users apart is compared
with the summary). Learners see the true groups while they are trained, but for the rows that say how groups are found.

All numbers are means over seeds; differences are paired, and a standard error stands in brackets. A cell is marked if
it is worse (v) or better (^) than the reference by more than one standard error: the same mark for a loss as for a
gain. Accuracy of a group is the mean over its users. Std and Gini are over users (less is better), "worst" is the mean
of the worst tenth. Networks are left out unless `--learners` names them: they take most of an hour.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Values
from accordant.preferences.groups import Way
from accordant.preferences.learners.learner import RewardModel, learners
from accordant.preferences.learners.pareto_distillation import ParetoDistillation
from accordant.preferences.measures import gini, per_user, worst_mean
from accordant.preferences.records import Comparisons
from accordant.preferences.synthetic import GROUPS, WORLDS, World

CONTEXTS = ("none", "given", "history")
LOSSES = ("mse", "soft", "offset")
REFERENCE = "bradley_terry"
PLAIN = ("pooled", "balanced", "group_robust")  # controls that stand in the table as learners
FOUND: dict[str, Way] = {"support": "threshold", "types": "clustering"}  # how groups are found where none are given
TOLERANCE = 1e-5  # accuracy moves by less than .0001 from here to 1e-8
COLUMNS = ("majority", "minority", "std", "worst", "gini")
SIGNS = np.array([1.0, 1.0, -1.0, 1.0, -1.0])  # of what is better


@dataclass(frozen=True)
class Fitted:
    """One row of one seed: what was learned, and what it is compared with."""

    row: str
    model: RewardModel
    reference: str


def main() -> None:
    """Print a table for each world."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--worlds", nargs="+", choices=[each.name for each in WORLDS])
    parser.add_argument("--learners", nargs="+", help="only these, and the references")
    parser.add_argument("--patience", type=float, default=8.0, help="CPU seconds that one fit may take; else left out")
    chosen = parser.parse_args()
    if chosen.seeds < 2:
        parser.error("--seeds must be at least 2: differences need a standard error")
    start, slow = time.process_time(), {}
    print(f"python -m benchmarks.preference_worlds {' '.join(sys.argv[1:])}".rstrip())
    for world in WORLDS:
        if chosen.worlds is None or world.name in chosen.worlds:
            compare(world, chosen.seeds, chosen.learners, chosen.patience, slow)
    for name, seconds in slow.items():
        print(f"left out: {name}, {seconds:.1f} s a fit (--patience)")
    print(f"\n{time.process_time() - start:.0f} s of CPU time")


def compare(world: World, seeds: int, only: list[str] | None, patience: float, slow: dict[str, float]) -> None:
    """Draw a world for each seed, and print how learners did; those who are slow at first are left out from then on."""
    names = [name for name in learners.names() if name == REFERENCE or name in (only or quick())]
    found: dict[str, list[Values]] = {}
    of_new: dict[str, list[Values]] = {}
    references: dict[str, str] = {}
    for seed in range(seeds):
        sample = world.drawn(np.random.default_rng(seed))
        for name in [name for name in names if name not in slow]:
            before = time.process_time()
            for fits, fitted in enumerate(fits_of(name, sample.training), 1):
                found.setdefault(fitted.row, []).append(measured(fitted.model, sample.test))
                if is_personal(fitted.row) or name == REFERENCE:
                    new = measured(fitted.model.adapted(sample.first), sample.later)
                    of_new.setdefault(fitted.row, []).append(new)
                references[fitted.row] = fitted.reference
                seconds = (time.process_time() - before) / fits
                if seed == 0 and seconds > patience:
                    slow[name] = seconds
                    break
    for row in [row for row, numbers in found.items() if len(numbers) < seeds]:
        del found[row]
    rows = {row: np.array(numbers) for row, numbers in found.items()}
    title = f"{world.name}: minority {world.minority:.0%}, cosine of groups {world.similarity:g}, "
    print(f"\n== {title}{world.records} records of each user, {seeds} seeds\n")
    print_rows({row: numbers for row, numbers in rows.items() if " < " not in row}, references, rows)
    print_explained(rows, references)
    print_personal("rewards of single users, on other records of theirs", rows)
    news = {row: np.array(numbers) for row, numbers in of_new.items() if row in rows}
    print_personal(f"the same for new users, each known by {world.first_records} records", news)


def quick() -> list[str]:
    """Return the learners that need no extra."""
    return [name for name in learners.names() if getattr(learners.factory(name), "extra", None) is None]


def is_personal(row: str) -> bool:
    """Return whether a row is that of a learner without a choice of what it may know of users."""
    return "[" not in row


def fits_of(name: str, training: Comparisons) -> Iterator[Fitted]:
    """Learn in every way that a learner offers."""
    accepted = inspect.signature(learners.factory(name)).parameters
    precise = {"tolerance": TOLERANCE} if "tolerance" in accepted else {}
    for context in CONTEXTS if "context" in accepted else (None,):
        learner = learners.create(name, precise | ({} if context is None else {"context": context}))
        if isinstance(learner, ParetoDistillation):
            yield from distilled(learner, training)
            continue
        model = learner.fit(training, generator=np.random.default_rng(0))
        knows = context or ("history" if tells_users_apart(model, training) else "none")
        yield Fitted(name if context is None else f"{name} [{context}]", model, f"{REFERENCE} [{knows}]")


def distilled(learner: ParetoDistillation, training: Comparisons) -> Iterator[Fitted]:
    """Teach with every loss, with the true groups, and with groups that are found."""
    reference = f"{REFERENCE} [{learner.context}]"
    lesson = learner.lesson(training)
    for loss in LOSSES:
        row, model = f"distilled {loss} [{learner.context}]", replace(learner, loss=loss).distilled(lesson)
        yield Fitted(row, model, reference)
        for control, taught in model.controls.items():
            if control not in PLAIN:
                yield Fitted(f"{row} < {control}", taught, reference)
    for by, way in FOUND.items():
        found = replace(learner, by=way).fit(replace(training, groups=None), generator=np.random.default_rng(0))
        yield Fitted(f"distilled mse, groups by {by} [{learner.context}]", found, reference)


def tells_users_apart(model: RewardModel, training: Comparisons) -> bool:
    """Return whether the same items have other rewards for another user."""
    some = training.features[:8]
    rewards = [model.rewards(some, user) for user in range(training.n_users)]
    return any(not np.allclose(each, rewards[0]) for each in rewards)


def measured(model: RewardModel, test: Comparisons) -> Values:
    """Return the columns for one model."""
    each = per_user(model.margins(test), test.users, names=test.names)
    group = np.array(test.groups)[each.users]
    by_group = [float(each.accuracy[group == name].mean()) for name in GROUPS]
    return np.array([*by_group, each.accuracy.std(), worst_mean(each.accuracy), gini(each.accuracy)])


def print_rows(shown: dict[str, Values], references: dict[str, str], rows: dict[str, Values]) -> None:
    """Print levels, differences of groups with standard errors, and marks."""
    width = max(map(len, shown)) + 1
    heads = f"{'majority':>10}{'minority':>10}{'d majority':>18}{'d minority':>18}{'std':>9}{'worst':>9}{'Gini':>9}"
    print(f"{'':{width}}{heads}")
    for row, numbers in shown.items():
        mean = numbers.mean(axis=0)
        if references[row] == row:
            marks, changes = [" "] * len(COLUMNS), ["-", "-"]
        else:
            changed = numbers - rows[references[row]]
            marks = [mark(sign * each) for sign, each in zip(SIGNS, changed.T, strict=True)]
            changes = [f"{with_error(each)}{sign}" for each, sign in zip(changed.T[:2], marks, strict=False)]
        spreads = "".join(f"{value:8.3f}{sign}" for value, sign in zip(mean[2:], marks[2:], strict=True))
        print(f"{row:{width}}{mean[0]:10.3f}{mean[1]:10.3f}{changes[0]:>18}{changes[1]:>18}{spreads}")


def print_explained(rows: dict[str, Values], references: dict[str, str]) -> None:
    """Print what distillation gains over the reference and how much more that is than its controls gain."""
    taught = [row.split(" < ") for row in rows if " < " in row]
    if not taught:
        return
    print(
        "\nwhat the pooled teacher does not explain: gain of distillation less gain of the control, majority | minority"
    )
    for row, control in taught:
        gains, own = (rows[name] - rows[references[row]] for name in (f"{row} < {control}", row))
        left = [f"{with_error(each)}{mark(each)}" for each in (own - gains).T[:2]]
        also = " | ".join(f"{each:+.3f}" for each in gains.mean(axis=0)[:2])
        print(f"{row:28}{control:26}control {also}   left {left[0]:>16} | {left[1]:>16}")


def print_personal(title: str, rows: dict[str, Values]) -> None:
    """Print learners without a choice of context against each pooled reward, majority | minority."""
    shown = [row for row in rows if is_personal(row)]
    if not shown:
        return
    heads = "".join(f"{f'less pooled [{context}]':>38}" for context in CONTEXTS)
    print(f"\n{title}: majority | minority\n{'':18}{'accuracy':>15}{heads}")
    for row in shown:
        levels = " | ".join(f"{level:.3f}" for level in rows[row].mean(axis=0)[:2])
        changes = ""
        for context in CONTEXTS:
            changed = (rows[row] - rows[f"{REFERENCE} [{context}]"]).T[:2]
            changes += f"{' | '.join(f'{with_error(each)}{mark(each)}' for each in changed):>38}"
        print(f"{row:18}{levels:>15}{changes}")


def with_error(changes: Values) -> str:
    """Return the mean over seeds and its standard error."""
    return f"{changes.mean():+.3f} ({error(changes):.3f})"


def error(changes: Values) -> float:
    """Return the standard error of a mean over seeds."""
    return float(changes.std(ddof=1) / np.sqrt(len(changes)))


def mark(changes: Values) -> str:
    """Return v for a mean worse than 0 by more than one standard error, ^ for a better one, else nothing."""
    mean, size = float(changes.mean()), max(error(changes), 1e-9)
    return "v" if mean < -size else "^" if mean > size else " "


if __name__ == "__main__":
    main()
