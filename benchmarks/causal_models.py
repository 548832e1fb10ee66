"""Causal outcome models side by side: every single candidate, the trivial baseline, and the selected default.

Peers: the S-, T-, X- and DR-learners that `SelectedCausalLearner` chooses from, each fitted alone, and arm
means ("everyone alike"). Work: learn outcome levels from the training 80 % of a world, predict them for the
other 20 %, compare with the true levels, which no learner sees.

Worlds: the three IHDP files (Hill 2011, surface B), fresh draws of Hill's surfaces A and B on the same
covariates, and worlds with smooth bends, steps and interactions, heavy tails, weak overlap, three actions
and many contexts.

    python benchmarks/causal_models.py DATA_FOLDER [--scale 1.0] [--families published surface_b ...]

DATA_FOLDER holds `ihdp_npci_1.csv` to `ihdp_npci_3.csv`. `--scale` multiplies the number of replications.
Figures are divided by the standard deviation of the world's true levels, except for the published files.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from accordant.arrays import Values
from accordant.learning.causal import SelectedCausalLearner, default_candidates
from accordant.learning.causal.selection import split_by_size

BASELINE, DEFAULT = "Everyone alike", "SELECTED DEFAULT"


@dataclass(frozen=True)
class World:
    """Logged data with the true levels, shape (action, context), and a split into rows."""

    X: Values
    actions: NDArray[np.int64]
    outcomes: Values
    levels: Values
    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class Errors:
    """Test errors: root PEHE, average-effect error, regret of acting on the prediction, root level error."""

    pehe: float
    average_effect: float
    regret: float
    level: float


def make_world(X: Values, actions: Values, outcomes: Values, levels: Values, split_seed: int) -> World:
    """Split a world 80 to 20."""
    train, test = train_test_split(np.arange(X.shape[0]), test_size=0.2, random_state=split_seed)
    return World(X, np.asarray(actions, dtype=np.int64), outcomes, levels, train, test)


def read_ihdp(folder: Path, number: int) -> World:
    """One published file, split as in the published comparison; levels are used for scoring only."""
    frame = pd.read_csv(folder / f"ihdp_npci_{number}.csv")
    X = frame[[f"x{column}" for column in range(1, 26)]].to_numpy(dtype=float)
    levels = frame[["mu0", "mu1"]].to_numpy(dtype=float).T
    return make_world(X, frame["Action"] == "A", frame["Outcome"].to_numpy(dtype=float), levels, 42)


def surface_a(folder: Path, seed: int) -> World:
    """Hill (2011) surface A: parallel linear levels, constant effect 4."""
    source, random = read_ihdp(folder, 1), np.random.default_rng(seed)
    slopes = random.choice([0, 1, 2, 3, 4], 26, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    control = np.column_stack([np.ones(source.X.shape[0]), source.X]) @ slopes
    levels = np.stack([control, control + 4.0])
    noise = random.normal(size=control.size)
    return make_world(source.X, source.actions, _taken(levels, source.actions) + noise, levels, seed)


def surface_b(folder: Path, seed: int) -> World:
    """Hill (2011) surface B: exponential control, linear treated level, effect on the treated 4, floor 0."""
    source, random = read_ihdp(folder, 1), np.random.default_rng(seed)
    X = np.column_stack([np.ones(source.X.shape[0]), source.X])
    slopes = random.choice([0, 0.1, 0.2, 0.3, 0.4], 26, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    control, treated, taken = np.exp((X + 0.5) @ slopes), X @ slopes, source.actions == 1
    treated = treated - (np.mean(treated[taken] - control[taken]) - 4.0)
    levels = np.stack([control, treated])
    outcomes = _taken(levels, source.actions) + random.normal(size=control.size)
    return make_world(source.X, source.actions, np.round(np.maximum(outcomes, 0.0), 1), levels, seed)


def stepped(seed: int, contexts: int = 1000, actions: int = 2, pull: float = 1.0, heavy: bool = False) -> World:
    """Steps, interactions and bends; `pull` is how strongly features drive the logged action."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(contexts, 8))
    X[:, 5:] = X[:, 5:] > 0
    control = 2.0 * (X[:, 0] > 0.3) + 1.5 * X[:, 1] * X[:, 5] + np.abs(X[:, 2])
    rows = [control, control + np.where(X[:, 0] * X[:, 3] > 0, 2.0, -1.0)]
    rows.append(control + 1.5 * np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 6])
    levels = np.stack(rows[:actions])
    logits = pull * np.stack([np.zeros(contexts), X[:, 0] + 0.5 * X[:, 5] - 0.7, X[:, 1] - 0.4])[:actions]
    chances = np.exp(logits) / np.exp(logits).sum(axis=0)
    codes = np.minimum((random.random(contexts) > np.cumsum(chances, axis=0)).sum(axis=0), actions - 1)
    noise = random.standard_t(2.5, contexts) if heavy else random.normal(size=contexts)
    return make_world(X, codes, _taken(levels, codes) + noise, levels, seed)


