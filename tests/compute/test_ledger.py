"""A job in parts: done once each, carried on after whatever happened, with the same bytes."""

from __future__ import annotations

import json
import threading

import pytest

from accordant.compute import LostPartError, compute
from accordant.compute.executor import Failure
from accordant.compute.ledger import LINES, PLAN, Ledger, part_output
from accordant.compute.local import Here
from accordant.compute.tasks import Task, tasks
from accordant.errors import AccordantError, InputError
from accordant.tables.output import write_output
from accordant.tables.text import file_hash

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def done(monkeypatch):
    """Registers the task ``double``, and returns the names of the files that it worked on."""
    worked = []

    def double(options, item):
        text = options["source"].joinpath(item["file"])
        with part_output(options, item, f"{item['file']}.out", file_hash(text)) as output:
            if output.line is None:
                worked.append(item["file"])
                if "poison" in text.read_text():
                    raise InputError("a line holds 'poison'")
                if "fault" in text.read_text():
                    raise ZeroDivisionError("division by zero")
                write_output(output.path, options["word"] + 2 * text.read_text())
                output.told = {"file": item["file"]}
        return output.finished()

    monkeypatch.setitem(tasks._factories, "double", double)
    return worked


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    for name in "abcd":
        (folder / name).write_text(f"{name}\n")
    return folder


class Backwards(Here):
    """Carries out the last item first."""

    def run(self, function, items, *, retries=2):
        for position in reversed(range(len(items))):
            yield position, next(super().run(function, [items[position]]))[1]


class Dies(Here):
    """Is gone after some items."""

    def __init__(self, after):
        self.after, self.closed = after, False

    def run(self, function, items, *, retries=2):
        try:
            yield from list(super().run(function, items[: self.after]))
            raise KeyboardInterrupt
        finally:
            self.closed = True


def carry_out(tmp_path, source, names="abcd", word="", executor=None):
    """Return the lines of the job in the folder ``out``."""
    items = [{"file": name} for name in names]
    ledger = Ledger.of(tmp_path / "out", Task("double", {"word": word}), items)
    return ledger.carry_out(executor or Here(), doing="doubling", places={"source": source})


def contents(folder):
    """Return name to bytes of what stands in a folder."""
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def times(folder):
    return {each.name: each.stat().st_mtime_ns for each in folder.iterdir() if each.suffix == ".out"}


def test_a_new_job_leaves_a_plan_a_line_for_each_part_and_its_outputs(tmp_path, source, done):
    lines = carry_out(tmp_path, source)
    out = tmp_path / "out"
    assert done == list("abcd") and {each.name for each in out.iterdir()} == {
        PLAN,
        LINES,
        *(f"{n}.out" for n in "abcd"),
    }
    assert json.loads((out / PLAN).read_text()) == {
        "task": "double", "options": {"word": ""}, "parts": [{"file": name} for name in "abcd"],
    }  # fmt: skip
    assert lines == [json.loads(line) for line in (out / LINES).read_text().splitlines()]
    for number, (line, name) in enumerate(zip(lines, "abcd", strict=True)):
        assert line == {
            "part": number, "input": file_hash(source / name), "file": name, "output": f"{name}.out",
            "sha256": file_hash(out / f"{name}.out"),
        }  # fmt: skip
        assert (out / f"{name}.out").read_text() == f"{name}\n" * 2


def test_the_order_of_arrival_leaves_no_trace(tmp_path, source, done):
    (tmp_path / "one").mkdir(), (tmp_path / "two").mkdir()
    lines = [carry_out(tmp_path / "one", source), carry_out(tmp_path / "two", source, executor=Backwards())]
    assert done == [*"abcd", *"dcba"] and lines[0] == lines[1]
    assert contents(tmp_path / "one" / "out") == contents(tmp_path / "two" / "out")


def test_a_job_that_is_done_is_not_done_again(tmp_path, source, done):
    lines = carry_out(tmp_path, source)
    before, when = contents(tmp_path / "out"), times(tmp_path / "out")
    done.clear()
    assert carry_out(tmp_path, source) == lines
    assert done == [] and contents(tmp_path / "out") == before and times(tmp_path / "out") == when


def test_a_job_whose_driver_died_is_carried_on(tmp_path, source, done):
    whole = carry_out(tmp_path, source)
    before = contents(tmp_path / "out")
    (tmp_path / "again").mkdir()
    for after, expected in ((1, ["a"]), (3, ["b", "c"])):
        done.clear()
        dying = Dies(after)
        with pytest.raises(KeyboardInterrupt) as held:
            carry_out(tmp_path / "again", source, executor=dying)
        assert held.value is not None and dying.closed and done == expected
    done.clear()
    assert carry_out(tmp_path / "again", source) == whole
    assert done == ["d"] and contents(tmp_path / "again" / "out") == before


