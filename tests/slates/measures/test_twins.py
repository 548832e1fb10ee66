"""Every measure against a slow loop over requests in plain Python, on random markets."""

import itertools
import math

import numpy as np
import pytest

from accordant.slates import measures
from accordant.slates.measures import DailyMeasure, SlateMeasure

NAN = float("nan")


def mean(values):
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else NAN


def lists(served):
    return [[item for item in row if item >= 0] for row in served.slates.items.tolist()]


def attained_of(served, i, u):
    """Where the list lies between the stakeholder's worst and best list of that length."""
    values, chosen = served.candidates.values[i, :, u].tolist(), lists(served)[u]
    may = sorted(values[c] for c in range(len(values)) if served.candidates.available[c, u])
    if not chosen or may[-len(chosen) :] == may[: len(chosen)]:
        return NAN
    low, high = sum(may[: len(chosen)]), sum(may[-len(chosen) :])
    return (sum(values[c] for c in chosen) - low) / (high - low)


def attained_with_weight(served):
    return [i for i, weight in enumerate(served.candidates.weights) if weight > 0]


def requests(served):
    return range(served.slates.n_users)


def per_list(function):
    def twin(served):
        found = []
        for u in requests(served):
            values = [attained_of(served, i, u) for i in attained_with_weight(served)]
            known = [value for value in values if not math.isnan(value)]
            found.append(function(known) if known else NAN)
        return mean(found)

    return twin


def of_means(function):
    def twin(served):
        means = [mean(attained_of(served, i, u) for u in requests(served)) for i in attained_with_weight(served)]
        known = [value for value in means if not math.isnan(value)]
        return function(known) if known else NAN

    return twin


def gini(values):
    total = sum(values)
    if not total:
        return NAN
    return sum(abs(a - b) for a in values for b in values) / (2 * len(values) * total)


def nash(values):
    return math.prod(values) ** (1 / len(values))


def average(values):
    return sum(values) / len(values)


def utility(served):
    return mean(
        average([served.candidates.values[0, c, u] for c in chosen]) if chosen else NAN
        for u, chosen in enumerate(lists(served))
    )


def regret(served):
    found = []
    for u, chosen in enumerate(lists(served)):
        values = served.candidates.values[0, :, u]
        may = sorted(values[served.candidates.available[:, u]])
        found.append((sum(may[-len(chosen) :]) - sum(values[chosen])) / len(chosen) if chosen else NAN)
    return mean(found)


def floor_violations(served, names=("s0", "s2")):
    found = []
    for u in requests(served):
        pairs = [(attained_of(served, int(name[1]), u), served.market.floors[name]) for name in names]
        known = [(value, floor) for value, floor in pairs if not math.isnan(value)]
        found.append(any(value < floor - 1e-9 for value, floor in known) if known else NAN)
    return mean(found)


def relevance(score):
    def twin(served):
        found = []
        for u, chosen in enumerate(lists(served)):
            wanted = set(np.flatnonzero(served.targets[:, u]))
            found.append(score([c in wanted for c in chosen], len(wanted), served.slates.k) if wanted else NAN)
        return mean(found)

    return twin


def ndcg(hits, wanted, k):
    gained = sum(1 / math.log2(2 + rank) for rank, hit in enumerate(hits) if hit)
    return gained / sum(1 / math.log2(2 + rank) for rank in range(min(k, wanted)))


def consumed_value(consumed):
    """Everything that may please, each in turn, by the chance of it."""

    def of_request(served, u):
        candidates, chosen = served.candidates, lists(served)[u]
        if not chosen:
            return NAN
        weights = candidates.weights / candidates.weights.sum()
        types = [code if code >= 0 else f"alone {item}" for item, code in enumerate(candidates.categories)]
        user = served.market.stakeholders.index(served.market.user_stakeholder)
        may = [item for item in range(len(types)) if candidates.available[item, u]]
        mass = {}
        for item in may:
            mass[types[item]] = mass.get(types[item], 0.0) + candidates.values[user, item, u]
        total = sum(mass.values())
        wanted = {t: each / total if total else 1 / len(mass) for t, each in mass.items()}
        value = 0.0
        for t, p in wanted.items():
            chances = [float(weights @ candidates.values[:, item, u]) for item in chosen if types[item] == t]
            for pleases in itertools.product((False, True), repeat=len(chances)):
                odds = math.prod(q if yes else 1 - q for q, yes in zip(chances, pleases, strict=True))
                value += p * odds * min(consumed, sum(pleases))
        return value / consumed

    return lambda served: mean(of_request(served, u) for u in requests(served))


