"""Slates in a cell of a notebook."""

import numpy as np

from accordant.slates.slates import Slates


def test_lists_in_order_escaped_and_what_is_left_out():
    items = np.tile([1, 0, -1], (20, 1))
    found = Slates("rule <b>", ("park", "<i>museum"), items, np.arange(20) < 5, flags={"changed": np.arange(20) < 2})
    html = found._repr_html_()
    assert "<i>" not in html and "rule <b>" not in html
    assert html.index("&lt;i&gt;museum</td>") < html.index("park</td>")
    assert "and 8 more lists of 20" in html and "25% of lists" in html and "changed: 2 lists" in html


def test_no_lists_are_no_error():
    assert "0 lists" in Slates("r", ("a",), np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=bool))._repr_html_()
