"""How values of features stand in sentences."""

from __future__ import annotations

import pytest
from accordant.explanation import Misreport
from accordant.explanation.sentences import _who
from accordant.explanation.counterfactual_sentences import _misreport
from accordant.explanation.value_text import value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "missing"), ("", "an empty text"), ("north", "north"), (-3.0, "−3"), (0.12345, "0.1235"), (1e6, "1000000")],
)
def test_a_value_of_a_feature(value, text):
    assert value_text(value) == text


@pytest.mark.parametrize("who", ["Ada", None])
def test_who_may_misreport_is_named(who):
    whose = f"the expected rewards of {who} alone" if who else "all expected rewards"
    assert _who(Misreport(who, 0.1)) == (who or "everybody together")
    silent = _misreport(Misreport(who, 0.0))
    assert silent == f"For changes of {whose}, nothing is certified, and no change that alters the decision is known."
    known = _misreport(Misreport(who, 0.0, 0.25, "wait"))
    assert known == f"For changes of {whose}, nothing is certified; by 0.250 they can change so that wait wins."
