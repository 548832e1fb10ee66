"""Files of comparisons beside a case: whose answers count, what is refused before the fits, what the record says."""

from __future__ import annotations

import hashlib
import json

import pytest
import yaml

from accordant.agents.language import Recorder
from accordant.agents.language.provider import Reply
from accordant.cases.files import read_case
from accordant.errors import InputError
from accordant.preferences.learned_rewards.respondent import LanguageModelRespondent
from accordant.rewards import ObservedReward, TableReward
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.sections.explanation import document_of, explained_rows
from accordant.runs.record import RewardSource
from accordant.runs.reward_sources import located_signals, with_preferences

HEADER = "user_id,chosen_action,chosen_outcome,rejected_action,rejected_outcome\n"
CHAIN = ("yes,good,no,good", "no,good,no,bad", "no,bad,yes,bad")  # the best cell, then the next, down to the worst


def answers(folder, *users, name="answers.csv", lines=CHAIN):
    """Write what these users answered, and return the path."""
    path = folder / name
    path.write_text(HEADER + "".join(f"{user},{line}\n" for user in users for line in lines))
    return str(path)


@pytest.fixture
def own(cases):
    """The case with two stakeholders."""
    return read_case(cases["own"])


def looked_at(own, file, stakeholder="Bank"):
    """Return the reward signals after a look at the files, as a run does before it loads data."""
    case, beside = own
    files = {stakeholder: file}
    return located_signals(with_preferences(case, files), beside, None, files)


def test_one_reward_is_replaced_and_the_others_stay(own, tmp_path):
    signals = looked_at(own, answers(tmp_path, "Bank"))
    assert signals["Applicant"] == ObservedReward("said")
    assert signals["Bank"].file == str(tmp_path / "answers.csv")
    assert with_preferences(own[0], {}) is own[0]


def test_only_the_name_of_a_file_becomes_part_of_the_case(own, tmp_path):
    case = with_preferences(own[0], {"Bank": answers(tmp_path, "Bank")})
    assert case.rewards["Bank"] == {"signal": "comparisons", "file": "answers.csv"}
    assert str(tmp_path) not in json.dumps(case.model_dump(mode="json"))


@pytest.mark.parametrize(("users", "only"), [
    (("Bank",), None),
    (("ann", "ben"), None),
    (("Bank", "Applicant"), ("Bank",)),
    (("ann", "Applicant"), ("ann",)),
])  # fmt: skip
def test_what_other_stakeholders_answered_does_not_count(own, tmp_path, users, only):
    assert looked_at(own, answers(tmp_path, *users))["Bank"].only == only


@pytest.mark.parametrize(("stakeholder", "spoil", "message"), [
    ("Bnk", None, "unknown stakeholder 'Bnk'; did you mean 'Bank'? valid: Bank, Applicant"),
    ("Bank", lambda path: path.rename(path.with_name("answer.csv")), "there is no file '{path}'; did you mean 'answer.csv'?"),
    ("Bank", lambda path: path.write_text(""), "answers.csv is empty"),
    ("Bank", lambda path: path.write_text(HEADER), "answers.csv has a header but no rows"),
    ("Bank", lambda path: path.write_text(path.read_text().replace("no,bad", "no,bed", 1)),
     "answers.csv line 3: unknown rejected_outcome 'bed'; did you mean 'bad'? valid: good, bad"),
    ("Bank", lambda path: path.write_text(path.read_text().replace("yes", "jes", 1)),
     "answers.csv line 2: unknown chosen_action 'jes'; did you mean 'yes'? valid: yes, no"),
    ("Applicant", None, "the only answers are those of Bank (user_id); allowed: answers of 'Applicant'"),
])  # fmt: skip
def test_what_is_refused_before_the_fits(cases, tmp_path, monkeypatch, stakeholder, spoil, message):
    file = answers(tmp_path, "Bank")
    if spoil is not None:
        spoil(tmp_path / "answers.csv")
    monkeypatch.setattr("accordant.runs.execution.case_data", None)  # no data are loaded, and nothing is fitted
    with pytest.raises(InputError) as raised:
        carry_out(cases["own"], RunOptions(seed=7, preferences={stakeholder: file}))
    assert str(raised.value).startswith(f"--preferences {stakeholder}={file}: ")
    assert message.format(path=file) in str(raised.value)


