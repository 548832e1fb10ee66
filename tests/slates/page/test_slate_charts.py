"""Parts of the drawings of slates: places on a map, steps of load, labels that keep apart, bars that stand for many."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.report.charts.svg import Label, placed
from accordant.report.scale import number
from accordant.slates.page.gains import BARS, attention_chart, highest, parts
from accordant.slates.page.tradeoffs import front_chart
from accordant.slates.page.gains import SHADES, WIDE, attainment_table
from accordant.slates.page.maps import AVOIDED, LARGE, SMALL, legend, load_map, step_of
from accordant.slates.page.maps import EDGE, HIGH, MANY, WIDTH, centre, located, project
from accordant.slates.page.reading import BEST, SlateReading
from accordant.slates.page.render import _attention
from accordant.slates.page.summary import signed
from accordant.slates.evaluation.curves import PopularityCurve
from accordant.slates.result import ItemResult
from accordant.slates.page.gains import CURVE_TOP
from accordant.slates.page.gains import behind_chart, ever_behind, drawn_stakeholders

DEGREES = st.tuples(st.floats(-80, 80), st.floats(-179, 179))


def at(latitude, longitude, name="a"):
    return ItemResult(name=name, latitude=latitude, longitude=longitude)


def boxes(found):
    """Return the boxes of labels, with a width that no letter exceeds."""
    texts = re.findall(r'<text x="([-\d.]+)" y="([-\d.]+)"[^>]*text-anchor="(\w+)">([^<]*)</text>', "".join(found))
    left = {"start": 0.0, "middle": 0.5, "end": 1.0}
    return [
        (
            float(x) - left[anchor] * 6.5 * len(words),
            float(y) - 9,
            float(x) + (1 - left[anchor]) * 6.5 * len(words),
            float(y),
        )
        for x, y, anchor, words in texts
    ]


@given(st.lists(DEGREES, min_size=1, max_size=30))
def test_places_stay_on_the_map(places):
    items = [at(*each, name=str(k)) for k, each in enumerate(places)]
    found = project(items)
    for x, y in found.points.values():
        assert EDGE - 1e-6 <= x <= WIDTH - EDGE + 1e-6
        assert EDGE - 1e-6 <= y <= found.height - EDGE + 1e-6


def test_a_kilometre_is_as_long_to_the_east_as_to_the_north():
    latitude, north, east = 60.0, 0.01, 0.01 / math.cos(math.radians(60.0))
    found = project(
        [at(latitude - north, 0.0, "south"), at(latitude + north, 0.0, "north"), at(latitude, east, "east")]
    )
    (x0, y0), (_, y1), (x2, y2) = (found.points[name] for name in ("south", "north", "east"))
    assert (y0 - y1) / 2 == pytest.approx(x2 - x0, rel=1e-6)
    assert y2 == pytest.approx((y0 + y1) / 2)
    assert (y0 - y1) / found.unit == pytest.approx(2 * north * 111.32)


def test_one_place_stands_in_the_middle():
    found = project([at(55.0, -3.0)])
    assert found.points["a"] == (WIDTH / 2, found.height / 2)


def test_items_need_both_coordinates():
    assert located([at(1.0, None), at(None, 1.0), at(0.0, 0.0, "kept")]) == [at(0.0, 0.0, "kept")]


def test_a_dense_centre_gets_its_own_map():
    near = [at(55.0 + 0.001 * k, -3.0 + 0.001 * (k % 3), str(k)) for k in range(MANY)]
    far = at(56.0, -4.0, "far")
    assert centre([*near, far]) == near
    assert centre(near) == []
    assert centre([*near[:5], far]) == []
    assert centre([at(55.0, -3.0, str(k)) for k in range(MANY)]) == []


@pytest.mark.parametrize(
    ("peak", "step"),
    [
        (None, "load-free"),
        (0.0, "load-0"),
        (0.5, "load-0"),
        (1.0, "load-1"),
        (1.0001, "load-2"),
        (2.0, "load-2"),
        (2.5, "load-3"),
    ],
)
def test_steps_of_load(peak, step):
    assert step_of(peak) == step


@given(st.integers(0, 3000))
def test_bars_hold_every_item_once(n_items):
    found = parts(n_items)
    assert [rank for part in found for rank in part] == list(range(n_items))
    assert len(found) == min(n_items, BARS)
    sizes = {len(part) for part in found}
    assert not sizes or max(sizes) - min(sizes) <= 1


def test_the_axis_holds_what_a_bar_adds_up():
    items = tuple(map(str, range(120)))
    share = PopularityCurve(
        items=items, popularity=(1 / 120,) * 120, exposure=(0.0,) * 118 + (0.5, 0.5), lorenz=(), gini=None
    )
    assert highest([share]) == 1.0
    nothing = PopularityCurve(items=("a",), popularity=(None,), exposure=(None,), lorenz=(None,), gini=None)
    assert highest([nothing]) == 1.0


def test_labels_of_marks_in_a_row_keep_apart():
    labels = [Label(100 + 4 * k, 100, f"label {k}") for k in range(6)]
    found = boxes(placed(labels, [(label.x - 5, 95, label.x + 5, 105) for label in labels], (0, 0, 360, 300)))
    assert len(found) == len(labels)
    for k, a in enumerate(found):
        for b in found[k + 1 :]:
            assert min(a[2], b[2]) <= max(a[0], b[0]) or min(a[3], b[3]) <= max(a[1], b[1])


def test_labels_stay_inside_the_frame_and_leave_the_mark_free():
    inside = boxes(placed([Label(355, 5, "reference"), Label(4, 295, "chosen")], [], (0, 0, 360, 300)))
    assert all(left >= 0 and top >= 0 and right <= 360 and bottom <= 300 for left, top, right, bottom in inside)
    ((left, *_),) = boxes(placed([Label(100, 100, "large", radius=30.0)], [], (0, 0, 360, 300)))
    assert left >= 130


def test_a_label_far_from_its_mark_has_a_line():
    wall = [(60.0, 60.0, 140.0, 140.0)]
    assert "leader" in "".join(placed([Label(100, 100, "x")], wall, (0, 0, 360, 300)))
    assert "leader" not in "".join(placed([Label(100, 100, "x")], [], (0, 0, 360, 300)))


@pytest.mark.parametrize(
    ("value", "words"), [(0.25, "+0.250"), (-0.25, "−0.250"), (0.0, "0.000"), (0.0001, "0.000"), (None, "not defined")]
)
def test_signs(value, words):
    assert signed(value) == words


def test_marked_rules_are_told_by_their_roles(situations):
    reading = SlateReading(situations("tiny"))
    assert {role: line.name for line in reading.marked for role in line.roles} == {
        "reference": "stakeholder:Visitor", "chosen": "borda", "first": "stakeholder:Visitor", "drawn at random": "random_slate",
    }  # fmt: skip
    assert [line.name for line in reading.compared] == ["stakeholder:Visitor", "borda"]
    alone = SlateReading(situations("nobody is the user"))
    assert [line.name for line in alone.compared] == ["stakeholder:Visitor", "random_slate"]
    assert [line.position for line in reading.lines] == list(range(1, len(reading.lines) + 1))


def test_folding_keeps_every_rule_once_and_marked_ones_in_sight(situations):
    reading = SlateReading(situations("many rules"))
    shown, rest = reading.folded(reading.lines)
    assert sorted(line.position for line in (*shown, *rest)) == [line.position for line in reading.lines]
    assert {line.name for line in reading.marked} <= {line.name for line in shown}
    assert not reading.lines[4].roles  # so that it stands unfolded by its place alone, if at all
    assert [line.position for line in reading.folded(reading.lines, 4)[0]] == [
        line.position for line in reading.lines if line.position <= 4 or line.roles
    ]
    assert reading.folded(reading.lines[:6], 4) == (list(reading.lines[:6]), [])
    assert reading.folded(reading.lines[:7], 4)[1] != []
    found = attainment_table(reading)
    names = [line.name for line, _ in (*found.shown, *found.rest)]
    assert sorted(names) == sorted(line.name for line in reading.lines)
    assert not any(line.family == "baseline" for line, _ in found.rest)
    others = [line.name for line in reading.lines if line.family != "baseline" and not line.roles]
    assert [line.name for line, _ in found.shown if line.name in others] == others[:BEST]


def test_the_front_marks_who_is_not_dominated(situations):
    content = situations("tiny")
    reading = SlateReading(content)
    drawn = str(front_chart("front", reading.lines, ("user attained", "worst off"), "Visitor"))
    free = [line.name for line in reading.lines if line.standing.on_front]
    assert f"Not dominated: {', '.join(free)}. The reference is the list of Visitor alone." in drawn
    marks = re.findall(r'class="mark (?:filled|open) (full|dominated)( chosen)?"', drawn)
    assert sum(fill == "full" for fill, _ in marks) == len(free)
    assert len(marks) == len(reading.lines)
    assert sum(bool(chosen) for _, chosen in marks) == 1
    assert drawn.count('class="ring"') == 1
    assert " reference</text>" in drawn
    assert " chosen</text>" in drawn
    for line in reading.lines:
        assert f"{line.words}: user attained {number(line.value('user attained'))} [" in drawn


@pytest.mark.parametrize("unknown", [None, "user attained", "worst off"])
def test_intervals_that_are_known_cross_at_the_marks_of_the_front(unknown, situations):
    content = situations("tiny")
    for row in content["leaderboard"]:
        if unknown is not None:
            row["metrics"][unknown] |= {"low": None, "high": None}
    reading = SlateReading(content)
    drawn = str(front_chart("front", reading.lines, ("user attained", "worst off"), "Visitor"))
    crossed = [line for line in reading.lines if line.roles or line.standing.on_front]
    ends = re.findall(r'<line x1="([-\d.]+)" y1="([-\d.]+)" x2="([-\d.]+)" y2="([-\d.]+)" class="interval"', drawn)
    level = sum(y == other_y for _, y, _, other_y in ends)
    upright = sum(x == other_x for x, _, other_x, _ in ends)
    assert level == (0 if unknown == "user attained" else len(crossed))
    assert upright == (0 if unknown == "worst off" else len(crossed))


def test_shades_follow_what_is_attained(situations):
    reading = SlateReading(situations("tiny"))
    for line, cells in attainment_table(reading).shown:
        for (name, floor), each in zip(attainment_table(reading).stakeholders, cells, strict=True):
            value = reading.attained(line, name)[0]
            assert each.shade == min(SHADES - 1, int(value * SHADES))
            assert each.below == (floor is not None and value < floor)
    content = situations("tiny")
    for row in content["leaderboard"]:
        row["metrics"]["user attained"]["value"] = 1.0  # the darkest shade, which there is none beyond
    assert {cells[0].shade for _, cells in attainment_table(SlateReading(content)).shown} == {SHADES - 1}
    nothing = attainment_table(SlateReading(situations("nothing defined")))
    assert all(each.shade is None and not each.below for _, cells in nothing.shown for each in cells)


def test_lines_over_time_are_the_same_side_by_side(situations):
    reading = SlateReading(situations("tiny"))
    assert drawn_stakeholders(reading.compared, "City") == ["City", "Visitor", "Residents"]
    assert ever_behind(reading.compared) == ["Visitor"]
    many = SlateReading(situations("many stakeholders"))
    names = drawn_stakeholders(many.compared, "Visitor")
    assert len(names) == 8
    ends = {
        name: min(row[-1] for line in many.compared for who, row in zip(line.rule.over_time.stakeholders, line.rule.over_time.attained, strict=True) if who == name)
        for name in many.compared[0].rule.over_time.stakeholders
    }  # fmt: skip
    assert set(names) == set(sorted(ends, key=ends.get)[:8])


def test_tables_of_stakeholders_are_cut_into_sheets_and_lose_nobody(situations):
    found = attainment_table(SlateReading(situations("many stakeholders")))
    assert [len(part.stakeholders) for part in found.parts] == [WIDE, 12 - WIDE]
    assert sum((part.stakeholders for part in found.parts), ()) == found.stakeholders
    for place, (line, cells) in enumerate(found.shown):
        assert [part.shown[place][0] for part in found.parts] == [line, line]
        assert sum((part.shown[place][1] for part in found.parts), ()) == cells


def test_the_last_number_of_requests_is_not_cut(situations):
    content = situations("tiny")
    for each in content["rules"]:
        each["over_time"]["request"][-1] = 1000
    drawn = str(behind_chart("behind", SlateReading(content).lines[0], ["Visitor", "City"]))
    assert re.search(r">1\s000</text>", drawn)
    assert max(right for _, _, right, _ in boxes([drawn])) <= 360


def circles(drawn):
    """Return name → (radius, class) of the items on a map, in the order of drawing."""
    found = re.findall(r'<circle [^>]*r="([\d.]+)" class="item ([\w-]+)"><title>([^:<]*):', str(drawn))
    return {name: (float(radius), css) for radius, css, name in found}


def test_areas_on_a_map_follow_attention(situations):
    reading = SlateReading(situations("tiny"))
    each, items = reading.lines[0], reading.result.items
    share = dict(zip(each.rule.popularity.items, each.rule.popularity.exposure, strict=True))
    largest = 2 * max(share.values())
    found = circles(load_map("map", each, items, project(items), largest, {}))
    assert list(found) == sorted(share, key=lambda name: -share[name])
    for name, value in share.items():
        assert found[name][0] == pytest.approx(max(SMALL, LARGE * math.sqrt(value / largest)), abs=0.005)
    assert len({radius for radius, _ in found.values()}) > 2
    unseen = circles(load_map("map", each, items, project(items), 0.0, {}))
    assert {radius for radius, _ in unseen.values()} == {SMALL}


@pytest.mark.parametrize(("n", "beside"), [(AVOIDED, False), (AVOIDED + 1, True)])
def test_a_number_keeps_clear_of_marks_unless_there_are_too_many(n, beside, situations):
    each = SlateReading(situations("tiny")).lines[0]
    numbered = at(0.5, 0.5, "numbered")  # a crowd stands right of it, where its number would
    crowd = [at(0.5 + 0.001 * (k % 13 - 6), 0.535 + 0.001 * (k % 21), f"crowd {k}") for k in range(n - 3)]
    items = [at(0.0, 0.0, "south-west"), at(1.0, 1.0, "north-east"), numbered, *crowd]
    projection = project(items)
    ((left, top, _, bottom),) = boxes([
        found for found in re.findall(r"<text.*?</text>", str(load_map("map", each, items, projection, 0.5, {"numbered": 1})))
        if ">1<" in found
    ])  # fmt: skip
    x, y = projection.points["numbered"]
    assert (x < left < x + 12 and top < y < bottom) == beside


def test_an_item_that_is_never_shown_has_the_smallest_mark(situations):
    reading = SlateReading(situations("tiny"))
    each, items = reading.lines[0], reading.result.items
    curve = each.rule.popularity.model_copy(update={"exposure": (None, 0.0, 0.25, 0.5, 0.25)})
    each = dataclasses.replace(each, rule=each.rule.model_copy(update={"popularity": curve}))
    found = circles(load_map("map", each, items, project(items), 0.5, {}))
    assert [found[name][0] for name in curve.items] == [SMALL, SMALL, 9.19, LARGE, 9.19]


def test_a_legend_names_what_occurs(situations):
    reading = SlateReading(situations("tiny"))
    each, items = reading.lines[0], reading.result.items
    crowding = each.rule.crowding.model_copy(update={"peak": (2.5, 2.0, 1.0, 0.75, 0.6)})
    each = dataclasses.replace(each, rule=each.rule.model_copy(update={"crowding": crowding}))
    closed = ("closed", "closed")
    load = [("load-1", "at most capacity"), ("load-2", "over capacity"), ("load-3", "more than twice capacity")]
    assert legend(items, [each]) == [*load, closed]
    free = [*items, ItemResult(name="free", capacity=None)]
    assert legend(free, [each]) == [*load, ("load-free", "no limit"), closed]
    assert legend([one for one in free if one.capacity != 0], [each]) == [*load, ("load-free", "no limit")]


def drawn_attention(situations, exposure, popularity, top=1.0):
    """Return the drawing of attention of items that are called by their rank, from 1."""
    line = SlateReading(situations("tiny")).lines[0]
    curve = PopularityCurve(
        items=tuple(f"item {rank}" for rank in range(1, len(exposure) + 1)),
        exposure=exposure, popularity=popularity, lorenz=(), gini=0.25,
    )  # fmt: skip
    return str(
        attention_chart("a", dataclasses.replace(line, rule=line.rule.model_copy(update={"popularity": curve})), top)
    )


def test_bars_of_attention_are_named_by_item_or_by_ranks(situations):
    few = drawn_attention(situations, (0.5, 0.0, 0.3, 0.2), (0.25,) * 4)
    named = [("item 1", "50%"), ("item 3", "30%"), ("item 4", "20%")]
    assert re.findall(r"<title>([^:<]*): ([^<]*) of attention</title>", few) == named
    n = BARS + 2
    many = re.findall(r"<title>([^:<]*): ", drawn_attention(situations, (1 / n,) * n, (1 / n,) * n))[-BARS:]
    ranks = [f"item {part[0] + 1}" if len(part) == 1 else f"ranks {part[0] + 1} to {part[-1] + 1}" for part in parts(n)]
    assert many == ranks
    assert sum(name.startswith("ranks ") for name in many) == 2


def test_heights_of_attention_and_of_popularity_share_an_axis(situations):
    drawn = drawn_attention(situations, (0.5, 0.0, 0.5, 0.0), (0.5, 0.25, 0.25, 0.0))
    bars = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" class="bar"', drawn)
    (left, top, wide, tall), (other, *same) = ([float(each) for each in bar] for bar in bars)
    assert same == [top, wide, tall]
    (path,) = re.findall(r'<path d="([^"]*)" class="popularity"', drawn)
    steps = [[float(each) for each in step] for step in re.findall(r"[ML]([\d.]+) ([\d.]+)H([\d.]+)", path)]
    assert [path.count(letter) for letter in "MLH"] == [1, 3, 4]
    place = wide / 0.76
    assert other - left == pytest.approx(2 * place, abs=0.05)
    assert [step[2] - step[0] for step in steps] == pytest.approx([place] * 4, abs=0.11)
    assert steps[0][0] == pytest.approx(left - 0.12 * place, abs=0.06)
    heights = [(top + tall - step[1]) / tall for step in steps]
    assert heights == pytest.approx([1.0, 0.5, 0.5, 0.0], abs=0.003)
    assert 'popularity"' not in drawn_attention(situations, (0.5, 0.5), (0.5, None))
    assert "the 1 most popular of 4 items get 50% of attention; the 2 most popular" in drawn


def test_the_highest_bar_of_attention_reaches_the_top_of_its_axis(situations):
    drawn = drawn_attention(situations, (1.0, 0.0), (0.5, 0.5))
    lines = [float(y) for y in re.findall(r'y1="([\d.]+)"[^>]*class="(?:axis|grid)"', drawn)]
    (top,) = re.findall(r'y="([\d.]+)" width="[\d.]+" height="[\d.]+" class="bar"', drawn)
    assert "100%" in drawn and float(top) == pytest.approx(min(lines), abs=0.06)
    assert float(top) == pytest.approx(CURVE_TOP, abs=0.06)


def test_a_frame_stands_around_the_centre_alone(situations):
    reading = SlateReading(situations("tiny"))
    each, items = reading.lines[0], reading.result.items
    projection = project(items)
    drawn = load_map("map", each, items, projection, 0.5, {}, framed=items[:2])
    ((x, y, width, height),) = [
        tuple(map(float, found))
        for found in re.findall(
            r'<rect x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)" class="frame"', str(drawn)
        )
    ]
    places = [projection.points[item.name] for item in items[:2]]
    assert x == pytest.approx(min(a for a, _ in places) - LARGE - 2, abs=0.01)
    assert y == pytest.approx(min(b for _, b in places) - LARGE - 2, abs=0.01)
    assert x + width == pytest.approx(max(a for a, _ in places) + LARGE + 2, abs=0.01)
    assert y + height == pytest.approx(max(b for _, b in places) + LARGE + 2, abs=0.01)
    assert 'class="frame"' not in load_map("map", each, items, projection, 0.5, {})


def test_the_ruler_and_its_words_stand_below_the_map(situations):
    reading = SlateReading(situations("tiny"))
    each, items = reading.lines[0], reading.result.items
    projection = project(items)
    drawn = str(load_map("map", each, items, projection, 0.5, {}))
    (below,) = re.findall(r'y="([-\d.]+)"[^>]*>[\d.]+ km</text>', drawn)
    (height,) = re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)"', drawn)
    assert projection.height < float(below) < float(height)


def test_bars_of_attention_are_told_by_the_most_popular_tenth_and_half(situations):
    """Of 60 items the first 6 get .3 and the next 24 get .3 of attention."""
    exposure = (0.05,) * 6 + (0.0125,) * 24 + (0.4 / 30,) * 30
    drawn = drawn_attention(situations, exposure, (1 / 60,) * 60)
    assert re.search(r"the 6 most popular of 60 items get 30\s?% of attention; the 30 most popular of 60", drawn)
    assert re.search(r"the 30 most popular of 60 items get 60\s?% of attention; Gini", drawn)


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0, 20.0])
@pytest.mark.parametrize("shape", [(1.0, 0.2), (0.2, 1.0), (1.0, 0.0), (0.0, 1.0)])
def test_places_however_near_fill_the_map_from_edge_to_edge(size, shape):
    found = project([at(size * shape[0] * k, size * shape[1] * k, str(k)) for k in range(2)])
    (x0, y0), (x1, y1) = found.points.values()
    wide, tall = abs(x1 - x0), abs(y1 - y0)
    assert wide == pytest.approx(WIDTH - 2 * EDGE) or tall == pytest.approx(HIGH - 2 * EDGE)
    assert wide == pytest.approx(tall * shape[1] / shape[0], rel=0.02) if all(shape) and size < 20 else wide * tall >= 0


@pytest.mark.parametrize("n", [BARS, BARS + 1])
def test_a_bar_stands_for_several_items_only_where_there_are_too_many(n, situations):
    content = situations("tiny")
    for rule in content["rules"]:
        rule["popularity"] |= {
            "items": [f"item {k}" for k in range(n)],
            "popularity": [1 / n] * n,
            "exposure": [1 / n] * n,
        }
    assert bool(_attention(SlateReading(content))["grouped"]) == (n > BARS)
