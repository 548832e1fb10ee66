"""The loader: requests with their past, nothing that was later is learned from, and sizes that do not fit."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.slates.cases.interactions import loader
from accordant.slates.cases.interactions.loader import interactions
from accordant.slates.cases.interactions.past import days_after, split_time
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.slates.relevance import recommenders

FACTORS = {"factors": 3, "regularisation": 1.0}


def together(demand, name):
    """Return one array of all batches."""
    return np.concatenate([getattr(batch, name) for batch in demand.batches], axis=1)


def ids(demand):
    return [each for batch in demand.batches for each in batch.ids]


def by_hand(events, items, share, repeat=False):
    """Return requests as plain Python finds them: id, day, history, targets."""
    rows = sorted((time, item, user) for user, item, time in set(events))
    latest = -(-len(rows) * share.numerator // share.denominator)
    start = rows[-latest][0]
    days = lambda text: (np.datetime64(text) - np.datetime64(start)).astype(int)  # noqa: E731
    groups = {}
    for time, item, user in rows:
        if time >= start:
            groups.setdefault((time, user), set()).add(item)
    found = []
    for (time, user), taken in sorted(groups.items()):
        past = Counter(item for t, item, u in rows if u == user and t < time)
        targets = {item for item in taken if item in items and (repeat or not past[item])}
        found.append((f"{user}/{days(time)}", int(days(time)), [past[item] for item in items], targets))
    return found, start


class Share:
    numerator, denominator = 2, 5


def test_requests_are_days_of_users_after_the_split(shop, events, items):
    demand = interactions(shop(items=items), 0, items="items.csv", test_share=0.4, recommender="popular")
    names = demand.catalogue.items
    assert names == ("cup", "pen", "ink", "pad", "box")
    expected, _ = by_hand(events, names, Share)
    assert ids(demand) == [each[0] for each in expected] == ["ann/0", "dan/0", "bob/1", "ann/3", "dan/3"]
    assert np.repeat([b.day for b in demand.batches], [b.n_users for b in demand.batches]).tolist() == [0, 0, 1, 3, 3]
    assert together(demand, "history").T.tolist() == [each[2] for each in expected]
    found = together(demand, "targets")
    assert [{names[c] for c in np.flatnonzero(column)} for column in found.T] == [each[3] for each in expected]
    assert np.array_equal(together(demand, "available"), together(demand, "history") == 0)
    assert demand.catalogue.popularity.tolist() == [1.0, 4.0, 2.0, 1.0, 0.0]
    assert demand.catalogue.capacity.tolist() == [2.0, np.inf, 0.0, np.inf, 1.0]
    assert demand.facts["cold_requests"] == 1 and demand.facts["requests_by_users_not_learned_from"] == 2
    assert demand.facts["learned_from"] == 8 and demand.facts["taken_again"] == 3
    assert demand.facts["requests_without_target"] == 2
    words = " ".join(demand.notes)
    assert "Time is split at 2024-01-09: 8 interactions before" in words and "3 items were taken again" in words
    assert "MADE UP" not in words and "session" not in words


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(["p", "q", "r", "s"]), st.integers(0, 9)),
        min_size=5, max_size=30, unique=True,
    ),
    st.booleans(),
)  # fmt: skip
def test_requests_equal_those_by_hand(tmp_path_factory, rows, repeat):
    events = [(user, item, f"2024-03-{day + 1:02}") for user, item, day in rows]
    path = tmp_path_factory.mktemp("hand") / "x.csv"
    path.write_text("user,item,time\n" + "".join(",".join(each) + "\n" for each in events))
    _, start = by_hand(events, [], Share)
    learned = sorted({item for _, item, time in events if time < start})
    if not learned:
        with pytest.raises(DataError, match="nothing to learn from"):
            interactions(path, 0, test_share=0.4)
        return
    demand = interactions(path, 0, test_share=0.4, recommender="neighbours", repeat=repeat)
    assert list(demand.catalogue.items) == learned
    expected, _ = by_hand(events, learned, Share, repeat)
    assert ids(demand) == [each[0] for each in expected]
    assert together(demand, "history").T.tolist() == [each[2] for each in expected]
    found = [{learned[c] for c in np.flatnonzero(column)} for column in together(demand, "targets").T]
    assert found == [each[3] for each in expected]


@pytest.mark.parametrize("name", ["popular", "factorisation", "neighbours", "transitions"])
def test_nothing_later_is_learned_from(shop, events, items, name):
    """Change everything after the split: relevance of the first request, popularity and items stay."""
    parameters = FACTORS if name == "factorisation" else {}
    given = {"items": "items.csv", "test_share": 0.4, "recommender": name, "recommender_parameters": parameters}
    first = interactions(shop(items=items), 3, **given)
    changed = events[:8] + [(user, "box", time) for user, _, time in events[8:]] + [("eve", "box", "2024-01-09")]
    again = interactions(shop(changed, items=items), 3, **(given | {"test_share": 6 / 14}))
    assert again.facts["split"] == first.facts["split"]
    assert np.array_equal(again.catalogue.popularity, first.catalogue.popularity)
    for request in ("ann/0", "dan/0", "bob/1"):
        before, after = (together(each, "relevance")[:, ids(each).index(request)] for each in (first, again))
        assert np.array_equal(before, after)


def test_relevance_is_that_of_the_recommender(shop):
    demand = interactions(shop(), 0, test_share=0.4, recommender="popular")
    assert demand.catalogue.items == ("cup", "ink", "pad", "pen")
    assert together(demand, "relevance").T.tolist() == [[0.25, 0.5, 0.25, 1.0]] * 5


def test_the_last_item_is_where_a_request_starts(shop):
    """After a comes b and after c comes d, whoever it is: so a newcomer's second request is no longer like the first."""
    rows = [(f"u{u}", item, f"2024-01-{day:02}") for u in range(6)
            for item, day in ((("a", 1), ("b", 2)) if u % 2 else (("c", 1), ("d", 2)))]  # fmt: skip
    rows += [("new", "c", "2024-02-01"), ("new", "a", "2024-02-02"), ("new", "x", "2024-02-03")]
    demand = interactions(shop(rows), 0, test_share=0.2, recommender="transitions",
                          recommender_parameters={"smoothing": 0.1})  # fmt: skip
    assert ids(demand) == ["new/0", "new/1", "new/2"]
    first, second, third = together(demand, "relevance").T
    assert len(set(first.tolist())) == 1
    assert [demand.catalogue.items[int(np.argmax(each))] for each in (second, third)] == ["d", "b"]


