"""Machine code that is kept on disk follows the constants that its kernel reads, wherever they are defined."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from accordant.compiled import compiled, constants_key

LEVEL = 1.0
TABLE = np.array([1.0, 2.0])
KERNELS = """
import constants
from accordant.compiled import compiled
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
