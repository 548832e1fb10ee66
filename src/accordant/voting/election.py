"""`Election`: projects with costs, a budget, and what each voter would have of each project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError

VoteType = Literal["approval", "ordinal", "cumulative", "scoring", "choose-1"]


@dataclass(frozen=True, eq=False)
class Election:
    """A vote on what to spend a budget on. A committee of k is the same with costs of 1 and a budget of k.

    Attributes
    ----------
    projects
        Names, all different.
    costs
        At least 0, shape (project,), in the currency of the budget. A project may cost more than the budget; then no
        rule funds it.
    budget
        At least 0.
    scores
        At least 0, shape (voter, project): 1 for approved, points, or places below; 0 for what a voter left out.
    weights
        At least 0, shape (voter,).
    vote_type
        What the scores are.
    facts
        Further lines of the file's head.
    voter_facts
        Further columns on voters, such as ``age``: column to texts, one per voter, empty where nothing is known.
    project_facts
        Further columns on projects, such as ``name``: column to texts, one per project.
    """

    projects: tuple[str, ...]
    costs: NDArray[np.float64]
    budget: float
    scores: NDArray[np.float64]
    weights: NDArray[np.float64]
    vote_type: VoteType = "approval"
    facts: Mapping[str, str] = field(default_factory=dict)
    voter_facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    project_facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_voters, n_projects = self.scores.shape
        if len(self.projects) != n_projects or self.costs.shape != (n_projects,) or self.weights.shape != (n_voters,):
            raise InputError(
                f"{len(self.projects)} projects, {self.costs.shape} costs and {self.weights.shape} weights do not fit "
                f"scores of shape {self.scores.shape}, (voter, project)"
            )
        if len(set(self.projects)) < n_projects:
            raise InputError("names of projects repeat; allowed: different names")
        for name in ("costs", "scores", "weights"):
            given = getattr(self, name)
            if not np.isfinite(given).all() or (given < 0).any():
                raise InputError(f"{name} are wrong; allowed: finite numbers of at least 0")
        for name, expected in (("voter_facts", n_voters), ("project_facts", n_projects)):
            for column, texts in getattr(self, name).items():
                if len(texts) != expected:
                    raise InputError(f"{name}: {len(texts)} entries of {column!r}; allowed: {expected}")
        if not (np.isfinite(self.budget) and self.budget >= 0):
            raise InputError(f"the budget is {self.budget}; allowed: a finite number of at least 0")

    @property
    def approvals(self) -> NDArray[np.bool_]:
        """Whether a voter gave a project anything, shape (voter, project)."""
        return np.asarray(self.scores > 0)
