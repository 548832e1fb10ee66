"""Pages in a real browser: their policy lets the script of all pages run, nobody is shut out, and paper has it all."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from typer.testing import CliRunner

from accordant.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
WINGS = {
    "debate": ("deliberate", "triage", "--agents", "rawlsian,biased", "--settle", "bargain"),
    "learners": (
        "preferences",
        f"{EXAMPLES}/preferences/choices.csv",
        "--method",
        "random_effects",
        "--resamples",
        "100",
    ),
    "lists": ("slate", f"{EXAMPLES}/own_slates/library.yaml", "--requests", "20", "--resamples", "100"),
}
LETTERS = ("letter", "letter in German")
PAGES = (*WINGS, "run", "plan", "explanation", "monitor, calm", "monitor, alarmed", *LETTERS)
PLAIN = LETTERS  # pages without a table that could be sorted
ROWS = "0,1,2"
SCREEN = 800  # pixels of height of a small laptop
QUESTIONS = ("What was decided", "Who gains and who loses", "How sure that is", "What would change it", "May I use it?")
LINE = 21  # pixels of height of a line of the first screen
NARROWEST = 320  # pixels of a phone
OUTSIDE_CODE = re.compile(r"<(style|script|code|pre)\b.*?</\1>|<wbr>|<[^>]*>", re.DOTALL)


def carried_out(*arguments: str | Path) -> None:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One page of each kind, those of a run from one quick run of the story."""
    folder, made = tmp_path_factory.mktemp("pages"), {}
    run = folder / "run"
    carried_out("run", "story", "--quick", "--rows", 300, "--out", run)
    made["run"] = run / "report.html"
    made["plan"] = folder / "plan.html"
    plan = ("plan", run, "--rows", "1e9", "--workers", 1_000, "--part-rows", 20_000, "--on", "here")
    carried_out(*plan, "--out", made["plan"])
    for name, command in WINGS.items():
        carried_out(*command, "--out", folder / name)
        made[name] = folder / name / "report.html"
    explain = ("explain", run, "--row", ROWS, "--no-add")
    for name, flags in {
        "explanation": (), "letter": ("--for-person",), "letter in German": ("--for-person", "--language", "de"),
    }.items():  # fmt: skip
        made[name] = folder / f"{name}.html"
        carried_out(*explain, *flags, "--out", made[name])
    for name, log in {"monitor, calm": "calm.jsonl", "monitor, alarmed": "alarmed.jsonl"}.items():
        rows, made[name] = folder / f"{log}.csv", folder / f"{name}.html"
        carried_out("simulate", "story", "--seed", 7, "--rows", 400, "--out", rows)
        carried_out("recommend", run, rows, "--log", folder / log, "--out", folder / f"{log}.decided.csv")
        if "alarmed" in name:  # somebody decides otherwise than the run promised
            lines = [json.loads(line) for line in (folder / log).read_text().splitlines()]
            changed = "\n".join(json.dumps(line | {"action": "Insulation"}) for line in lines)
            (folder / log).write_text(f"{changed}\n")
        carried_out("monitor", run, folder / log, "--out", made[name])
    return made


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield started
        started.close()


def opened(browser, path, *, width=1280, scheme="light"):
    """Open a page offline with all folds open; what its console says comes with it."""
    page, said = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.context.set_offline(True)
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    return page, said


@pytest.mark.parametrize(
    ("name", "scheme"),
    [(name, scheme) for name in PAGES for scheme in ("light", "dark") if (name, scheme) != ("run", "light")],
)  # tests/report looks at another page of a run, in light too
def test_a_page_works_offline_and_for_everybody(pages, browser, name, scheme):
    page, said = opened(browser, pages[name], scheme=scheme)
    assert (page.locator("th .sort").count() > 0) == (name not in PLAIN)
    found = Axe().run(page)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    page.close()
    assert not found.response["violations"], found.generate_report()
    assert not said and dark == (scheme == "dark")


@pytest.mark.parametrize("width", [1280, 400, NARROWEST])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_never_scrolls_sideways(pages, browser, name, width):
    page, _ = opened(browser, pages[name], width=width)
    wide = page.evaluate("document.documentElement.scrollWidth")
    cut = page.eval_on_selector_all(
        "caption > span",
        """(titles) => titles.filter((title) => title.getBoundingClientRect().right
            > title.closest('.scroll').getBoundingClientRect().right + 1).map((title) => title.textContent)""",
    )
    page.close()
    assert wide <= width
    assert cut == []  # a title of a table is read without scrolling the table


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", LETTERS)
def test_a_letter_is_one_page_of_a4_for_each_person(pages, browser, name, scheme):
    page, _ = opened(browser, pages[name], scheme=scheme)
    pdf = page.pdf(prefer_css_page_size=True)
    page.emulate_media(media="print", color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.close()
    sizes = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert len(sizes) == len(ROWS.split(","))
    assert all((round(float(wide)), round(float(high))) == (595, 842) for wide, high in sizes)


@pytest.mark.parametrize("name", ["explanation", "monitor, calm", "run"])
def test_a_page_speaks_by_names_in_words(pages, name):
    text = OUTSIDE_CODE.sub("", pages[name].read_text(encoding="utf-8"))
    assert "Heat pump" in text
    assert not {"Heat_pump", "Bill_halved", "population_maximin"} & set(re.findall(r"[\w:]+", text))


@pytest.mark.parametrize("case", ["story", "education-tutoring", "health", "lending", "triage"])
def test_the_first_screen_answers_all_questions(pages, browser, tmp_path, case):
    """At 1280 pixels to their ends; on a telephone, two screens hold the answers, of the last one how it begins."""
    path = pages["run"]
    if case != "story":
        path = tmp_path / "run" / "report.html"
        carried_out("run", case, "--quick", "--rows", 150, "--resamples", 100, "--out", path.parent)
    places = {}
    for width in (1280, 400):
        page = browser.new_page(viewport={"width": width, "height": SCREEN})
        page.goto(path.as_uri())
        places[width] = {
            each["says"]: each
            for each in page.eval_on_selector_all(
                "#answer .statements > div, #answer .compared > *",
                """(parts) => parts.map((part) => {
                    const place = part.getBoundingClientRect();
                    const title = part.querySelector('dt, caption');
                    return { says: (title ?? part).textContent.split(':')[0].trim(), top: place.top, bottom: place.bottom,
                             shown: place.width * place.height > 0, answer: part.textContent };
                })""",
            )
        }
        page.close()
    for question in QUESTIONS:
        assert places[1280][question]["shown"] and places[1280][question]["bottom"] <= SCREEN, question
        assert places[400][question]["top"] + 2 * LINE <= 2 * SCREEN, question
        assert len(places[1280][question]["answer"]) > 2 * len(question)
    assert all(each["bottom"] <= SCREEN for each in places[1280].values())


def test_the_first_screen_says_that_it_is_a_quick_look(pages, browser):
    page, _ = opened(browser, pages["run"])
    title = page.locator(".callout-title").first
    assert title.inner_text() == "This is a quick look" and title.bounding_box()["y"] < 300
    page.close()
