"""``accordant elicit``: what is shown, which answers are understood, where they go, and exit codes."""

from __future__ import annotations

import io
import json
import os

import pandas as pd
import pytest
from typer.testing import CliRunner

from accordant.preferences import terminal as terminal
from accordant.cli.app import app
from accordant.errors import InputError
from accordant.preferences.learned_rewards.answer_file import COLUMNS
from accordant.preferences.interview import InterviewOptions, begin_interview
from accordant.terminal import named_values


def begun(case_folder, **options):
    return begin_interview(case_folder / "beds.yaml", "Ward", InterviewOptions(**options))[0]


def talk(interview, lines, file=None):
    shown = []
    terminal.converse(interview, lines, shown.append, file)
    return "\n".join(shown)


def test_what_people_see(case_folder):
    text = talk(begun(case_folder, context={"age": "70"}), ["1", "q"])
    assert text.startswith(
        "Who gets a bed: what Ward prefers.\nSuppose: age is 70.\nTo decide: the best action (outcome "
    )
    assert "1. Which is better for Ward?\n   1) " in text
    assert ", then " in text and "Best by now: " in text
    assert "2. Which is better" in text and "3. Which" not in text
    assert "Not settled, but stopped after 1 question: " in text and " it is the best action for Ward with " in text


def test_every_end_has_its_sentence(case_folder):
    for options, end in (
        ({"level": 0.01}, "Settled after 0 questions: the best action for Ward is "),
        ({"level": 1.0, "questions": 2}, "Not settled, but asked enough, after 2 questions: "),
        ({}, "Not settled, but stopped after 0 questions: "),
    ):
        assert f"\n{end}" in talk(begun(case_folder, **options), ["1", "2"] if options else [])
    interview = begun(case_folder)
    interview.session.stopped = "small regret"
    assert terminal.closing(interview).startswith("Another question would hardly pay after 0 questions: ")


def test_keys_spaces_and_capitals(case_folder):
    interview = begun(case_folder, level=1.0)
    talk(interview, [" 1 \n", "2\r\n", "=\n", "0\n", "Q\n", "1\n"])
    assert [answer for _, answer in interview.session.answered] == ["first", "second", "equal", "cannot say"]
    assert interview.session.stopped == "stopped by the person"


def test_wrong_input_is_asked_again(case_folder):
    interview = begun(case_folder)
    text = talk(interview, ["3", "", "yes", "1"])
    assert text.count("is no answer. Answer 1 or 2") == 3
    assert len(interview.session.answered) == 1


def test_the_end_of_input_and_an_interrupt_stop_and_keep_what_was_said(case_folder):
    def interrupted():
        yield "1"
        raise KeyboardInterrupt

    for lines in (["1"], interrupted()):
        interview = begun(case_folder)
        talk(interview, lines)
        assert interview.session.stopped == "stopped by the person"
        assert len(interview.records) == 1


def test_every_answer_is_written_at_once(case_folder, tmp_path):
    out = tmp_path / "answers.csv"
    interview, file = begin_interview(case_folder / "beds.yaml", "Ward", InterviewOptions(level=1.0), out)

    def lines():
        for count in range(3):
            assert len(pd.read_csv(out)) == count
            yield "1"

    talk(interview, lines(), file)
    assert pd.read_csv(out)["user_id"].tolist() == ["Ward"] * 3
    again, _ = begin_interview(case_folder / "beds.yaml", "Ward", InterviewOptions(level=1.0), out)
    assert "3 earlier comparisons are taken into account." in terminal.opening(again)


def test_samples_make_nothing_certain(case_folder):
    interview = begun(case_folder)
    while interview.question is not None:
        interview.answer("first")
    assert "100 %" not in terminal.closing(interview) + terminal.progress(interview)
    assert [terminal._percent(share) for share in (1.0, 0.996, 0.5, 0.004, 0.0)] == [
        "over 99 %", "over 99 %", "50 %", "under 1 %", "under 1 %"
    ]  # fmt: skip


def test_contexts_of_the_command_line():
    assert named_values("--context", ["age = 70", "sex=f=m"], "NAME=VALUE") == {"age": "70", "sex": "f=m"}
    for wrong, message in ((["age"], "allowed: NAME=VALUE"), (["=1"], "NAME=VALUE"), (["a=1", "a=2"], "'a' twice")):
        with pytest.raises(InputError, match=message):
            named_values("--context", wrong, "NAME=VALUE")


