"""Addresses of executors, and who carries out what is asked for without naming one."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys

import pytest

import accordant as ac
from accordant.compute import chosen, compute, executors, in_order, open_executor
from accordant.compute.executor import Failure, count_of
from accordant.compute.local import Here, Processes, Threads
from accordant.errors import DataError, InputError, UnknownNameError
from accordant.threads import free_cores

pytestmark = pytest.mark.usefixtures("alone")


class Noted(Here):
    """Notes that it was closed."""

    def __init__(self, place=""):
        super().__init__(place)
        self.closed = 0

    def close(self):
        self.closed += 1


def without(monkeypatch, *names):
    """Let modules be as if they were not installed."""
    importing = builtins.__import__

    def refuse(name, *rest, **named):
        if name.partition(".")[0] in names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return importing(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.parametrize(
    ("address", "kind", "workers"),
    [
        ("here", Here, 1), ("threads:3", Threads, 3), ("processes:8", Processes, 8), ("processes", Processes, None),
        ("threads", Threads, None), ("processes://2", Processes, 2),
    ],
)  # fmt: skip
def test_an_address_names_an_executor_and_how_many(address, kind, workers):
    made = open_executor(address)
    assert type(made) is kind and made.workers == (free_cores() if workers is None else workers)


@pytest.mark.parametrize("address", ["proceses:2", "", "http://example.org", "Ray://local"])
def test_an_unknown_address_is_refused_with_the_names_that_are_allowed(address):
    with pytest.raises(UnknownNameError, match="unknown executor") as refused:
        open_executor(address)
    assert {"here", "threads", "processes", "ray", "dask", "queue"} <= set(refused.value.allowed)
    assert all(name in str(refused.value) for name in executors.names())


def test_the_nearest_name_is_told():
    with pytest.raises(InputError, match="did you mean 'processes'"):
        open_executor("proceses:2")


@pytest.mark.parametrize("address", ["threads:0", "processes:-1", "processes:two", "threads:1.5", "processes:2:3"])
def test_a_number_of_workers_is_one(address):
    with pytest.raises(InputError, match=rf"^{address}: allowed: a number of workers, at least 1$"):
        open_executor(address)


def test_one_place_has_no_number():
    with pytest.raises(
        InputError, match=r"^here:3: here takes one item after the other; allowed: here, or processes:N$"
    ):
        open_executor("here:3")


def test_counts():
    assert count_of("", 5, "threads") == 5
    assert count_of("1", 5, "threads") == 1
    with pytest.raises(InputError, match="threads:²"):
        count_of("²", 5, "threads")


def test_the_innermost_block_says_who_works_and_closes_what_it_opened(monkeypatch):
    monkeypatch.setitem(executors._factories, "noted", Noted)
    own = Noted()
    assert chosen() is None
    with ac.compute("noted") as outer:
        assert chosen() is outer and outer.closed == 0
        with compute(own) as inner:
            assert inner is own and chosen() is own
        assert chosen() is outer and own.closed == 0
        with pytest.raises(DataError), compute("noted") as failed:
            raise DataError("no")
        assert failed.closed == 1 and chosen() is outer
    assert chosen() is None and outer.closed == 1


def test_an_address_that_is_refused_leaves_who_was_chosen():
    with compute("here") as outer:
        with pytest.raises(InputError), compute("threads:0"):
            pytest.fail("it was refused")
        assert chosen() is outer


def test_results_in_order_wait_for_those_before_them():
    assert list(in_order(each for each in [(2, "c"), (0, "a"), (1, "b")])) == ["a", "b", "c"]
    arriving = (each for each in [(0, "a"), (2, "c"), (1, Failure(DataError("no")))])
    given = []
    with pytest.raises(DataError, match="^no$"):
        given.extend(each for each in in_order(arriving))
    assert given == [] or given == ["a"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("address", "package", "words"),
    [
        ("ray://local", "ray", r"ray:// needs Ray: pip install 'accordant\[ray\]'; allowed without it: processes:N"),
        ("dask://127.0.0.1:1", "distributed", r"dask:// needs Dask: pip install 'accordant\[dask\]'; allowed"),
        (
            "queue://sqlite:///s.db",
            "sqlalchemy",
            r"queue:// needs the service, which needs sqlalchemy: pip install 'accordant\[serve\]'",
        ),
    ],
)
def test_what_is_not_installed_is_named_with_how_to_get_it(address, package, words):
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from accordant.compute import open_executor\n"
        "from accordant.errors import InputError\n"
        f"try: open_executor({address!r})\n"
        "except InputError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.match(words, done.stdout)


@pytest.mark.long
def test_a_misspelt_address_needs_no_extra():
    script = (
        "import sys\n"
        "for name in ('ray', 'distributed', 'dask', 'sqlalchemy'): sys.modules[name] = None\n"
        "from accordant.compute import open_executor\n"
        "try: open_executor('proceses:2')\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "did you mean 'processes'" in done.stdout, done.stderr


@pytest.mark.parametrize("place", ["127.0.0.2:6379", "10.0.0.1:6379"])
def test_a_cluster_of_ray_without_tokens_is_refused(monkeypatch, place):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(InputError, match="RAY_AUTH_MODE=token and the same RAY_AUTH_TOKEN"):
        open_executor(f"ray://{place}")


def test_a_queue_without_a_database_is_refused():
    with pytest.raises(InputError, match="queue://DATABASE"):
        open_executor("queue://")
