"""Decisions and outcomes one by one."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import accordant as ac
from accordant.errors import InputError
from accordant.monitoring import Monitor, Outcome, monitor
from accordant.monitoring.monitors import AT_ONCE
from accordant.monitoring.streams import SHARE, mean_limits
from accordant.runs.record.learning import ErrorPart


def by_label(found):
    return {each.label: each for each in found.measures}


def test_nothing_changes_and_nothing_is_said(watched, logged):
    found = monitor(watched, *logged(600))
    assert not found.alarm and found.since == "" and found.alarms == () and "No alarm in 600 decisions" in found.words
    assert found.lines.decisions == 600 and found.outcomes.used == 600 - found.outcomes.by_person
    assert found.lines.first == "2026-01-05T08:00:00Z" and found.lines.last == "2026-02-03T08:19:00Z"
    families = {}
    for each in found.measures:
        families[each.family] = families.get(each.family, 0.0) + each.share
        assert each.highest < 1.3 and each.path[0].n == 1
    assert families["contexts"] == families["decisions"] == families["handling"] == pytest.approx(SHARE)
    assert families["calibration"] == families["rewards"] == pytest.approx(SHARE / 2)  # half is spent on limits
    assert sum(each.share for each in found.actions) == pytest.approx(1.0)


def test_a_change_of_contexts_is_named_and_dated(watched, logged):
    found = monitor(watched, logged(900, change=400, shift=1.0)[0])
    score = by_label(found)["score"]
    assert found.alarm and score.alarm.words == "values are higher" and 400 < score.alarm.n < 600
    assert 380 < score.alarm.since_n < 430 and score.alarm.since[:10] in ("2026-01-24", "2026-01-25", "2026-01-26")
    assert by_label(found)["branch"].alarm is None and found.outcomes is None and found.rewards == ()
    first = found.alarms[0]
    assert found.sentence == (
        f"{len(found.alarms)} of {len(found.measures)} measures changed in 900 decisions; the first alarm is on "
        f"{first.label}: {first.alarm.words} since about {first.alarm.since_day}."
    )
    assert found.since == first.alarm.since and found.alarms[0].alarm.n == min(each.alarm.n for each in found.alarms)
    assert found.remarks[-1].startswith("Without outcomes nobody knows whether promises are kept")


def test_a_promise_that_few_rows_made_is_told_and_no_alarm(watched, logged):
    found = monitor(watched, *logged(1500, change=300, effect=-2.5))
    bank = next(each for each in found.rewards if each.stakeholder == "Bank")
    assert bank.difference == pytest.approx(bank.realised - bank.promised, abs=1e-5) and bank.high < 0
    assert bank.tolerated_low < bank.difference and not any(each.family == "rewards" for each in found.alarms)
    assert found.remarks[0] == (
        f"Bank gets less than E promised, by {-bank.high:.3f} to {-bank.low:.3f}. It need not be a change: on the "
        "untouched rows of the run promises may have been off by as much."
    )


@pytest.mark.parametrize(
    ("alpha", "limits"),
    [(0.2, (-0.1, 0.1)), (0.1, (-0.1, 0.1)), (0.07, (-0.2, 0.3)), (0.01, (-0.4, 0.5)), (0.001, (-1, 1))],
)
def test_limits_of_an_error_are_the_narrowest_that_are_sure_enough(alpha, limits):
    part = ErrorPart(
        kind="reward", name="Bank", part="", attribute="", group="", least=-1.0, most=1.0, n=50, mean=0.0,
        limits=((-0.1, 0.1), (-0.2, 0.3), (-0.4, 0.5)),
    )  # fmt: skip
    assert mean_limits(part, (0.1, 0.05, 0.01), alpha) == limits


def test_a_broken_promise_is_named(watched, logged):
    promise = watched.record.promise
    errors = tuple(
        each.model_copy(update={"limits": ((-0.05, 0.05),) * len(promise.alphas)}) for each in promise.errors
    )
    record = watched.record.model_copy(update={"promise": promise.model_copy(update={"errors": errors})})
    run = replace(watched, record=record)
    run.__dict__["policy"] = watched.policy  # which was read already
    found = monitor(run, *logged(1500, change=300, effect=-2.5))
    alarms = {(each.family, each.name): each.alarm for each in found.alarms}
    assert ("rewards", "Bank") in alarms and ("calibration", "Repaid") in alarms and found.since[:7] == "2026-01"
    assert alarms["rewards", "Bank"].words == "less than promised" and alarms["rewards", "Bank"].n > 300
    assert "Bank gets less" not in " ".join(found.remarks)


def test_rewards_of_a_group_are_those_of_its_members(watched, logged):
    lines, outcomes = logged(120)
    promise = watched.record.promise
    of_branch = tuple(
        each.model_copy(update={"attribute": "branch", "group": group})
        for each in promise.errors if each.kind == "reward" for group in ("north", "south")
    )  # fmt: skip
    record = watched.record.model_copy(
        update={"promise": promise.model_copy(update={"errors": (*promise.errors, *of_branch)})}
    )
    run = replace(watched, record=record)
    run.__dict__["policy"] = watched.policy  # which was read already
    table = watched.case.rewards["Bank"]["table"]
    by_branch = {"north": [], "south": []}
    for line, outcome in zip(lines, outcomes, strict=True):
        if not line.referral:
            promised = line.expected_rewards["Bank"][line.action]
            by_branch[line.context["branch"]].append((promised, table[line.action][outcome.outcome]))
    found = {each.group: each for each in monitor(run, lines, outcomes).rewards if each.stakeholder == "Bank"}
    assert found["north"].n != found["south"].n
    for group, rewards in {**by_branch, "": sum(by_branch.values(), [])}.items():
        assert found[group].n == len(rewards) > 0
        assert (found[group].promised, found[group].realised) == pytest.approx(np.mean(rewards, axis=0), abs=1e-6)


def test_the_past_stays_when_the_log_goes_on(watched, logged):
    lines, outcomes = logged(700)
    short, long = monitor(watched, lines[:430], outcomes[:300]), monitor(watched, lines, outcomes[:300])
    for before, after in zip(short.measures, long.measures, strict=True):
        points = [point.model_dump_json() for point in before.path]
        assert points == [point.model_dump_json() for point in after.path[: len(points)]]
    assert short.rewards == long.rewards and len(long.measures[0].path) > len(short.measures[0].path)


def test_one_by_one_gives_the_same_bytes(watched, logged):
    lines, outcomes = logged(AT_ONCE + 90, change=100, shift=1.0)
    whole, single = monitor(watched, lines, outcomes), Monitor(watched)
    for line, outcome in zip(lines, outcomes, strict=True):
        single.decide(line)
        single.observe(outcome)
        if line.row == "p120":
            single.result()  # looking changes nothing
    assert json.dumps(single.result().to_json()) == json.dumps(whole.to_json())
    assert ac.monitoring.Monitored.read(whole.to_json()) == whole


def test_lines_that_do_not_count_are_counted(watched, logged):
    lines, _ = logged(40)
    other = lines[0].replace(run="a" * 64)
    again = lines[1].replace(time=lines[-1].time)
    changed = lines[2].replace(context={"score": 3.0, "branch": "north"})
    without = lines[3].replace(row="q", context={"scor": 3.0, "branch": "north"})
    text = lines[3].replace(row="r", context={"score": "high", "branch": "north"})
    unknown = lines[4].replace(row="s", action="Grnt")
    log = [*lines, other, other, lines[5], again, changed, without, text, unknown]
    found = monitor(watched, log, [Outcome("p2", "Repaid"), Outcome("p1", "Repaid"), Outcome("q", "Repaid")])
    assert found.lines.decisions == 42 and found.lines.other_runs == {"a" * 64: 2} and found.lines.repeated == 1
    assert found.lines.row_again == 2 and sum(found.lines.unusable.values()) == 3 and len(found.lines.unusable) == 3
    assert found.lines.out_of_order == 1  # `changed`, after `again`
    assert found.outcomes.ambiguous == 1 and found.outcomes.used == 1 and found.outcomes.not_logged == 1
    told = " ".join(found.remarks)
    for words in (
        "did you mean it by 'scor'", "score is 'high'", "unknown action 'Grnt'",
        "2 lines of 1 other run left out: each version is watched by itself.",
        "1 line left out that cannot be used: ", "1 line left out as a repetition of one above.",
        "2 decisions of rows that were decided before. If these are the same people, evidence is overstated; ",
        "1 line earlier than the one above: the order of the log counts.",
    ):  # fmt: skip
        assert words in told


def test_shares_of_the_unusual_and_of_the_referred_are_of_all_decisions(watched, logged):
    lines, _ = logged(40)
    far = lines[0].replace(row="far", context={"score": 99.0, "branch": "north"})
    person = lines[1].replace(row="person", action=None, referral=True)
    before, after, part = monitor(watched, lines), monitor(watched, [*lines, far, person]), watched.record.unusual
    assert 42 * after.unusual_share == pytest.approx(40 * before.unusual_share + 1)
    assert 42 * after.referred_share == pytest.approx(sum(line.referral for line in lines) + 1)
    assert after.unusual_promised == part.unusual / part.rows
    assert after.referred_promised == part.referred / part.rows
    without = replace(watched, record=watched.record.model_copy(update={"unusual": None}))
    without.__dict__["policy"] = watched.policy  # which was read already
    told = monitor(without, lines)
    assert told.unusual_promised is None and told.referred_promised is None


def test_outcomes_that_do_not_count_are_counted(watched, logged):
    lines, _ = logged(60)
    row = next(line.row for line in lines if not line.referral)
    person = lines[7].replace(row="person", action=None, referral=True)
    given = [Outcome(row, "Repaid"), Outcome(row, "Repaid"), Outcome(row, "Default"), Outcome("z", "Repaid"),
             Outcome("p9", None), Outcome("person", "Repaid"), Outcome("p50", None, {"Bank": 0.25})]  # fmt: skip
    found = monitor(watched, [*lines, person], given)
    counts = found.outcomes
    assert (counts.used, counts.repeated, counts.contradicted, counts.not_logged, counts.empty) == (2, 1, 1, 1, 1)
    assert counts.by_person == 1 and counts.overdue >= 40
    for words in (
        "1 outcome of rows that are not among these decisions.", "1 outcome repeated, and counted once.",
        "1 outcome unlike the one above for the same row; the first counts.", "1 outcome not filled in.",
        "1 outcome after decisions that were left to a person, for which nothing was promised.",
        f"Up to the latest decision with an outcome {counts.overdue} have none and 2 have one. If bad outcomes",
    ):  # fmt: skip
        assert words in " ".join(found.remarks)
    n = {each.stakeholder: each.n for each in found.rewards if not each.group}
    assert n == {"Bank": 2, "Applicant": 1, "Auditor": 1}  # of p50 only a reward is known


def test_observed_rewards_replace_stated_ones(watched, logged):
    lines, outcomes = logged(50)
    given = [Outcome(each.row, each.outcome, {"Auditor": 0.125}) for each in outcomes]
    found = monitor(watched, lines, given)
    assert next(each.realised for each in found.rewards if each.stakeholder == "Auditor") == pytest.approx(0.125)


def test_promises_that_the_run_does_not_make_are_told(watched, logged):
    lines, outcomes = logged(30)
    forged = [line.replace(expected_rewards={who: dict.fromkeys(what, 0.5) for who, what in line.expected_rewards.items()})
              for line in lines]  # fmt: skip
    assert "logged promises are not what this run expects" in " ".join(monitor(watched, forged, outcomes).remarks)
    assert "logged promises" not in " ".join(monitor(watched, lines, outcomes).remarks)


def test_what_the_run_leaves_open_is_told(watched, logged):
    lines, outcomes = logged(30)
    people, whole = watched.record.model_copy(update={"promise": None}), watched.record.data
    silent = replace(watched, record=people.model_copy(update={"data": whole.model_copy(update={"group": {}})}))
    silent.__dict__["policy"] = watched.policy  # which was read already
    told = " ".join(monitor(silent, lines, outcomes).remarks)
    assert (
        "The run does not tell what untouched rows promise: decisions and outcomes are compared with nothing." in told
    )
    assert "Rows come in groups: evidence holds if each person is decided about once, and is overstated" in told
    told = " ".join(monitor(watched, lines, outcomes).remarks)
    assert "untouched rows promise" not in told and "Rows come in groups" not in told


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, float("nan")])
def test_alpha_is_a_probability(watched, alpha):
    with pytest.raises(InputError, match="alpha is"):
        Monitor(watched, alpha=alpha)


@pytest.mark.parametrize(("outcome", "words"), [
    (Outcome("p1", "Repaied"), "did you mean 'Repaid'"), (Outcome("p1", "Repaid", {"Bnk": 0.5}), "did you mean 'Bank'"),
    (Outcome("p1", "Repaid", {"Bank": 1.5}), "allowed: a number in"), (Outcome("p1", None, {"Bank": float("nan")}), "nan"),
])  # fmt: skip
def test_outcomes_are_checked(watched, logged, outcome, words):
    watching = Monitor(watched)
    watching.decide(logged(3)[0][1])
    with pytest.raises(InputError, match=words):
        watching.observe(outcome)


def test_a_log_of_another_run_is_refused(watched, logged):
    with pytest.raises(InputError, match="holds no decision of .*; found: " + "b" * 64):
        monitor(watched, [logged(3)[0][0].replace(run="b" * 64)])
    with pytest.raises(InputError, match="no line at all"):
        Monitor(watched).result()
    with pytest.raises(InputError, match="no line of the log can be used"):
        monitor(watched, [logged(3)[0][0].replace(context={})])


def test_memory_does_not_grow_with_decisions(watched, logged):
    lines, _ = logged(2)
    watching = Monitor(watched, awaited=frozenset())
    for line in lines:
        watching.decide(line)
    assert watching._waiting == {} and len(watching._decided) == 2  # and at most a batch
    assert np.isfinite([each.highest for each in watching.result().measures]).all()
