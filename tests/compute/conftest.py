"""What tests of executors share: nothing else runs in this process, so that workers are forked."""

from __future__ import annotations

import threading

import pytest


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """What runs the tests may wait in a thread of its own; nothing is forked beside one."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)