def test_files_and_streams_that_are_no_text(tmp_path, monkeypatch):
    path = tmp_path / "answers.txt"
    path.write_bytes(b"1\n\xff\n")
    with pytest.raises(InputError, match="answers.txt, line 2: byte 0xff is not UTF-8"):
        terminal.lines_of_file(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe is no regular file"):
        terminal.lines_of_file(tmp_path / "pipe")
    with pytest.raises(InputError, match="answers cannot be read from"):
        terminal.lines_of_file(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1\n\xff\n"), encoding="utf-8"))
    with pytest.raises(InputError, match="standard input are no text"):
        list(terminal.lines_of_stdin())
    with open("/dev/zero", encoding="utf-8") as endless:
        monkeypatch.setattr("sys.stdin", endless)
        with pytest.raises(InputError, match="standard input: 8,388,609 characters in one line"):
            list(terminal.lines_of_stdin())


def run(*arguments, typed=None):
    return CliRunner().invoke(app, ["elicit", *map(str, arguments)], input=typed)


def test_json_and_csv_on_stdout(case_folder):
    arguments = (case_folder / "beds.yaml", "--stakeholder", "Patient")
    done, plain = run(*arguments, "--json", typed="1\n2\n"), run(*arguments, typed="1\n2\n")
    assert done.exit_code == 0, done.output
    found, table = json.loads(done.stdout), pd.read_csv(io.StringIO(plain.stdout))
    assert (found["case"], found["stakeholder"], found["questions"]) == ("beds", "Patient", 2)
    assert "Which is better for Patient?" in done.stderr
    assert table.columns.tolist() == list(COLUMNS)
    assert table.to_dict("records") == found["records"]


def test_a_file_of_answers(case_folder, tmp_path):
    typed, out = tmp_path / "typed.txt", tmp_path / "said.csv"
    typed.write_text("1\n1\n1\n", encoding="utf-8")
    arguments = (case_folder / "beds.yaml", "--stakeholder", "Ward", "--answers", typed, "--level", "1")
    done = run(*arguments, "--out", out, "--context", "age=70", "--questions", "2")
    assert (done.exit_code, done.stdout) == (0, f"2 comparisons: {out}\n")
    assert pd.read_csv(out).columns.tolist() == [*COLUMNS, "age"]
    assert "is an input of this command" in str(run(*arguments, "--out", typed).exception)
    nowhere = run(*arguments[:3], "--answers", tmp_path / "none.txt", "--out", tmp_path / "new.csv")
    assert isinstance(nowhere.exception, InputError) and not (tmp_path / "new.csv").exists()


def test_exit_code_of_wrong_input(accordant):
    """Run as a program: 2 with a message, nothing on stdout."""
    done = accordant("elicit", "beds.yaml", "--stakeholder", "Wrad", "--json", stdin="1\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'Ward'" in done.stderr


def test_files_of_answers_with_a_byte_order_mark_and_wrong_lines(tmp_path, monkeypatch):
    path = tmp_path / "answers.txt"
    path.write_bytes(b"\xef\xbb\xbf1\r\n\r\n2\r\nQ\r\n")
    assert terminal.lines_of_file(path) == ["1", "2", "Q"]
    path.write_text("1\n\n3\n2\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3: '3' is no answer; allowed: 1, 2, =, 0, q"):
        terminal.lines_of_file(path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf1\n2\n"), encoding="utf-8"))
    assert list(terminal.lines_of_stdin()) == ["1\n", "2\n"]


def test_an_answer_is_in_the_file_before_the_next_question_is_looked_for(case_folder, tmp_path, monkeypatch):
    out = tmp_path / "answers.csv"
    interview, file = begin_interview(case_folder / "beds.yaml", "Ward", InterviewOptions(level=1.0), out)

    def broken(answer):
        raise KeyboardInterrupt

    monkeypatch.setattr(interview.session, "answer", broken)
    with pytest.raises(KeyboardInterrupt):
        talk(interview, ["1"], file)
    assert len(pd.read_csv(out)) == 1


def test_what_is_new_is_told_apart_from_what_was_there(case_folder, tmp_path):
    arguments = (case_folder / "beds.yaml", "--stakeholder", "Ward", "--level", "1", "--out", tmp_path / "said.csv")
    run(*arguments, typed="1\n1\n")
    again = run(*arguments, typed="q\n")
    assert again.stdout == f"0 new, 2 earlier comparisons: {tmp_path / 'said.csv'}\n"
    assert "after 0 new questions" in again.stderr
    one = run(*arguments[:-1], tmp_path / "one.csv", typed="1\nq\n")
    assert one.stdout == f"1 comparison: {tmp_path / 'one.csv'}\n"
    more = run(*arguments[:-1], tmp_path / "one.csv", typed="1\nq\n")
    assert more.stdout == f"1 new, 1 earlier comparison: {tmp_path / 'one.csv'}\n"
    assert "1 earlier comparison is taken into account." in more.stderr