def exposure(served):
    found = [0.0] * served.market.catalogue.n_items
    for chosen in lists(served):
        for rank, item in enumerate(chosen):
            found[item] += 1 / math.log2(2 + rank)
    return found


def open_items(served):
    return [c for c, capacity in enumerate(served.market.catalogue.capacity) if capacity > 0]


def exposure_gini(served):
    return gini([exposure(served)[c] for c in open_items(served)])


def exposure_gap(names, due):
    def twin(served):
        groups = getattr(served.market.catalogue, names)
        sums, shares = {}, {}
        for c in open_items(served):
            if groups[c] is not None:
                sums[groups[c]] = sums.get(groups[c], 0.0) + exposure(served)[c]
                shares[groups[c]] = shares.get(groups[c], 0.0) + due(served.market.catalogue, c)
        if due is equal:
            shares = dict.fromkeys(shares, 1.0)
        counted = [name for name, share in shares.items() if share > 0]
        given, all_due = sum(sums[name] for name in counted), sum(shares[name] for name in counted)
        if len(counted) < 2 or not given:
            return NAN
        ratios = [sums[name] / given / (shares[name] / all_due) for name in counted]
        return max(ratios) - min(ratios)

    return twin


def equal(catalogue, item):
    return 1.0


def popular(catalogue, item):
    return catalogue.popularity[item]


def coverage(served):
    return len({c for chosen in lists(served) for c in chosen}) / len(open_items(served))


def long_tail_share(served):
    popularity = served.market.catalogue.popularity.tolist()
    head, held = set(), 0.0
    for c in sorted(range(len(popularity)), key=lambda c: (-popularity[c], c)):
        if held >= 0.8 * sum(popularity) - 1e-9:
            break
        head.add(c)
        held += popularity[c]
    given = exposure(served)
    return sum(given[c] for c in range(len(given)) if c not in head) / sum(given)


def popularity_lift(consumed):
    def twin(served):
        popularity, above, below = served.market.catalogue.popularity, [], []
        for u, chosen in enumerate(lists(served)):
            times = consumed(served)[:, u]
            if times.any() and chosen:
                above.append(average([popularity[c] for c in chosen]))
                below.append(sum(popularity * times) / sum(times))
        return average(above) / average(below)

    return twin


def overload(served):
    load = {}
    for u in requests(served):
        for c in range(served.market.catalogue.n_items):
            place = served.days[u], c
            load[place] = load.get(place, 0.0) + served.visits[c, u]
    beyond = sum(max(0.0, visits - served.market.catalogue.capacity[c]) for (_, c), visits in load.items())
    return beyond / sum(load.values())


def in_category(function):
    def twin(served):
        names = served.market.catalogue.category
        found = []
        for u, chosen in enumerate(lists(served)):
            known = {names[c] for c in np.flatnonzero(served.history[:, u])}
            found.append(function([names[c] for c in chosen if names[c] is not None], known - {None}))
        return mean(found)

    return twin


def concentration(names, known):
    return sum(a == b for a in names for b in names) / len(names) ** 2 if names else NAN


def diversity(names, known):
    pairs = [a != b for i, a in enumerate(names) for b in names[:i]]
    return average(pairs) if pairs else NAN


def overlap(names, known):
    return average([name in known for name in names]) if names and known else NAN


def distance(served):
    catalogue = served.market.catalogue
    here = [place for batch in served.market.batches for place in zip(batch.latitude, batch.longitude, strict=True)]
    found = []
    for u, chosen in enumerate(lists(served)):
        away = []
        for c in chosen:
            a, b, x, y = map(math.radians, (here[u][0], catalogue.latitude[c], here[u][1], catalogue.longitude[c]))
            dot = math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(x - y)
            away.append(NAN if math.isnan(dot) else 6371.0088 * math.acos(max(-1.0, min(1.0, dot))))
        found.append(mean(away))
    return mean(found)


def closed_places(served):
    found = []
    for u in requests(served):
        chosen = [c for c in served.slates.items[u] if c >= 0]
        shut = [c for c in chosen if not served.candidates.available[c, u]]
        found.append(len(shut) / len(chosen) if chosen else NAN)
    return mean(found)


