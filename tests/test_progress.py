"""Progress: steps reach whoever observes, and nobody where nobody looks."""

from __future__ import annotations

import io
import sys
import threading
import types

import numpy as np
import pytest

from accordant import progress, progress_bars, strategies
from accordant.certificates import survey
from accordant.cli import app as command_line
from accordant.compute.fan_out import run_all
from accordant.progress import SILENT, by_verbosity, observed, steps
from accordant.utilities import ExpectedRewards


class Notes:
    """Writes down what it is told."""

    def __init__(self):
        self.begun, self.ended = [], []

    def begin(self, words, total):
        entry = [words, total, 0]
        self.begun.append(entry)

        def advance():
            entry[2] += 1

        self.ended.append(advance)
        return advance

    def end(self, advance):
        self.ended.remove(advance)


@pytest.fixture
def notes():
    found = Notes()
    with observed(found):
        yield found


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal, outside of continuous integration; pytest sets standard error between phases, so tests put it there."""
    stream = Terminal()
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(progress_bars, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return stream


def test_every_step_is_told_and_the_end_too(notes):
    with steps("counting", 3) as advance:
        for _ in range(3):
            advance()
    assert (notes.begun, notes.ended) == ([["counting", 3, 3]], [])


def test_the_end_is_told_if_the_work_fails(notes):
    with pytest.raises(ZeroDivisionError), steps("counting", 3) as advance:
        advance()
        raise ZeroDivisionError
    assert (notes.begun, notes.ended) == ([["counting", 3, 1]], [])


def test_a_single_step_is_nothing_to_look_at(notes):
    with steps("counting", 1) as advance:
        advance()
    assert notes.begun == []


def test_observers_hear_only_what_happens_inside(notes):
    with observed(SILENT), steps("unheard", 2) as advance:
        advance()
    with steps("heard", 2):
        pass
    assert [words for words, _, _ in notes.begun] == ["heard"]


def test_fits_surveys_and_their_blocks_tell_their_steps(notes):
    assert run_all([lambda: 1, lambda: 2, lambda: 3], 1, "fitting models") == [1, 2, 3]
    expected = ExpectedRewards(np.random.default_rng(0).random((2, 2, 10)), stakeholders=["a", "b"], actions=["x", "y"])
    survey(strategies.create("maximin"), expected)
    assert notes.begun == [["fitting models", 3, 3], ["surveying coalitions", 3, 3]]


@pytest.mark.long
def test_a_policy_tells_of_its_fit_unless_verbose_is_0(notes, loans):
    loans.fitted()
    told = [words for words, total, done in notes.begun if total == done]
    assert "fitting models, round 1" in told and len(told) == len(notes.begun)
    before = len(notes.begun)
    loans.fitted(verbose=0)
    assert len(notes.begun) == before


def test_verbosity_is_that_of_the_object(notes):
    class Worker:
        def __init__(self, verbose):
            self.verbose = verbose

        @by_verbosity
        def work(self, times):
            with steps("working", times):
                return times

    assert (Worker(0).work(2), notes.begun) == (2, [])
    assert (Worker(1).work(times=2), notes.begun) == (2, [["working", 2, 0]])


def test_nobody_looks_into_pipes(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress.usual() is SILENT
    monkeypatch.setattr(sys, "stderr", None)  # programs without a console
    assert progress.usual() is SILENT


def test_nobody_looks_under_continuous_integration_in_workers_and_in_threads(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    assert progress.usual() is not SILENT
    found = []
    thread = threading.Thread(target=lambda: found.append(progress.usual()))
    thread.start()
    thread.join()
    assert found == [SILENT]
    monkeypatch.setenv("LOKY_WORKER", "1")
    assert progress.usual() is SILENT
    monkeypatch.delenv("LOKY_WORKER")
    monkeypatch.setenv("CI", "true")
    assert progress.usual() is SILENT


def test_a_terminal_shows_bars_below_what_is_printed_and_takes_them_away(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    bars = progress_bars.RichBars()
    with observed(bars), steps("fitting \x1b[31mmodels", 4) as outer:
        outer()
        with steps("searching", 2) as inner:
            inner()
            bars._shown.refresh()
        print("a line meanwhile", file=sys.stderr)
    text = terminal.getvalue()
    assert (
        "fitting \\x1b[31mmodels" in text and "1/4" in text and "searching" in text and "1/2" in text and "left" in text
    )
    assert "a line meanwhile" in text and text.rstrip().endswith(
        ("\x1b[2K", "\x1b[?25h")
    )  # the bar is gone, the cursor back
    assert sys.stderr is terminal and bars._shown is None


def test_what_is_done_at_once_shows_no_bar(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress_bars, "PATIENCE", 60.0)
    with observed(progress_bars.RichBars()), steps("fitting", 2) as advance:
        advance()
    assert "fitting" not in terminal.getvalue()


def test_a_notebook_is_known_by_its_kernel(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    assert not progress.in_notebook()
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert progress.in_notebook() and isinstance(progress.usual(), progress_bars.TqdmBars)
    shell.kernel = None  # IPython on a terminal
    assert isinstance(progress.usual(), progress_bars.RichBars)


def test_a_notebook_without_tqdm_has_bars_of_rich(monkeypatch):
    monkeypatch.setattr(progress_bars.importlib.util, "find_spec", lambda name: None)
    assert isinstance(progress_bars.notebook_bars.__wrapped__(), progress_bars.RichBars)


def test_tqdm_counts(monkeypatch):
    bars = progress_bars.TqdmBars()
    advance = bars.begin("fitting", 2)
    bar = bars._shown[advance]
    advance()
    assert (bar.n, bar.total, bar.leave) == (1, 2, False)
    bars.end(advance)
    assert bar.disable and bars._shown == {}


@pytest.mark.parametrize(("arguments", "silent"), [(["run", "--json"], True), (["run"], False)])
def test_commands_show_no_bars_beside_json(terminal, monkeypatch, arguments, silent):
    monkeypatch.setattr(sys, "argv", ["accordant", *arguments])
    with command_line._bars():
        assert (progress._observer.get() is SILENT) is silent


def test_lines_of_commands_go_where_standard_error_is_now(monkeypatch):
    handler = command_line._Lines()
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    assert handler.stream is stream