def test_weights_count(shop):
    rows = [("u", "a", "2024-01-01", "2.5"), ("v", "b", "2024-01-02", "1"), ("u", "b", "2024-01-03", "4")]
    demand = interactions(shop(rows, ("user", "item", "time", "weight")), 0, recommender="popular")
    assert demand.catalogue.popularity.tolist() == [2.5, 1.0] and demand.facts["weighted"]
    assert together(demand, "history").T.tolist() == [[2.5, 0.0]]
    assert together(demand, "relevance").T.tolist() == [[1.0, 0.4]]


def test_sessions_are_requests(shop):
    rows = [("u", "a", "2024-01-01", "1"), ("v", "b", "2024-01-01", "1"), ("u", "b", "2024-01-05T10:00:00", "2"),
            ("u", "c", "2024-01-05T11:00:00", "3"), ("u", "a", "2024-01-06", "3")]  # fmt: skip
    demand = interactions(shop(rows, ("user", "item", "time", "session")), 0, test_share=0.6, repeat=True)
    assert ids(demand) == ["u/2", "u/3"] and [batch.day for batch in demand.batches] == [0]
    assert together(demand, "history").T.tolist() == [[1, 0], [1, 1]]
    assert together(demand, "targets").T.tolist() == [[False, True], [True, False]]  # c was never seen before
    assert demand.facts["taken_of_no_candidate"] == 1 and "in one session" in demand.notes[0]


def test_items_that_may_be_shown_again(shop):
    once, again = (interactions(shop(), 0, test_share=0.4, repeat=repeat) for repeat in (False, True))
    never = "Nobody is shown an item that they took before; what they took again is no target."
    assert never in once.notes and never not in again.notes
    assert together(again, "available").all() and not together(once, "available").all()
    assert together(again, "targets").sum() - together(once, "targets").sum() == once.facts["taken_again"] == 3
    assert again.facts["taken_again"] == 0


@pytest.mark.parametrize(("name", "lowest"), [("requests", 1), ("requests_per_day", 1), ("batch", 1), ("least", 0)])
def test_the_least_numbers_are_allowed(shop, name, lowest):
    demand = interactions(shop(), 0, test_share=0.4, **{name: lowest})
    requests = sum(batch.n_users for batch in demand.batches)
    assert requests == 1 if name == "requests" else requests > 1


def test_rare_items_are_no_candidates(shop, items):
    demand = interactions(shop(items=items), 0, items="items.csv", test_share=0.4, least=2)
    assert demand.catalogue.items == ("pen", "ink") and demand.catalogue.popularity.tolist() == [4.0, 2.0]
    assert demand.facts["learned_from"] == 6 and demand.facts["taken_of_no_candidate"] == 1
    with pytest.raises(DataError, match="no item was taken 5 times before 2024-01-09, the most 4 times"):
        interactions(shop(), 0, test_share=0.4, least=5)


def test_days_are_those_of_the_calendar_or_made_up(shop):
    assert [b.day for b in interactions(shop(), 0, test_share=0.4, batch=1).batches] == [0, 0, 1, 3, 3]
    made_up = interactions(shop(), 0, test_share=0.4, requests_per_day=3, batch=2)
    assert [(b.day, b.n_users) for b in made_up.batches] == [(0, 2), (0, 1), (1, 2)]
    assert made_up.notes[0].startswith("DAYS ARE MADE UP: 3 consecutive requests")
    assert ids(made_up) == ids(interactions(shop(), 0, test_share=0.4))


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_batches_change_nothing_but_batches(shop, batch):
    first, other = (
        interactions(shop(), 0, test_share=0.4, batch=b, recommender_parameters=FACTORS) for b in (16, batch)
    )
    assert ids(first) == ids(other)
    for name in ("history", "available", "targets"):
        assert np.array_equal(together(first, name), together(other, name))
    assert np.allclose(together(first, "relevance"), together(other, "relevance"), rtol=0, atol=1e-12)


