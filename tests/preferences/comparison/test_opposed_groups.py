"""Declared groups of nearly equal size whose rewards foretell each other worse than a coin."""

from __future__ import annotations

import math

import numpy as np

from accordant.preferences.comparison.opposed_groups import opposed_words
from accordant.preferences.groups import groups_of
from accordant.preferences.records import Comparisons


def world(seed, *, users=20, few=9, opposed=True, taste=1.5):
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(users), 24)
    n = len(who)
    items = generator.normal(size=(2 * n, 2))
    sign = np.where(opposed & (who < few), -1.0, 1.0)
    margin = taste * sign * (items[:n] - items[n:])[:, 0]
    first = generator.random(n) < 1 / (1 + np.exp(-margin))
    one, other = np.arange(n), np.arange(n, 2 * n)
    groups = ("few",) * few + ("most",) * (users - few)
    names = tuple(map(str, range(users)))
    made = Comparisons(items, np.where(first, one, other), np.where(first, other, one), who, names, groups)
    training = np.arange(n) % 2 == 0
    found = groups_of(made, declared=None, declared_from="", imposed=False, generator=generator)
    return made.take(training), made.take(~training), found, 0.01


def test_opposed_groups_of_nearly_equal_size_are_named():
    (said,) = opposed_words(*world(0))
    assert said.startswith("most (55% of the users of the two) and few want opposite things")


def test_others_are_not():
    assert opposed_words(*world(0, opposed=False)) == []
    assert opposed_words(*world(0, few=5)) == []  # a clear majority
    assert opposed_words(*world(0, users=8, few=4)) == []  # 4 users are too few to say anything of


def test_where_nobody_wants_anything_it_is_seldom_said():
    worlds = 60
    wrong = sum(bool(opposed_words(*world(seed, taste=0.0))) for seed in range(worlds))
    assert wrong / worlds <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / worlds)
