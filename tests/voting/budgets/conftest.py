"""Small random elections, and what every test of a rule with costs needs to say about them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from accordant.voting import Election


def make(scores, costs, budget, weights=None, vote_type="cumulative", **facts):
    """An election with projects p0, p1, …"""
    scores = np.asarray(scores, dtype=np.float64)
    weights = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=np.float64)
    names = tuple(f"p{p}" for p in range(scores.shape[1]))
    return Election(names, np.asarray(costs, dtype=np.float64), float(budget), scores, weights, vote_type, **facts)


def random_election(generator, *, weighted=True, most=4):
    """Few costs and scores, so that ties are common; free and unaffordable projects; voters without a vote."""
    n_voters, n_projects = int(generator.integers(1, 9)), int(generator.integers(1, 8))
    scores = generator.integers(1, most, (n_voters, n_projects)) * (generator.random((n_voters, n_projects)) < 0.4)
    costs = generator.choice([0, 1, 2, 3, 4, 6, 2.5, 40], n_projects, p=[0.05, 0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05])
    weights = generator.integers(0, 4, n_voters) / 2 if weighted else np.ones(n_voters)
    if weighted:
        weights[generator.integers(n_voters)] += 1
    return make(scores, costs, float(generator.integers(0, 16)), weights)


def fractions(election):
    """Costs, budget, scores and weights as fractions, in plain lists."""
    exact = [[Fraction(each) for each in row] for row in election.scores.tolist()]
    costs, weights = ([Fraction(each) for each in given.tolist()] for given in (election.costs, election.weights))
    return costs, Fraction(election.budget), exact, weights


def votes(election, project):
    """Weight of the voters who gave a project anything."""
    return Fraction(float(election.weights @ election.approvals[:, project]))


def preference(election):
    """The key by which ties are broken: more votes, lower cost, order of the file."""
    return lambda project: (-votes(election, project), election.costs[project], project)


class Oracle:
    """An election as pabutools knows it, with our way to break ties."""

    def __init__(self, extra, election):
        rules, self.elections = extra("pabutools.rules"), extra("pabutools.election")
        ties, frac = extra("pabutools.tiebreaking"), extra("pabutools.fractions").frac
        self.rules, self.election = rules, election
        costs, budget, scores, _ = fractions(election)
        self.projects = [
            self.elections.Project(name, frac(cost.numerator, cost.denominator))
            for name, cost in zip(election.projects, costs, strict=True)
        ]
        self.instance = self.elections.Instance(self.projects, frac(budget.numerator, budget.denominator))
        self.approvals = self.elections.ApprovalProfile(
            [
                self.elections.ApprovalBallot([p for p, score in zip(self.projects, row, strict=True) if score])
                for row in scores
            ]
        )
        self.points = self.elections.CardinalProfile([
            self.elections.CardinalBallot({
                p: frac(s.numerator, s.denominator) for p, s in zip(self.projects, row, strict=True) if s
            })
            for row in scores
        ])  # fmt: skip
        key, place = preference(election), {name: at for at, name in enumerate(election.projects)}
        self.ties = ties.TieBreakingRule(lambda _instance, _profile, project: key(place[project.name]))

    def names(self, allocation):
        """Names of what is funded, in order."""
        return tuple(project.name for project in allocation)


@pytest.fixture
def oracle(extra):
    """Return a function from an election with weights of 1 to pabutools' view of it."""
    return lambda election: Oracle(extra, election)


@pytest.fixture(scope="session")
def budgets():
    """The functions of this file, for tests that are not in a package."""

    class Given:
        make, random_election, fractions, votes, preference = (
            staticmethod(each) for each in (make, random_election, fractions, votes, preference)
        )

    return Given
