"""The site builds without a warning, and loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
if not os.environ.get("ACCORDANT_REQUIRE_EXTRAS"):
    pytest.importorskip("sphinx")


def test_the_site_loads_nothing_from_elsewhere_and_its_search_knows_registered_names(tmp_path):
    command = [sys.executable, "-m", "docs.site", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    built = tmp_path / "html"
    assert done.stdout.endswith(f"{built / 'index.html'}\n")
    for page in built.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//[^\"]+", text), page
    for style in built.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", style.read_text(encoding="utf-8")), style
    index = (built / "searchindex.js").read_text(encoding="utf-8")
    for name in ("alpha_fairness", "random_effects", "equal_shares", "ExpectedRewards"):
        assert name.lower() in index.lower(), name