@pytest.mark.parametrize("cut", [1, 30, 10**6])
def test_a_line_that_was_cut_off_costs_its_part_only(tmp_path, source, done, cut):
    lines = carry_out(tmp_path, source)
    before, file = contents(tmp_path / "out"), tmp_path / "out" / LINES
    written = file.read_text().splitlines(keepends=True)
    file.write_text("".join(written[:3]) + written[3][:-1][:-cut])
    done.clear()
    with pytest.raises(KeyboardInterrupt):
        carry_out(tmp_path, source, executor=Dies(4))  # what was done meanwhile stands in lines of its own
    assert done == ["d"]
    assert carry_out(tmp_path, source) == lines
    assert done == ["d"] and contents(tmp_path / "out") == before


def test_lines_that_say_nothing_usable_are_passed_over(tmp_path, source, done):
    lines = carry_out(tmp_path, source)
    before, file = contents(tmp_path / "out"), tmp_path / "out" / LINES
    file.write_bytes(
        b'\xff\xfe\n[1]\n{"part": "x"}\n3\n{"part": 1, "input": "%s"}\n{"part": 99}\n\n'
        % file_hash(source / "b").encode()
    )
    done.clear()
    assert carry_out(tmp_path, source) == lines
    assert done == list("abcd") and contents(tmp_path / "out") == before


def test_a_name_may_hold_what_ends_a_line_elsewhere(tmp_path, source, done):
    for name in ("e\u2028f", "g\x85h"):
        (source / name).write_text("odd\n")
    lines = carry_out(tmp_path, source, ["a", "e\u2028f", "g\x85h"])
    done.clear()
    assert carry_out(tmp_path, source, ["a", "e\u2028f", "g\x85h"]) == lines and done == []


def test_what_was_changed_meanwhile_is_done_again_and_nothing_else(tmp_path, source, done):
    carry_out(tmp_path, source)
    out, when = tmp_path / "out", times(tmp_path / "out")
    (source / "b").write_text("other\n")
    (out / "c.out").unlink()
    (out / "d.out").write_text("changed")
    done.clear()
    lines = carry_out(tmp_path, source)
    assert done == ["b", "c", "d"] and times(out)["a.out"] == when["a.out"]
    assert (out / "b.out").read_text() == "other\nother\n" and lines[1]["input"] == file_hash(source / "b")
    assert (out / "c.out").read_text() == "c\nc\n" and (out / "d.out").read_text() == "d\nd\n"


def test_another_job_in_the_folder_is_refused_with_what_differs(tmp_path, source, done):
    carry_out(tmp_path, source)
    before = contents(tmp_path / "out")
    for names, word, words in (
        ("abcd", "more ", "other word"),
        ("abc", "", "other parts"),
        ("abc", "m", "options and parts"),
    ):
        with pytest.raises(InputError, match=rf"out holds parts of another job \(.*{words}\); name another folder"):
            carry_out(tmp_path, source, names, word)
    with pytest.raises(InputError, match="other task"):
        Ledger.of(tmp_path / "out", Task("triple", {"word": ""}), [{"file": name} for name in "abcd"])
    assert contents(tmp_path / "out") == before
    (tmp_path / "out" / PLAN).write_text("[]")
    with pytest.raises(InputError, match="its plan was changed"):
        carry_out(tmp_path, source)


@pytest.mark.parametrize("inside", [None, "notes.txt"])
def test_a_folder_of_something_else_is_refused(tmp_path, source, done, inside):
    out = tmp_path / "out"
    out.mkdir()
    if inside is not None:
        (out / inside).write_text("mine")
    with pytest.raises(InputError, match="out exists and holds no parts of a job; name another folder"):
        carry_out(tmp_path, source)
    assert done == [] and {each.name for each in out.iterdir()} == set(filter(None, [inside]))


def test_parts_that_fail_are_named_and_the_others_stay_done(tmp_path, source, done):
    (source / "b").write_text("poison\n")
    with pytest.raises(InputError) as refused:
        carry_out(tmp_path, source)
    assert str(refused.value) == (
        f"1 of 4 parts failed, the others stand in {tmp_path / 'out'}: part 1: a line holds 'poison'"
    )
    assert set(times(tmp_path / "out")) == {"a.out", "c.out", "d.out"}
    (source / "b").write_text("b\n")
    done.clear()
    lines = carry_out(tmp_path, source)
    assert done == ["b"] and [line["part"] for line in lines] == [0, 1, 2, 3]
    (tmp_path / "new").mkdir()
    assert carry_out(tmp_path / "new", source) == lines
    assert contents(tmp_path / "new" / "out") == contents(tmp_path / "out")