@pytest.fixture(scope="module")
def finished(cases, tmp_path_factory):
    """A run with one reward replaced, read from its folder where the answers are no more."""
    folder = tmp_path_factory.mktemp("given")
    file = answers(folder, "Bank", "Applicant")
    sha256 = hashlib.sha256((folder / "answers.csv").read_bytes()).hexdigest()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accordant.runs.folder.render", lambda content: "<html></html>")
        run = write_run(
            carry_out(cases["own"], RunOptions(seed=7, preferences={"Bank": file}, effort="quick")), folder / "run"
        )
    (folder / "answers.csv").unlink()
    return read_run(run), sha256


def test_a_run_warns_first_that_the_reward_of_one_stakeholder_is_a_guess(cases):
    case = yaml.safe_load(cases["own"].read_text())
    case["rewards"]["Bank"]["guessed"] = True
    path = cases["own"].with_name("guessed.yaml")
    path.write_text(yaml.safe_dump(case))
    assert carry_out(path, RunOptions(seed=7, effort="quick")).record.warnings[0] == (
        "Nobody said what Bank wants: the rewards are guesses, and whatever follows from them shows the method and "
        "supports no decision."
    )


def test_the_record_says_of_each_reward_where_it_comes_from(finished, tmp_path):
    run, sha256 = finished
    bank, applicant = (run.record.reward_sources[name] for name in ("Bank", "Applicant"))
    assert bank.words == f"learned from 3 comparisons in answers.csv (sha256 {sha256[:12]}…)"
    assert bank.replaces == "the case's tables by group" and bank.given
    content = run.content["reward_sources"]["Bank"]
    assert (content["kind"], content["records"], content["users"], content["sha256"]) == ("comparisons", 3, 1, sha256)
    assert applicant == RewardSource(kind="column", words="recorded in the column 'said' of the data")
    assert list(run.record.learned_sources) == ["Bank"]


def test_a_finished_run_decides_and_explains_without_the_answers(finished, cases):
    run, sha256 = finished
    assert isinstance(read_case(cases["own"])[0].signals()["Bank"], TableReward)
    contexts = str(cases["own"].with_name("own.csv"))
    bank, applicant = document_of(explained_rows(run, contexts))["rests_on"]
    assert bank == (
        f"What Bank is expected to get rests on a reward learned from 3 comparisons in answers.csv (sha256 {sha256[:12]}…), "
        "instead of the case's tables by group."
    )
    assert applicant == "What Applicant is expected to get rests on a reward recorded in the column 'said' of the data."


class Applicant:
    """Stands in for a language model that wants a yes, and what is good."""

    def complete(self, request, key=None, seconds=0.0):
        data = json.loads(request.messages[1].text.split("\n")[1])
        worth = [
            2 * (data[side]["action"]["declared"] == "yes") + (data[side]["then"]["declared"] == "good")
            for side in ("first", "second")
        ]
        return Reply(json.dumps({"better": "first" if worth[0] > worth[1] else "second"}))


@pytest.mark.long
def test_a_run_learns_from_the_recorded_answers_of_a_model(cases, tmp_path):
    case = yaml.safe_load(cases["own"].read_text())
    case["rewards"]["Applicant"] = {"signal": "agent", "model": "fake", "file": "talk.jsonl"}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(case))
    (tmp_path / "own.csv").write_bytes(cases["own"].with_name("own.csv").read_bytes())
    asked = LanguageModelRespondent(
        "Applicant",
        "http://127.0.0.1:9/v1",
        "fake",
        key_variable=None,
        provider=Applicant(),
        recorder=Recorder(tmp_path / "talk.jsonl"),
    ).asked(read_case(tmp_path / "own.yaml")[0].problem, "Applicant")
    assert (asked.pairs, asked.by_place) == (6, 0)
    run = write_run(carry_out(tmp_path / "own.yaml", RunOptions(seed=7)), tmp_path / "run")
    (tmp_path / "talk.jsonl").unlink()
    finished = read_run(run)
    source = finished.record.reward_sources["Applicant"]
    assert source.words.startswith("learned from 12 comparisons that the language model fake made in talk.jsonl")
    assert any(
        "the language model 'fake' answered, and nobody asked Applicant." in each for each in finished.record.warnings
    )
    rests_on = document_of(explained_rows(finished, str(tmp_path / "own.csv")))["rests_on"]
    assert "that the language model fake made" in rests_on[1]