def test_the_first_requests(shop):
    demand = interactions(shop(), 0, test_share=0.4, requests=2)
    assert ids(demand) == ["ann/0", "dan/0"] and demand.facts["requests"] == 2


def test_sizes_that_do_not_fit_are_refused(shop, monkeypatch):
    monkeypatch.setattr(loader, "MOST_CELLS", 11)
    with pytest.raises(
        DataError, match=r"4 items × 5 requests are 20 pairs; allowed: 11\. .*requests: 2 keeps the first"
    ):
        interactions(shop(), 0, test_share=0.4)
    assert len(ids(interactions(shop(), 0, test_share=0.4, requests=2))) == 2


def test_undeclared_items_are_left_out_or_too_many(shop, events, items):
    rows = [*events, *(("zoe", "pen", f"2023-12-{day:02}") for day in range(1, 8)), ("zoe", "hat", "2023-12-09")]
    demand = interactions(shop(rows, items=items), 0, items="items.csv", test_share=0.25)
    assert demand.facts["undeclared_items"] == 1 and "hat" not in demand.catalogue.items
    assert any("1 interactions are with items that the table of items does not have" in each for each in demand.notes)
    with pytest.raises(DataError, match=r"sales.csv: 4 of 14 .* such as 'ink'; allowed: 10% of them"):
        interactions(shop(items=items[:2] + items[3:]), 0, items="items.csv")


def test_provenance_covers_both_tables(shop, items):
    import hashlib

    path = shop(items=items)
    facts = interactions(path, 0, items="items.csv").facts
    assert facts["items_sha256"] == hashlib.sha256(path.with_name("items.csv").read_bytes()).hexdigest()
    assert "items_sha256" not in interactions(path, 0).facts


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"test_share": 0}, "test_share is 0; allowed: above 0 and below 1"),
        ({"test_share": 1.0}, "test_share is 1.0"),
        ({"test_share": "half"}, "test_share is 'half'"),
        ({"test_share": True}, "test_share is True"),
        ({"batch": 0}, "batch is 0; allowed: a whole number of at least 1"),
        ({"requests": 0}, "requests is 0"),
        ({"requests_per_day": 2.5}, "requests_per_day is 2.5"),
        ({"least": -1}, "least is -1; allowed: a whole number of at least 0"),
        ({"least": True}, "least is True"),
        ({"repeat": "no"}, "repeat is 'no'; allowed: true or false"),
        ({"columns": {"price": "cost"}}, "columns names price, a column of the table of items"),
    ],
)
def test_parameters_out_of_range(shop, parameters, words):
    with pytest.raises(InputError, match=words):
        interactions(shop(), 0, **parameters)


def test_unknown_recommender(shop):
    with pytest.raises(UnknownNameError, match="unknown recommender 'popula'; did you mean 'popular'"):
        interactions(shop(), 0, recommender="popula")


def test_nothing_before_the_split(shop):
    with pytest.raises(DataError, match="nothing to learn from: none of 2 interactions was before 2024-01-01"):
        interactions(shop([("u", "a", "2024-01-01"), ("v", "b", "2024-01-01")]), 0)


def test_the_share_is_of_rows_and_days_are_of_the_calendar():
    times = np.arange(20.0)
    for share, first in ((0.15, 17.0), (0.3, 14.0), (0.01, 19.0), (0.95, 1.0), (0.151, 16.0)):
        assert split_time(times, share) == first
    assert split_time(np.arange(100.0), 0.07) == 93.0  # 0.07 × 100 is a little more than 7 in floating point
    assert split_time(np.array([0.0, 1.0, 1.0, 1.0, 2.0]), 0.4) == 1.0  # rows of one time stay together
    with pytest.raises(DataError, match="nothing to learn from"):
        split_time(times, 0.999)
    noon = 1704110400.0
    assert days_after(np.array([noon, noon + 43199, noon + 43200, noon + 129600]), noon).tolist() == [0, 0, 1, 2]


def test_the_seed_reaches_recommenders_that_draw(shop):
    demands = [interactions(shop(), seed, test_share=0.4, recommender_parameters=FACTORS) for seed in (1, 1, 2)]
    first, again, other = (together(each, "relevance") for each in demands)
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert "seed" in recommenders.create("factorisation").__dataclass_fields__


def test_a_file_beside_is_a_name_and_no_path(shop):
    for name in ("../items.csv", "", "a\0b"):
        with pytest.raises(InputError, match="cannot be part of a path"):
            interactions(shop(), 0, items=name)
