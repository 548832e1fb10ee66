"""Preference learners on public data: who is served how well, over several splits, against the same controls.

The work: DSP with an imposed minority of 10 %, 20 % and 30 % of the made-up users, and MovieLens with majority and
minority by support rate. For every seed the users are made up or set aside, and records are split, anew; all methods
learn from the same records. Printed are means over seeds of the accuracy over users, of majority and minority, of the
slope of accuracy on support, and differences to the pooled reward with the standard error of their mean over seeds.
Seeds share the data: the errors speak of other splits and other made-up users, not of other data sets.

There is no peer here: the rows are learners of this package and their controls, with parameters as they come. Read a
method beside the controls: a gain that `balanced` or `group_robust` shows too is not the method's own.

Run: OMP_NUM_THREADS=1 python -m benchmarks.preference_data DATA/preferences
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from accordant.preferences.comparison import SourceOptions
from accordant.preferences.result import PreferenceOptions
from accordant.preferences.section import compare_preferences

DSP, MOVIELENS = "domain_specific_preference.test.json", "movielens-small"
MINORITIES = (0.1, 0.2, 0.3)
METHODS = (
    "bradley_terry[context=history]",
    "mixture",
    "per_group",
    "per_user",
    "pareto_distillation[context=history]",
)
RESAMPLES = 40  # intervals of single splits are not printed


def numbers(row: dict[str, Any], groups: dict[str, Any]) -> list[float]:
    """Return accuracy over users, of majority and minority, slope on support, and log-loss; NaN where undefined."""
    names = (
        "accuracy",
        f"accuracy[{groups['majority']}]",
        f"accuracy[{groups['minority']}]",
        "support_slope",
        "log_loss",
    )
    return [np.nan if (value := row["metrics"][name]["value"]) is None else value for name in names]


def compare(path: Path, methods: Sequence[str], seeds: int, source: SourceOptions) -> None:
    """Print the table of one data set."""
    found: dict[str, list[list[float]]] = {}
    sizes: list[list[int]] = []
    skipped: dict[str, str] = {}
    start = time.perf_counter()
    for seed in range(seeds):
        options = PreferenceOptions(tuple(methods), seed=seed, resamples=RESAMPLES, source=source)
        content = compare_preferences(path, options).to_json()
        sizes.append([content["users"], content["groups"]["sizes"].get(content["groups"]["minority"], 0)])
        skipped |= {each["method"]: each["reason"] for each in content["skipped"]}
        for row in content["methods"]:
            found.setdefault(row["method"], []).append(numbers(row, content["groups"]))
    users, minority = np.mean(sizes, axis=0)
    imposed = f", imposed minority {source.minority:.0%}" if path.name == DSP else ""
    print(f"\n{path.name}{imposed}: {users:.0f} users, {minority:.1f} in the minority, {seeds} seeds, "
          f"{time.perf_counter() - start:.0f} s")  # fmt: skip
    print(f"{'method':46} {'all':>6} {'majority':>8} {'minority':>8} {'slope':>7} {'loss':>6}  "
          f"{'d majority (se)':>17} {'d minority (se)':>17}")  # fmt: skip
    pooled = np.array(found["pooled"])
    for label, rows in found.items():
        if len(rows) < seeds:
            continue
        mean, away = np.mean(rows, axis=0), np.array(rows) - pooled
        errors = away.std(axis=0, ddof=1) / np.sqrt(seeds)
        change = "" if label == "pooled" else "".join(f" {away[:, k].mean():+9.4f} ({errors[k]:.4f})" for k in (1, 2))
        print(f"{label:46} {mean[0]:6.3f} {mean[1]:8.3f} {mean[2]:8.3f} {mean[3]:+7.3f} {mean[4]:6.3f} {change}")
    for label, reason in skipped.items():
        print(f"  left out: {label}: {reason}")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with the data")
    parser.add_argument("--seeds", type=int, default=5, help="at least 2")
    parser.add_argument("--methods", nargs="*", default=METHODS, help="name or name[parameter=value,…]")
    parser.add_argument("--records", type=int, help="records of each user instead of 40 and 100")
    given = parser.parse_args()
    for minority in MINORITIES:
        compare(given.data / DSP, given.methods, given.seeds, SourceOptions(minority=minority, records=given.records))
    compare(given.data / MOVIELENS, given.methods, given.seeds, SourceOptions(records=given.records))


if __name__ == "__main__":
    main()
