# ruff: noqa: E501, INP001 - a script beside its pages: its long lines are text
"""Draw the leaderboard of a run as SVG: composite scores with their intervals.

accordant run examples/own_case/apprenticeships.yaml --out apprenticeships
python docs/pictures/leaderboard.py apprenticeships > docs/pictures/leaderboard.svg
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

ROW, TOP, LABELS, PLOT, WIDTH = 26, 74, 290, 420, 900
KINDS = {"compromise": "compromise", "stakeholder": "one stakeholder alone", "baseline": "baseline", "voting": "voting"}
STYLE = """
text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-size:16px;font-weight:600}.small{font-size:11.5px;fill:#57606a}
.grid{stroke:#d0d7de}.compromise,.voting{--c:#0a5fb4}.stakeholder{--c:#8a4baf}.baseline{--c:#8c959f}
.bar{stroke:var(--c);stroke-width:2;opacity:.55}.dot{fill:var(--c)}.chosen{font-weight:700}.ring{fill:none;stroke:#d97706;stroke-width:2.5}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9198a1}.grid{stroke:#3d444d}.compromise,.voting{--c:#58a6ff}
.stakeholder{--c:#c08bea}.baseline{--c:#8b949e}.ring{stroke:#f0a33a}}
""".strip()


def x_of(score: float) -> float:
    """Return the horizontal position of a score in [0, 1]; intervals that leave it are cut at the edge."""
    return round(LABELS + PLOT * min(1.0, max(0.0, score)), 1)


def line(position: int, row: dict[str, Any], selected: str) -> str:
    """Return one strategy: name, interval, score, and whether it is among the best."""
    y, score, kind = TOP + ROW * position, row["score"], row["kind"]
    chosen = row["strategy"] == selected
    parts = [
        f'<text x="{LABELS - 16}" y="{y + 4}" text-anchor="end" class="{"chosen" if chosen else ""}">{escape(row["strategy"])}</text>',
        ""
        if score["low"] is None
        else f'<line class="bar" x1="{x_of(score["low"])}" x2="{x_of(score["high"])}" y1="{y}" y2="{y}"/>',
        f'<circle class="dot" cx="{x_of(score["value"])}" cy="{y}" r="4.5"/>',
        f'<circle class="ring" cx="{x_of(score["value"])}" cy="{y}" r="8"/>' if chosen else "",
        f'<text class="small" x="{LABELS + PLOT + 16}" y="{y + 4}">{score["value"]:.3f}</text>',
        f'<text class="small" x="{WIDTH - 16}" y="{y + 4}" text-anchor="end">{"among the best" if row["among_best"] else ""}</text>',
    ]
    return f'<g class="{kind}">{"".join(parts)}</g>'


def draw(content: dict[str, Any]) -> str:
    """Return the SVG for the content of ``run.json``; lines that are no candidates or have no score stay out."""
    test, data = content["test"], content["data"]
    rows = [row for row in test["leaderboard"] if row["candidate"] and row["score"]["value"] is not None]
    bottom = TOP + ROW * len(rows)
    origin = "simulated data" if data["simulated"] else data["source"]
    grid = "".join(
        f'<line class="grid" x1="{x_of(tick)}" x2="{x_of(tick)}" y1="{TOP - 14}" y2="{bottom - 8}"/>'
        f'<text class="small" x="{x_of(tick)}" y="{bottom + 10}" text-anchor="middle">{tick:g}</text>'
        for tick in (0, 0.25, 0.5, 0.75, 1)
    )
    legend, x = "", LABELS
    for kind in dict.fromkeys(row["kind"] for row in rows):
        legend += f'<g class="{kind}"><circle class="dot" cx="{x}" cy="{bottom + 32}" r="4.5"/></g>'
        legend += f'<text class="small" x="{x + 10}" y="{bottom + 36}">{KINDS[kind]}</text>'
        x += 30 + 7 * len(KINDS[kind])
    legend += f'<circle class="ring" cx="{x}" cy="{bottom + 32}" r="7"/><text class="small" x="{x + 14}" y="{bottom + 36}">selected</text>'
    caption = f"{origin}: {test['n']} untouched rows, {test['level']:.0%} intervals from {test['resamples']} resamples"
    lines = "\n".join(line(position, row, content["selected"]) for position, row in enumerate(rows))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 52}" role="img" aria-label="Leaderboard">
<style>{STYLE}</style>
<text class="title" x="16" y="24">{escape(content["case"]["title"])}: composite score of each strategy</text>
<text class="small" x="16" y="44">{escape(caption)}</text>
<text class="small" x="{LABELS + PLOT + 16}" y="{TOP - 16}">score</text>
<text class="small" x="{WIDTH - 16}" y="{TOP - 16}" text-anchor="end">among the best</text>
{grid}
{lines}
{legend}
</svg>
"""


if __name__ == "__main__":
    sys.stdout.write(draw(json.loads((Path(sys.argv[1]) / "run.json").read_text(encoding="utf-8"))))
