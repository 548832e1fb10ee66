"""What libraries warn of is told once each, with how often, however many threads repeat it."""

from __future__ import annotations

import threading
import warnings

import pytest

from accordant.cli.library_warnings import MOST_SHOWN, LibraryWarnings


def warn(category, text):
    with warnings.catch_warnings():  # what estimators do; it makes Python forget what it has shown
        warnings.simplefilter("always")
        warnings.warn(text, category, stacklevel=1)


@pytest.mark.filterwarnings("default")
def test_each_distinct_warning_is_told_once_and_counted(capsys):
    with LibraryWarnings():
        for n in range(600):
            warn(RuntimeWarning, f"lbfgs failed\n  after {n} iterations")
        warn(UserWarning, "another \x1b[31mone")
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err.splitlines() == [
        "warning: RuntimeWarning: lbfgs failed after 0 iterations (600 times)",
        r"warning: UserWarning: another \x1b[31mone",
    ]


@pytest.mark.filterwarnings("default")
def test_threads_do_not_flood(capsys):
    with LibraryWarnings():
        threads = [
            threading.Thread(target=lambda: [warnings.warn("slow", stacklevel=1) for _ in range(200)]) for _ in range(8)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.filterwarnings("default")
def test_many_kinds_are_cut_off_and_python_shows_its_own_again(capsys):
    before = warnings.showwarning
    with LibraryWarnings():
        for n in range(MOST_SHOWN + 5):
            warn(UserWarning, "kind " + "x" * n)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == MOST_SHOWN + 1
    assert lines[-1] == "warning: 5 other kinds are not shown"
    assert warnings.showwarning is before