def smooth(seed: int, contexts: int = 500) -> World:
    """Bent but smooth levels, linear effect with a sine, moderate confounding."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(contexts, 6))
    control = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + X[:, 2]
    levels = np.stack([control, control + 1.0 + X[:, 3] + np.sin(X[:, 0] + X[:, 1])])
    chances = 1.0 / (1.0 + np.exp(-0.7 * X[:, 0] - 0.7 * X[:, 3]))
    codes = (random.random(contexts) < chances).astype(np.int64)
    return make_world(X, codes, _taken(levels, codes) + random.normal(size=contexts), levels, seed)


def _taken(levels: Values, codes: NDArray[np.int64]) -> Values:
    return levels[codes, np.arange(codes.size)]


FAMILIES: dict[str, tuple[int, Callable[[Path, int], World]]] = {
    "published": (3, lambda folder, seed: read_ihdp(folder, seed - 99)),
    "surface_b": (30, surface_b),
    "surface_a": (10, surface_a),
    "smooth": (6, lambda folder, seed: smooth(seed)),
    "steps": (6, lambda folder, seed: stepped(seed)),
    "heavy_tails": (6, lambda folder, seed: stepped(seed, heavy=True)),
    "weak_overlap": (6, lambda folder, seed: stepped(seed, pull=2.5)),
    "three_actions": (6, lambda folder, seed: stepped(seed, actions=3)),
    "many_contexts": (2, lambda folder, seed: stepped(seed, contexts=5000)),
}
"""Name to (replications, world from data folder and seed). Seeds start at 100."""


def errors(world: World, predicted: Values) -> Errors:
    """Score predicted levels (action, test context) against the truth."""
    truth = world.levels[:, world.test]
    gap = (predicted - predicted[0]) - (truth - truth[0])
    chosen = truth[predicted.argmax(axis=0), np.arange(truth.shape[1])]
    return Errors(
        pehe=float(np.sqrt(np.mean(gap[1:] ** 2, axis=1)).mean()),
        average_effect=float(np.abs(gap[1:].mean(axis=1)).mean()),
        regret=float(np.mean(truth.max(axis=0) - chosen)),
        level=float(np.sqrt(np.mean((predicted - truth) ** 2))),
    )


def arm_means(world: World) -> Values:
    """The trivial baseline: every context gets its action's average outcome."""
    codes, outcomes = world.actions[world.train], world.outcomes[world.train]
    means = np.array([outcomes[codes == action].mean() for action in range(world.levels.shape[0])])
    return np.repeat(means[:, None], world.test.size, axis=1)


def compare(world: World) -> Iterator[tuple[str, Errors, float, str]]:
    """Name, errors, CPU seconds and a note for every peer on one world."""
    yield BASELINE, errors(world, arm_means(world)), 0.0, ""
    peers, _ = split_by_size(default_candidates(), world.train.size, world.X.shape[1])
    for name, learner in {**peers, DEFAULT: SelectedCausalLearner()}.items():
        start = time.process_time()
        learner.fit(world.X[world.train], world.actions[world.train], world.outcomes[world.train])
        predicted = learner.predict_levels(world.X[world.test])
        note = ""
        if isinstance(learner, SelectedCausalLearner):
            note = ", ".join(f"{key} {weight:.2f}" for key, weight in learner.weights_.items())
        yield name, errors(world, predicted), time.process_time() - start, note


def run_family(name: str, folder: Path, scale: float) -> pd.DataFrame:
    """Errors of every peer on every world of one family."""
    count, build = FAMILIES[name]
    count = count if name == "published" else max(1, round(count * scale))
    rows = []
    for seed in range(100, 100 + count):
        world = build(folder, seed)
        unit = 1.0 if name == "published" else float(world.levels.std())
        for peer, found, seconds, note in compare(world):
            scaled = {key: value / unit for key, value in vars(found).items()}
            rows.append({"peer": peer, "seed": seed, **scaled, "cpu": seconds})
            if note:
                line = f"{name} {seed}: root PEHE {scaled['pehe']:.3f} <- {note}"
                print(line, file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Per peer: mean, median and worst root PEHE, its median ratio to each world's best, and more."""
    peers = rows[~rows["peer"].isin([BASELINE, DEFAULT])]
    best = peers.groupby("seed")["pehe"].min()
    rows = rows.assign(ratio=rows["pehe"] / rows["seed"].map(best))
    grouped = rows.groupby("peer", sort=False)
    table = pd.DataFrame(
        {
            "mean": grouped["pehe"].mean(),
            "median": grouped["pehe"].median(),
            "worst": grouped["pehe"].max(),
            "median ratio": grouped["ratio"].median(),
            "effect error": grouped["average_effect"].mean(),
            "regret": grouped["regret"].mean(),
            "level error": grouped["level"].mean(),
            "cpu s": grouped["cpu"].mean(),
        }
    )
    return table.sort_values("mean", kind="stable")


def main() -> None:
    """Print one table per family of worlds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with ihdp_npci_1.csv to ihdp_npci_3.csv")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of replications")
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    options = parser.parse_args()
    warnings.simplefilter("error")
    for name in options.families:
        rows = run_family(name, options.folder, options.scale)
        print(f"\n{name}: {rows['seed'].nunique()} worlds; root PEHE first, then the other errors")
        print(summary(rows).round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
