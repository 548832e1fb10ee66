"""Pictures: what is drawn equals the numbers, in the order, names and colours of reports."""

from __future__ import annotations

import builtins
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

from accordant import metrics, strategies
from accordant.certificates import survey
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation import GroupRow, GroupTable, group_table
from accordant.evaluation.stakeholder_gains import StakeholderGains, stakeholder_gains
from accordant.evaluation.weighting import weigh_leaderboard
from accordant.explanation import explain
from accordant.faces import pictures
from accordant.report.labels import readable
from accordant.report.plots.style import area_colours, colours
from accordant.statistics import Estimate
from accordant.utilities import ExpectedRewards

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed_figures():
    """No figure stays open."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def weighed(loans_policy):
    """A function from weights to the leaderboard with three metrics, or fewer."""
    gap = metrics.create("demographic_parity", {"attributes": ["sex"]})
    known = {
        "Accuracy": "accuracy",
        "Welfare": "mean_reward",
        "Gap": gap,
        "Worst": "min_reward",
        "Switch": "mean_reward",
    }

    def made(*weights):
        given = {label: (metric, w) for (label, metric), w in zip(known.items(), weights, strict=False)}
        return loans_policy.leaderboard_on(loans_policy.evidence_, given)

    return made


@pytest.fixture(scope="module")
def expected():
    values = np.random.default_rng(1).random((3, 3, 50))
    return ExpectedRewards(values, stakeholders=["Bank", "Applicant", "State"], actions=["yes", "no", "later"])


def artists(ax):
    """Return gid to the data of lines."""
    return {line.get_gid(): line.get_xydata() for line in ax.lines if line.get_gid()}


def test_there_are_the_pictures_that_people_ask_for():
    assert set(pictures.names()) == {
        "leaderboard", "trade_off", "groups", "gains", "weights", "certificate_curve", "explanation"
    }  # fmt: skip


def test_scores_and_intervals_of_candidates_in_order(weighed):
    board = weighed(0.5, 0.3, 0.2)
    ax = board.plot()
    drawn, rows = artists(ax), [row for row in board.rows if row.candidate]
    assert [label.get_text() for label in ax.get_yticklabels()] == [readable(row.strategy) for row in rows]
    for place, row in enumerate(rows):
        assert drawn[readable(row.strategy)].tolist() == [[row.score.value, -place]]
        assert drawn[f"interval of {readable(row.strategy)}"].tolist() == [
            [row.score.low, -place],
            [row.score.high, -place],
        ]
    bold = [label.get_fontweight() == "bold" for label in ax.get_yticklabels()]
    assert bold == [row.among_best is True for row in rows]
    assert "95% intervals" in ax.get_xlabel()


def test_one_metric_of_all_lines(weighed):
    board = weighed(0.5, 0.3, 0.2)
    drawn = artists(board.plot("Gap"))
    for row in board.rows:
        estimate = row.metrics["Gap"].estimate
        if estimate.value is not None:
            assert drawn[readable(row.strategy)][0, 0] == estimate.value
    assert len([name for name in drawn if not name.startswith("interval")]) == len(board.rows)


def test_better_is_right_and_up_and_stars_are_not_dominated(weighed):
    board = weighed(0.5, 0.3, 0.2)
    ax = board.plot_trade_off("Welfare", "Gap")
    assert not ax.xaxis_inverted() and ax.yaxis_inverted()  # a gap is better small
    points = {line.get_gid(): (*line.get_xydata()[0], line.get_marker()) for line in ax.lines
              if line.get_gid() and not line.get_gid().startswith("interval")}  # fmt: skip
    candidates = [row for row in board.rows if row.candidate]
    assert len(points) == len(candidates)
    for row in candidates:
        welfare, gap = (row.metrics[label].estimate for label in ("Welfare", "Gap"))
        x, y, marker = points[readable(row.strategy)]
        assert (x, y) == (welfare.value, abs(gap.value))
        better = any(
            other[0] >= x and other[1] <= y and (other[0] > x + 1e-12 or other[1] < y - 1e-12)
            for other in points.values()
        )
        assert (marker == "*") is not better
        ends = [line.get_xydata() for line in ax.lines if line.get_gid() == f"interval of {readable(row.strategy)}"]
        assert ends[0][:, 0].tolist() == [welfare.low, welfare.high]
        sizes = sorted((abs(gap.low), abs(gap.high)))
        assert ends[1][:, 1].tolist() == [0.0 if gap.low <= 0 <= gap.high else sizes[0], sizes[1]]
    numbers = sorted(int(n) for text in ax.texts for n in text.get_text().split(","))
    assert numbers == list(range(1, len(candidates) + 1))


def test_what_groups_received(loans_policy):
    table = group_table(loans_policy.decide_on(loans_policy.evidence_), loans_policy.evidence_, ["sex"])
    for stakeholder in (None, "Bank"):
        drawn = artists(table.plot(stakeholder))
        values = {f"{readable(row.strategy)}: {row.group}": row.favourable_share if stakeholder is None
                  else row.mean_rewards[stakeholder] for row in table.rows}  # fmt: skip
        assert {name: data[0, 0] for name, data in drawn.items()} == values
    with pytest.raises(UnknownNameError, match="Bank"):
        table.plot("Bnk")


def test_groups_that_no_picture_can_tell_apart():
    rows = tuple(GroupRow("r", str(g), 1, None, {"a": 0.5}) for g in range(7))
    with pytest.raises(InputError, match="7 groups; allowed in a picture: at most 6"):
        GroupTable(("x",), rows).plot("a")
    with pytest.raises(InputError, match="no action is declared favourable; name a stakeholder: a"):
        GroupTable(("x",), rows[:2]).plot()


def test_gains_and_their_joint_intervals():
    gains = {"a": Estimate(0.2, 0.1, 0.3, 0.95), "b": Estimate(-0.1, -0.2, 0.05, 0.95)}
    ax = StakeholderGains("maximin", "utilitarian", 0.5, "b", gains, 100).plot()
    drawn = {line.get_gid(): line for line in ax.lines if line.get_gid()}
    assert drawn["a"].get_xdata() == [0.2] and list(drawn["interval of b"].get_xdata()) == [-0.2, 0.05]
    hollow = colours()["paper"]
    assert drawn["a"].get_markerfacecolor() != hollow and drawn["b"].get_markerfacecolor() == hollow
    without = StakeholderGains("r", "s", 0.5, "a", {"a": Estimate(0.2, reason="too few")}, 9).plot()
    assert "too few" in without.get_xlabel() and list(artists(without)) == ["a"]


@pytest.mark.parametrize("n", [2, 3])
def test_regions_of_weights(weighed, n):
    found = weigh_leaderboard(weighed(*{2: (0.6, 0.4), 3: (0.5, 0.3, 0.2)}[n]), generator=np.random.default_rng(0))
    ax = found.plot()
    winning = [each for each in found.regions.regions if each.status == "wins"]
    assert [patch.get_gid() for patch in ax.patches] == [each.strategy for each in winning]
    areas = []
    for patch in ax.patches:
        x, y = patch.get_xy()[:-1].T
        areas.append(abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2)
    # the share of a region is its area, as a part of the whole map
    assert np.allclose(np.array(areas) / sum(areas), [each.share for each in winning], atol=1e-9)
    star = artists(ax)["chosen weights"][0]
    a, b, *c = found.regions.weights
    assert np.allclose(star, [a, 1.2] if n == 2 else [a / 2 + c[0], a * np.sqrt(3) / 2])


def test_more_weights_are_shares(weighed):
    found = weigh_leaderboard(weighed(0.4, 0.3, 0.2, 0.1), generator=np.random.default_rng(0))
    ax = found.plot()
    shares = [each.share for each in found.regions.regions if each.status == "wins"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(shares)


def test_the_curve_is_the_share_that_is_certified(expected):
    found = survey(strategies.create("maximin"), expected)
    ax = found.plot(deltas=[0.0, 0.05, 0.2])
    drawn = artists(ax)
    for k, members in enumerate(found.coalitions):
        if len(members) in (1, 3):
            name = {1: members[0], 3: "Bank, Applicant and State"}[len(members)]
            assert drawn[name][:, 1].tolist() == [found.certified(delta)[k] for delta in (0.0, 0.05, 0.2)]
    assert len(drawn) == 4 and ax.lines[0].get_color() == colours()["accent"]


def test_an_explanation_shows_e_of_its_context(expected):
    found = explain(strategies.create("maximin"), expected, rows=[4])[0]
    ax = found.plot()
    drawn = artists(ax)
    for i, who in enumerate(expected.stakeholders):
        for a, action in enumerate(expected.actions):
            assert drawn[f"{action}: {who}"][0, 0] == expected.values[i, a, 4]
    labels = ax.get_yticklabels()
    assert labels[0].get_text() == found.choice.action and labels[0].get_fontweight() == "bold"


def test_axes_that_are_given_are_used(weighed):
    import matplotlib.pyplot as plt

    _, (left, right) = plt.subplots(1, 2)
    board = weighed(0.5, 0.5)
    assert board.plot(ax=left) is left and board.plot_trade_off("Welfare", "Accuracy", ax=right) is right
    assert len(plt.get_fignums()) == 1


def test_names_are_no_formulas_and_do_not_steer(weighed):
    values = np.array([[[0.5], [0.4]], [[0.1], [0.9]]])
    expected = ExpectedRewards(values, stakeholders=["$x^2$", "\x1b[31mred"], actions=["$\\frac{1}{$", "b" * 500])
    ax = explain(strategies.create("maximin"), expected, rows=[0])[0].plot()
    ax.figure.canvas.draw()  # a formula that cannot be read would raise
    texts = [label.get_text() for label in ax.get_yticklabels()] + [
        text.get_text() for text in ax.get_legend().get_texts()
    ]
    assert not any("\x1b" in text for text in texts) and max(map(len, texts)) < 60
    assert any("\\$x^2\\$" in text for text in texts)


def test_an_unknown_metric_names_the_nearest(weighed):
    with pytest.raises(UnknownNameError, match="did you mean 'Welfare'"):
        weighed(0.5, 0.5).plot("Wellfare")


def test_colours_are_those_of_the_sheet():
    assert {"ink", "paper", "accent", "quiet", "rule", "faint", "tint", "of-compromise", "of-stakeholder"} <= set(
        colours()
    )
    assert len(area_colours()) == 5 and all(each.startswith("#") for each in (*area_colours(), *colours().values()))


def test_without_matplotlib_the_extra_is_named(weighed, monkeypatch):
    real = builtins.__import__

    def without(name, *given, **named):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *given, **named)

    board = weighed(0.5, 0.5)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"accordant\[plot\]"):
        board.plot()


@pytest.mark.long
def test_matplotlib_is_imported_when_something_is_drawn():
    code = "import sys, accordant.report.plots.trust, accordant.report.notebook.comparisons; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_gains_of_a_policy_are_drawn(loans_policy):
    decided = loans_policy.decide_on(loans_policy.evidence_)
    found = stakeholder_gains(
        decided,
        "constant:Grant",
        "constant:Deny",
        loans_policy.evidence_,
        generator=np.random.default_rng(0),
        resamples=100,
    )
    drawn = artists(found.plot())
    assert {name: data[0, 0] for name, data in drawn.items() if not name.startswith("interval")} == {
        name: each.value for name, each in found.gains.items()
    }