TWINS = [
    ("utility", {"stakeholder": "s0"}, utility),
    ("regret", {"stakeholder": "s0"}, regret),
    ("attained", {"stakeholder": "s1"}, lambda served: mean(attained_of(served, 1, u) for u in requests(served))),
    ("floor_violations", {}, floor_violations),
    ("floor_violations", {"stakeholder": "s2"}, lambda served: floor_violations(served, ("s2",))),
    ("misery", {"line": 0.5}, per_list(lambda values: float(min(values) < 0.5 - 1e-9))),
    ("min_attained", {}, per_list(min)),
    ("mean_attained", {}, per_list(average)),
    ("nash_attained", {}, per_list(nash)),
    ("gini_attained", {}, per_list(gini)),
    ("worst_off", {}, of_means(min)),
    ("mean_of_means", {}, of_means(average)),
    ("nash_of_means", {}, of_means(nash)),
    ("gini_of_means", {}, of_means(gini)),
    ("ndcg", {}, relevance(ndcg)),
    ("recall", {}, relevance(lambda hits, wanted, k: sum(hits) / wanted)),
    ("hit_rate", {}, relevance(lambda hits, wanted, k: float(any(hits)))),
    ("consumed_value", {}, consumed_value(1)),
    ("consumed_value", {"consumed": 3}, consumed_value(3)),
    ("exposure_gini", {}, exposure_gini),
    ("provider_exposure_gap", {}, exposure_gap("provider", lambda catalogue, item: 1.0)),
    ("provider_exposure_gap", {"between": "category", "target": "popularity"}, exposure_gap("category", popular)),
    ("provider_exposure_gap", {"target": "equal"}, exposure_gap("provider", equal)),
    ("coverage", {}, coverage),
    ("long_tail_share", {}, long_tail_share),
    ("popularity_lift", {}, popularity_lift(lambda served: served.history)),
    ("popularity_lift", {"against": "targets"}, popularity_lift(lambda served: served.targets)),
    ("overload", {}, overload),
    ("category_concentration", {}, in_category(concentration)),
    ("intra_list_diversity", {}, in_category(diversity)),
    ("history_overlap", {}, in_category(overlap)),
    ("distance", {}, distance),
    ("closed_places", {}, closed_places),
]


@pytest.mark.parametrize(("name", "parameters", "twin"), TWINS)
def test_measure_against_loop(worlds, name, parameters, twin):
    measure, defined = measures.create(name, parameters), 0
    for served in worlds:
        found, right = measure.of(served), twin(served)
        assert found == pytest.approx(right, abs=1e-9, nan_ok=True)
        defined += not math.isnan(right)
        assert 0 <= measure.requests(served) <= served.slates.n_users
    assert defined >= 3  # the twin says something in nearly all markets


def test_every_measure_has_a_twin():
    assert {name for name, _, _ in TWINS} == set(measures.names())


@pytest.mark.parametrize(("name", "parameters", "twin"), TWINS)
def test_sums_over_requests_are_enough(worlds, name, parameters, twin):
    """Columns are finite, add up to the measure, and several resamples at once give what each gives."""
    del twin
    measure = measures.create(name, parameters)
    for served in worlds:
        columns = measure.columns(served)
        assert columns.shape[1] == served.slates.n_users
        assert np.isfinite(columns).all()
        weights = np.random.default_rng(0).integers(0, 3, (2, 4, served.slates.n_users)).astype(float)
        every = measure.value(weights @ columns.T, served)
        assert every.shape == (2, 4)
        single = [[float(measure.value(columns @ row, served)) for row in part] for part in weights]
        np.testing.assert_allclose(every, single, rtol=1e-12)
        assert float(measure.value(columns.sum(axis=1), served)) == pytest.approx(measure.of(served), nan_ok=True)


@pytest.mark.parametrize("name", measures.names())
def test_every_measure_says_what_it_is(name):
    described = measures.measures.factory(name)
    assert issubclass(described, SlateMeasure)
    assert described.goal in ("max", "min")
    assert described.about[0].islower()
    assert not described.about.endswith(".")


def test_parts_of_days_are_what_columns_of_days_give(worlds):
    measure = measures.create("overload")
    assert isinstance(measure, DailyMeasure)
    for served in worlds:
        assert len(measure.columns(served)) == 2 * served.market.catalogue.n_items  # two days
        assert measure.of(served) == pytest.approx(float(measure.value(measure.columns(served).sum(axis=1), served)))
