"""Machine code that is kept on disk follows the constants that its kernel reads, wherever they are defined."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from accordant.kernels import Compiled, _machine_code, compiled, compiled_text, constants_key, light

LEVEL = 1.0
TABLE = np.array([1.0, 2.0])
KERNELS = """
import constants
from accordant.kernels import compiled
from constants import LEVEL

@compiled
def named(values):
    return values[0] + LEVEL

@compiled
def through_the_module(values):
    return values[0] + constants.LEVEL
"""
USE = "import numpy, kernels; print(kernels.named(numpy.ones(1)), kernels.through_the_module(numpy.ones(1)))"


def reads_level(values):
    return values[0] + LEVEL


def reads_table(values):
    return values[0] + TABLE[1]


def reads_neither(values):
    return values[0] + 1.0


@pytest.mark.parametrize(
    ("function", "name", "value"),
    [(reads_level, "LEVEL", 2.0), (reads_level, "LEVEL", 1), (reads_table, "TABLE", np.array([1.0, 2.5]))],
)
def test_the_key_follows_the_constants(monkeypatch, function, name, value):
    before, other = constants_key(function), constants_key(reads_neither)
    assert constants_key(function) == before
    monkeypatch.setitem(globals(), name, value)
    assert constants_key(function) != before
    assert constants_key(reads_neither) == other


def test_the_key_follows_attributes_of_modules(monkeypatch):
    def function(values):
        return values[0] + os.LEVEL

    monkeypatch.setattr(os, "LEVEL", 1.0, raising=False)
    before = constants_key(function)
    monkeypatch.setattr(os, "LEVEL", 2.0)
    assert constants_key(function) != before


def part(value):
    return value + LEVEL


def calls(values):
    return part(values[0])


def test_the_key_follows_the_code_and_the_constants_of_what_a_kernel_calls(monkeypatch):
    before = constants_key(calls)
    monkeypatch.setitem(globals(), "LEVEL", 3.0)
    with_other_constant = constants_key(calls)
    monkeypatch.setitem(globals(), "part", lambda value: value * LEVEL)
    assert len({before, with_other_constant, constants_key(calls)}) == 3


def closing_over(level):
    def kernel(values):
        return values[0] + level

    return kernel


def test_the_key_follows_what_a_kernel_closes_over():
    assert constants_key(closing_over(1.0)) == constants_key(closing_over(1.0)) != constants_key(closing_over(2.0))


def test_a_template_calls_functions_in_plain_python_and_in_machine_code():
    kernel = compiled_text("doubled", "values", ["return part(part(values[0]))"], {"part": part}, __file__)
    assert kernel.python(np.ones(1)) == _machine_code(kernel.python)(np.ones(1)) == 3.0


def test_few_numbers_are_left_to_plain_python_until_their_time_is_spent(monkeypatch):
    made = []
    monkeypatch.setattr("accordant.kernels._machine_code", lambda function: made.append(function) or function)
    monkeypatch.setattr(Compiled, "numbers_left", 10)
    kernel, other = light(reads_level), light(reads_table)
    assert kernel(np.ones(6)) == other(np.ones(4)) - 1.0 == 2.0 and not made
    assert kernel(np.ones(1)) == 2.0 and made == [reads_level]
    assert compiled(reads_neither)(np.ones(1)) == 2.0 and made[1:] == [reads_neither]


@pytest.mark.long
def test_what_was_kept_beside_the_module_is_read_where_nothing_can_be_written(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "constants.py").write_text("LEVEL = 1.0\n")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home"),
    }  # fmt: skip
    look = "import kernels, numpy; from accordant import kernels as c; k = c._machine_code(kernels.named.python); "
    run = [sys.executable, "-c"]
    subprocess.run([*run, look + "k(numpy.ones(1))"], env=environment, check=True)
    assert list((tmp_path / "__pycache__").glob("*.nbc"))
    elsewhere = environment | {"NUMBA_CACHE_DIR": str(tmp_path / "elsewhere")}
    seen = look + "k(numpy.ones(1)); print(dict(k.stats.cache_hits), list(k.overloads))"
    subprocess.run([*run, seen], env=elsewhere, check=True, capture_output=True, text=True)
    assert not list((tmp_path / "elsewhere").rglob("*.nbc"))  # loaded, so that nothing was compiled and kept again


@pytest.mark.long
def test_a_changed_constant_of_another_file_reaches_machine_code_kept_on_disk(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip

    def use(level):
        (tmp_path / "constants.py").write_text(f"LEVEL = {level}\n")
        run = subprocess.run([sys.executable, "-c", USE], env=environment, capture_output=True, text=True, check=True)
        return run.stdout.split(), len(list((tmp_path / "kept").rglob("*.nbc")))

    assert use(1.0) == (["2.0", "2.0"], 2)
    assert use(5.0) == (["6.0", "6.0"], 4)
    assert use(1.0) == (["2.0", "2.0"], 4)  # what was kept for this constant is loaded again


def test_a_kernel_runs_as_it_was_written():
    kernel = compiled(reads_level)
    assert kernel(np.ones(1)) == kernel.python(np.ones(1)) == 2.0


def test_it_is_due_once_as_much_was_done_without_it_as_compiling_costs_or_where_it_was_compiled_before(
    monkeypatch, tmp_path
):
    file = tmp_path / "of_text.py"
    file.write_text("# machine code of a text is kept beside it\n")
    monkeypatch.setattr(Compiled, "numbers_left", -1)

    def made(constant):
        return compiled_text("doubled", "x", ["return constant * x"], {"constant": constant}, str(file))

    first = made(2.0)
    assert [first.is_due(2, cost=5) for _ in range(4)] == [False, False, True, True]
    assert first(3.0) == 6.0
    assert first.is_due(1, cost=1e9), "it is at hand"
    assert made(2.0).is_due(1, cost=1e9), "it is on disk"
    assert not made(2.5).is_due(1, cost=1e9), "what is on disk is another"
