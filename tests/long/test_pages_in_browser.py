"""Pages of wings in a real browser: their policy lets the script of all pages run, and nobody is shut out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from typer.testing import CliRunner

from accordant.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = {
    "debate": ("deliberate", "triage", "--agents", "rawlsian,biased", "--settle", "bargain"),
    "learners": (
        "preferences",
        f"{EXAMPLES}/preferences/choices.csv",
        "--method",
        "random_effects",
        "--resamples",
        "100",
    ),
    "lists": ("slate", f"{EXAMPLES}/own_slates/library.yaml", "--resamples", "100"),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One page of each wing."""
    folder, made = tmp_path_factory.mktemp("pages"), {}
    for name, command in COMMANDS.items():
        done = CliRunner().invoke(app, [*command, "--out", str(folder / name)])
        assert done.exit_code == 0, done.output
        made[name] = folder / name / "report.html"
    return made


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_of_a_wing_works_offline_and_for_everybody(pages, browser, name, scheme):
    page, said = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.context.set_offline(True)
    page.goto(pages[name].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert page.locator("th .sort").count() > 0
    found = Axe().run(page)
    page.close()
    assert not found.response["violations"], found.generate_report()
    assert not said
