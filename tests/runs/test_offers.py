"""Slates of a decision case's own E: untouched rows are offered lists of its actions."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import yaml

from accordant.slates.case import read_slates
from accordant.errors import InputError, UnknownNameError
from accordant.slates import offers
from accordant.runs.execution import RunOptions, build_policy, case_data, located_signals, split
from accordant.slates.offers import market_of_offers
from accordant.slates.rule import rules
from accordant.slates.market import serve


@pytest.fixture(scope="module")
def offered(cases, tmp_path_factory):
    """Return a function from the keys of ``slates`` to its market."""
    folder = tmp_path_factory.mktemp("offers")
    (folder / "own.csv").write_bytes((cases["own"].parent / "own.csv").read_bytes())
    declared = yaml.safe_load(cases["own"].read_text())

    def read(weights=None, **slates):
        """Read the case with other slates."""
        keys = copy.deepcopy(declared) | {"slates": slates}
        if weights:
            keys["problem"]["stakeholders"] = [{"name": name, "weight": weight} for name, weight in weights.items()]
        (folder / "own.yaml").write_text(yaml.safe_dump(keys))
        case, problem, beside = read_slates(folder / "own.yaml")
        return problem, case.slates, 7, None, beside

    return read


@pytest.fixture(scope="module")
def source(offered):
    """A market of all untouched rows, five a day."""
    return market_of_offers(*offered(user="Applicant", parameters={"per_day": 5}, parties={"Bank": {"floor": 0.4}}))


def test_untouched_rows_are_served_in_order(source, offered):
    problem, _, seed, _, beside = offered()
    options = RunOptions(seed=seed)
    loaded = case_data(problem, beside, options, located_signals(problem, beside, options))
    train, test = split(loaded, problem.evaluation.test_size, seed)
    batches = source.market.batches
    assert [batch.n_users for batch in batches] == [5, 5, 5, 3] and [batch.day for batch in batches] == [0, 1, 2, 3]
    assert [each for batch in batches for each in batch.ids] == [f"row {t}" for t in range(1, 19)]
    done = np.concatenate([batch.targets for batch in batches], axis=1)
    assert np.array_equal(done.argmax(axis=0), test.log.actions) and (done.sum(axis=0) == 1).all()
    assert source.market.catalogue.items == ("yes", "no")
    assert source.market.catalogue.popularity.tolist() == np.bincount(train.log.actions).tolist()
    assert not source.simulated and source.label.startswith("own.csv (sha256 ") and len(source.sha256) == 64


def test_e_is_that_of_the_cases_models(source, offered):
    """The same models, fitted by hand on the training rows, say what each row finds."""
    problem, _, seed, _, beside = offered()
    options = RunOptions(seed=seed)
    signals = located_signals(problem, beside, options)
    train, test = split(case_data(problem, beside, options, signals), problem.evaluation.test_size, seed)
    policy = build_policy(problem, options)
    policy.fit_log(train.log, signals)
    expected = policy.expected_rewards(test.log.contexts)
    served = serve(rules.create("utilitarian_slate"), source.market, 1)
    assert np.array_equal(served.candidates.values, expected.values)
    relevance = np.concatenate([batch.relevance for batch in source.market.batches], axis=1)
    assert np.array_equal(relevance, expected.of("Applicant"))
    again = source.market.batches[1].take(np.array([3, 0]))
    assert np.array_equal(source.market.expected(again, served.states[0]).values, expected.values[:, :, [8, 5]])
    assert f"learned from {len(train.log)} rows" in source.notes[0]


def test_without_a_user_relevance_is_the_mean(offered):
    market = market_of_offers(*offered(parameters={"requests": 4})).market
    found = market.expected(market.batches[0], None).values
    assert np.allclose(market.batches[0].relevance, found.mean(axis=0)) and market.user_stakeholder is None
    assert [batch.n_users for batch in market.batches] == [4]


@pytest.mark.long
def test_weights_are_the_problems_unless_parties_have_their_own(offered):
    weights = {"Bank": 2.0, "Applicant": 3.0}
    found = market_of_offers(*offered(weights, parties={"Bank": {"floor": 0.4}, "Applicant": {"weight": 0.5}})).market
    assert found.weights == {"Bank": 2.0, "Applicant": 0.5} and found.floors == {"Bank": 0.4}
    assert market_of_offers(*offered(weights)).market.weights == weights


def test_learning_from_fewer_rows_serves_the_same(source, offered):
    few = market_of_offers(*offered(parameters={"per_day": 5, "learn_from": 40}))
    assert "learned from 40 rows" in few.notes[0]
    for one, other in zip(few.market.batches, source.market.batches, strict=True):
        assert np.array_equal(one.targets, other.targets) and one.ids == other.ids
    first, second = (each.market.expected(each.market.batches[0], None).values for each in (few, source))
    assert not np.array_equal(first, second)


def test_rows_of_a_day_are_served_in_batches(offered):
    market = market_of_offers(*offered(parameters={"per_day": 7, "batch": 3})).market
    assert [(b.day, b.n_users) for b in market.batches] == [
        (0, 3),
        (0, 3),
        (0, 1),
        (1, 3),
        (1, 3),
        (1, 1),
        (2, 3),
        (2, 1),
    ]
    assert [each for batch in market.batches for each in batch.ids] == [f"row {t}" for t in range(1, 19)]


@pytest.mark.long
def test_what_is_full_closes(offered):
    """With one place a day for ``yes``, and one visit of a list of one, the second row of a day is offered ``no``."""
    keys = {"parameters": {"per_day": 6, "batch": 1}, "capacity": {"yes": 1}}
    rule = rules.create("per_item", {"strategy": {"name": "utilitarian"}})
    market = market_of_offers(*offered(**keys, close_when_full=True)).market
    shown = serve(rule, market, 1).slates.items[:, 0].reshape(3, 6)
    assert ((shown == 0).sum(axis=1) <= 1).all()
    free = serve(rule, market_of_offers(*offered(**keys)).market, 1).slates.items[:, 0].reshape(3, 6)
    assert ((free == 0).sum(axis=1) > 1).any()


def test_closed_actions_are_not_offered(offered):
    market = market_of_offers(*offered(capacity={"yes": 0.0})).market
    served = serve(rules.create("utilitarian_slate"), market, 2)
    assert {served.slates.names(user) for user in range(18)} == {("no",)}


@pytest.mark.parametrize(
    ("slates", "error", "words"),
    [
        ({"parameters": {"request": 3}}, InputError, "unknown parameter 'request'.*did you mean 'requests'"),
        ({"parameters": {"requests": 0}}, InputError, "requests is 0; allowed: a whole number of at least 1"),
        ({"parameters": {"per_day": True}}, InputError, "per_day is True"),
        ({"parameters": {"batch": 2.5}}, InputError, "batch is 2.5"),
        ({"parameters": {"learn_from": "all"}}, InputError, "learn_from is 'all'"),
        ({"parties": {"Bnak": {}}}, UnknownNameError, "unknown party 'Bnak'; did you mean 'Bank'"),
        ({"user": "Aplicant"}, UnknownNameError, "unknown user 'Aplicant'; did you mean 'Applicant'"),
        ({"capacity": {"yess": 1}}, UnknownNameError, "unknown item in capacity: 'yess'; did you mean 'yes'"),
    ],
)
def test_what_does_not_exist_is_refused_before_models_are_fitted(offered, monkeypatch, slates, error, words):
    def fitted(*given):
        """Fail: it is too late."""
        raise AssertionError("models were fitted")

    monkeypatch.setattr(offers, "build_policy", fitted)
    with pytest.raises(error, match=words):
        market_of_offers(*offered(**slates))