def test_of_many_failures_the_first_are_told_and_a_fault_of_ours_is_one(tmp_path, source, done):
    for name in "abcd":
        (source / name).write_text("poison")
    with pytest.raises(InputError, match=r"^4 of 4 parts failed: part 0: .*part 1: .*part 2: .*; and 1 more$"):
        carry_out(tmp_path, source)
    (source / "c").write_text("fault")
    with pytest.raises(AccordantError, match="part 2: division by zero") as failed:
        carry_out(tmp_path, source)
    assert not isinstance(failed.value, InputError) and (tmp_path / "out" / PLAN).is_file()


def test_where_wrong_input_failed_every_part_another_job_may_take_the_folder(tmp_path, source, done):
    for name in "abcd":
        (source / name).write_text("poison")
    with pytest.raises(InputError, match=r"^4 of 4 parts failed"):
        carry_out(tmp_path, source)
    for name in "abcd":
        (source / name).write_text(f"{name}\n")
    found = carry_out(tmp_path, source, word="other")
    assert [line["part"] for line in found] == [0, 1, 2, 3]
    with pytest.raises(InputError, match=r"holds parts of another job \(other word\)"):
        carry_out(tmp_path, source)


@pytest.mark.parametrize("left", ["notes.txt", ".a.out.unfinished-x"])
def test_a_folder_with_something_else_is_not_taken(tmp_path, source, done, left):
    for name in "abcd":
        (source / name).write_text("poison")
    with pytest.raises(InputError, match=r"^4 of 4 parts failed"):
        carry_out(tmp_path, source)
    (tmp_path / "out" / left).write_text("")
    with pytest.raises(InputError, match="holds parts of another job"):
        carry_out(tmp_path, source, word="other")


def test_a_job_whose_folder_was_taken_meanwhile_says_so(tmp_path, source, done):
    items = [{"file": name} for name in "ab"]
    late = Ledger.of(tmp_path / "out", Task("double", {"word": "late"}), items)
    Ledger.of(tmp_path / "out", Task("double", {"word": "early"}), items)
    with pytest.raises(InputError, match=r"holds parts of another job \(other word\)"):
        late.carry_out(Here(), doing="", places={"source": source})
    assert done == [] and not (tmp_path / "out" / LINES).read_text()


def test_a_part_that_ends_its_worker_is_told(tmp_path, source, done):
    class Loses(Here):
        def run(self, function, items, *, retries=2):
            for position, found in super().run(function, items):
                yield position, Failure(LostPartError(f"item {position} is gone")) if position == 2 else found

    with pytest.raises(AccordantError, match="part 2: item 2 is gone"):
        carry_out(tmp_path, source, executor=Loses())
    done.clear()
    carry_out(tmp_path, source)
    assert done == ["c"]  # what it left behind stands in no line


def test_two_at_once_work_one_after_the_other(tmp_path, source, done):
    """The second waits for the first, and finds everything done."""
    begun, go, lines = threading.Event(), threading.Event(), []

    class Slow(Here):
        def run(self, function, items, *, retries=2):
            begun.set()
            go.wait(10)
            yield from super().run(function, items)

    first = threading.Thread(target=lambda: lines.append(carry_out(tmp_path, source, executor=Slow())))
    first.start()
    begun.wait(10)
    second = threading.Thread(target=lambda: lines.append(carry_out(tmp_path, source)))
    second.start()
    second.join(0.2)
    assert second.is_alive() and done == []
    go.set()
    first.join(10), second.join(10)
    assert done == list("abcd") and lines[0] == lines[1]


def test_where_no_line_can_be_written_the_rest_is_cancelled(tmp_path, source, done, monkeypatch):
    def full(target, text):
        raise InputError(f"{target} cannot be written: No space left on device")

    monkeypatch.setattr("accordant.compute.ledger.append_lines", full)
    executor = Dies(3)
    with pytest.raises(InputError, match="No space left") as held:
        carry_out(tmp_path, source, executor=executor)
    assert executor.closed and held.value is not None  # which keeps the reader alive


@pytest.mark.parametrize("address", ["threads:2", "processes:2"])
def test_folders_are_the_same_whoever_works(tmp_path, source, done, address):
    (tmp_path / "here").mkdir()
    lines = carry_out(tmp_path / "here", source)
    with compute(address) as executor:
        assert carry_out(tmp_path, source, executor=executor) == lines
    assert contents(tmp_path / "out") == contents(tmp_path / "here" / "out")
