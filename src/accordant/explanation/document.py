"""The explanations of several decisions as one object that reports are made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accordant.explanation.explanation import Explanation
from accordant.explanation.influence import Influence, Pivotal

FORMAT = 1  # of the object; a reader of another format must refuse


def as_document(
    explanations: Sequence[Explanation],
    *,
    title: str = "Decisions explained",
    source: str = "",
    influence: Influence | None = None,
    pivotal: Pivotal | None = None,
) -> dict[str, Any]:
    """Return what `accordant.report.explained.render_explanation` draws, as plain values.

    Parameters
    ----------
    explanations
        One or more.
    title, source
        What was decided, and from which run or file.
    influence, pivotal
        Who moved the decisions of the whole batch, if that was asked.
    """
    from accordant import __version__

    return {
        "format": FORMAT,
        "version": __version__,
        "title": title,
        "source": source,
        "explanations": [each.to_json() for each in explanations],
        "influence": None if influence is None else influence.to_json(),
        "pivotal": None if pivotal is None else pivotal.to_json(),
    }
