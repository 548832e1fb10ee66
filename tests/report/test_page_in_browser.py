"""The page of a run in a real browser: what people move gives what commands give, without network, and for everybody.

Chromium of the system is driven from a `file:` address with the network off. It must be there: `.ci/run` installs it.
"""

from __future__ import annotations

import re
import shutil
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from accordant.report.labels import readable_names
from accordant.report.scale import number
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.sections.weight_change import reweigh

pytestmark = pytest.mark.long

CASE = {
    "name": "beds", "title": "Who gets a bed",
    "problem": {
        "stakeholders": ["Patient", "Night_ward", "Town"],
        "actions": ["Admit", "Wait_outside", "Send_home"],
        "outcomes": ["Well", "Unwell"],
        "favourable_actions": ["Admit"], "favourable_outcomes": ["Well"],
        "outcome_to_action": {"Well": "Send_home", "Unwell": "Admit"},
        "sensitive_attributes": [{"name": "sex", "labels": {"f": "women", "m": "men"}}],
    },
    "data": {"file": "beds.csv", "action": "did", "outcome": "followed", "features": ["age", "pulse"]},
    "rewards": {
        "Patient": {"table": {"Admit": {"Well": 0.8, "Unwell": 0.7}, "Wait_outside": {"Well": 0.7, "Unwell": 0.4}, "Send_home": {"Well": 1.0, "Unwell": 0.0}}},
        "Night_ward": {"table": {"Admit": {"Well": 0.1, "Unwell": 0.6}, "Wait_outside": {"Well": 0.5, "Unwell": 0.5}, "Send_home": {"Well": 0.9, "Unwell": 0.4}}},
        "Town": {"table": {"Admit": {"Well": 0.3, "Unwell": 0.8}, "Wait_outside": {"Well": 0.4, "Unwell": 0.6}, "Send_home": {"Well": 0.9, "Unwell": 0.1}}},
    },
    "learning": {
        "outcome_model": {"name": "LogisticRegression", "parameters": {"max_iter": 1000}},
        "reward_model": {"name": "stated"}, "folds": 3,
    },
    "metrics": {
        "Parity_of_precision": {"metric": "predictive_parity", "parameters": {"attributes": ["sex"]}, "weight": 0.0},
        "Accuracy": {"metric": "accuracy", "weight": 0.35},
        "Worst_Off": {"metric": "min_reward", "weight": 0.25},
        "Parity": {"metric": "demographic_parity", "parameters": {"attributes": ["sex"]}, "weight": 0.125},
        "Share_of_beds": {"metric": "share_of_action", "parameters": {"action": "Admit"}, "weight": 0.0},
        "Mean": {"metric": "mean_reward", "weight": 0.275},
    },
}  # fmt: skip
WIDTHS, SCHEMES = (1280, 400), ("light", "dark")
NARROWEST = 320  # pixels of a phone


def write_data(folder):
    generator = np.random.default_rng(3)
    age, pulse = generator.normal(50, 15, 240).round(), generator.normal(80, 12, 240).round()
    unwell = generator.random(240) < 1 / (1 + np.exp(-(pulse - 80) / 10))
    table = {"age": age, "pulse": pulse, "sex": generator.choice(["f", "m"], 240),
             "did": generator.choice(CASE["problem"]["actions"], 240), "followed": np.where(unwell, "Unwell", "Well")}  # fmt: skip
    pd.DataFrame(table).to_csv(folder / "beds.csv", index=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of one case under two normalisations."""
    folder, made = tmp_path_factory.mktemp("beds"), {}
    write_data(folder)
    for name in ("natural", "relative"):
        case = CASE | {"name": name, "evaluation": {"resamples": 100, "normalisation": name}}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(case, sort_keys=False))
        outcome = carry_out(folder / f"{name}.yaml", RunOptions(seed=7))
        made[name] = read_run(write_run(outcome, folder / name))
    return made


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium")
    assert path is not None, "Chromium is needed: apt-get install chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def show(browser):
    """Return a function that opens a page offline, and what its console said."""
    opened = []

    def shown(path, width=1280, scheme="light", script=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, java_script_enabled=script
        )
        page, said = context.new_page(), []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url[:5] != "file:" else None)
        page.goto(path.as_uri())
        opened.append(context)
        return SimpleNamespace(page=page, said=said)

    yield shown
    for context in opened:
        context.close()


def open_all(page):
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


def set_weights(page, weights):
    """Move every slider; the script rounds to what a slider can say."""
    page.evaluate(
        """(weights) => document.querySelectorAll('[data-known]').forEach((slider) => {
            slider.value = String(weights[slider.dataset.known] ?? 0);
            slider.dispatchEvent(new Event('input', { bubbles: true }));
        })""",
        weights,
    )


def leaderboard(page):
    """Return what the page shows: label, score to the last bit, texts of the cells."""
    rows = page.eval_on_selector_all(
        "#moved tbody tr",
        "(rows) => rows.map((row) => [row.dataset.strategy, row.dataset.score, [...row.cells].slice(1).map((cell) => cell.textContent)])",
    )
    return [(label, float(score), cells) for label, score, cells in rows]


def score_text(score):
    return "unranked" if score is None else number(score)


def weights_to_try():
    """Return weights of every kind: corners, equal ones, one that is nearly nothing, and chance."""
    generator = np.random.default_rng(0)
    labels = list(CASE["metrics"])
    yield from ({label: 1.0} for label in labels)
    yield dict.fromkeys(labels, 0.5)
    yield {"Accuracy": 0.01, "Parity": 1.0}
    yield {"Accuracy": 0.3, "Worst_Off": 0.3, "Parity": 0.1, "Mean": 0.3}
    for _ in range(12):
        drawn = (generator.integers(0, 101, len(labels)) * generator.integers(0, 2, len(labels)) / 100).tolist()
        if sum(drawn) > 0:
            yield dict(zip(labels, drawn, strict=True))


@pytest.mark.parametrize("normalisation", ["natural", "relative"])
def test_moved_weights_give_what_reweigh_gives_to_the_last_bit(runs, show, normalisation, monkeypatch):
    run = runs[normalisation]
    monkeypatch.setattr(
        "accordant.runs.sections.weight_change._drawn_again", lambda *content: (None, "resamples are not asked for")
    )
    names = readable_names(run.record)
    opened = show(run.path / "report.html")
    page, tried = opened.page, 0
    for weights in weights_to_try():
        set_weights(page, weights)
        found = reweigh(run, weights)
        rows = [row for row in found.rows if row.candidate]
        shown = leaderboard(page)
        assert [label for label, _, _ in shown] == [row.strategy for row in rows]
        assert [repr(score) for _, score, _ in shown] == [
            "nan" if row.score is None else repr(row.score) for row in rows
        ]
        for row, (_, _, cells) in zip(rows, shown, strict=True):
            wanted = [
                str(row.place or "–"),
                str(row.place_of_run or "–"),
                score_text(row.score),
                "–",
                score_text(row.score_of_run),
            ]
            assert cells == wanted
        leads, before, then = (
            names.get(name, name) for name in (found.winner, found.winner_of_run, found.selected_then)
        )
        chosen = f"{then} would" if found.selected_then != found.selected else "the selected strategy would"
        assert page.text_content("#moved-says").startswith(
            f"At these weights {leads} leads; at those of the run {before} leads. On held-out folds {chosen} have been chosen"
        )
        tried += 1
    assert tried > 12 and not opened.said


def test_weights_of_the_run_show_its_own_leaderboard_with_its_intervals(runs, show):
    run = runs["natural"]
    page = show(run.path / "report.html").page
    open_all(page)
    wanted = {row.strategy: row.score for row in run.record.test.leaderboard if row.candidate}
    for label, score, cells in leaderboard(page):
        assert score == wanted[label].value
        assert cells[3] == f"[{number(wanted[label].low)}, {number(wanted[label].high)}]"
    assert (
        page.inner_text("#moved-command")
        == "accordant reweigh RUN --weights Accuracy=0.35,Worst_Off=0.25,Parity=0.125,Mean=0.275"
    )
    assert not page.is_visible("#moved-limits")
    set_weights(page, {"Worst_Off": 1})
    assert page.is_visible("#moved-limits") and page.inner_text("#moved-command").endswith("--weights Worst_Off=1")
    set_weights(page, {})
    assert page.inner_text("#moved-says") == "Give at least one metric a weight."
    page.click("#weights-of-run")
    assert page.inner_text("#moved-command").endswith("Parity=0.125,Mean=0.275")


def test_sliders_are_moved_by_keys(runs, show):
    page = show(runs["natural"].path / "report.html").page
    open_all(page)
    slider = page.locator('[data-known="Worst_Off"]')
    slider.focus()
    before = slider.get_attribute("aria-valuetext")
    page.keyboard.press("End")
    after = slider.get_attribute("aria-valuetext")
    assert before == "25% of all weight" and after == f"{100 / 1.75:.1f}% of all weight"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_numbers_are_set_as_python_sets_them(browser):
    script = (files("accordant.report") / "run.js").read_text(encoding="utf-8")
    function = re.search(r"^function fixed.*?^}", script, re.DOTALL | re.MULTILINE)[0]
    generator = np.random.default_rng(1)
    values = [*(k / 16 for k in range(-40, 40)), 0.0005, 1.0005, 0.9995, -0.0004, *generator.normal(0, 1, 200).tolist()]
    page = browser.new_page()
    shown = page.evaluate(f"(values) => {{ {function} return values.map((value) => fixed(value, 3)); }}", values)
    page.close()
    assert shown == [number(value) for value in values]


def test_tables_are_sorted_by_any_column_and_back(runs, show):
    opened = show(runs["natural"].path / "report.html")
    page = opened.page
    open_all(page)
    table = page.locator("table:has(> #scores-1)")

    def column(index):
        return (
            table.locator("tbody")
            .first.locator(f"tr > :nth-child({index})")
            .evaluate_all(
                "(cells) => cells.map((cell) => (cell.querySelector('.value, .name') ?? cell).textContent.trim())"
            )
        )

    original = column(1)
    head = table.locator("th:has-text('Accuracy')")
    head.locator("button").click()
    values = [float(each) for each in column(6)]
    assert values == sorted(values, reverse=True) and head.get_attribute("aria-sort") == "descending"
    page.keyboard.press("Enter")
    assert [float(each) for each in column(6)] == sorted(values) and head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert column(1) == original and head.get_attribute("aria-sort") is None
    table.locator("thead th button").first.click()
    assert column(1) == sorted(original, key=str.lower)
    assert table.locator("tbody.outside tr").first.inner_text().startswith("Outside the candidate set")
    assert not opened.said


def test_a_filter_leaves_the_rows_with_all_words_and_paper_has_all(runs, show):
    page = show(runs["natural"].path / "report.html").page
    open_all(page)
    field = page.get_by_label("Filter What each metric measures")
    rows = page.locator("table:has(> #metrics-caption) tbody tr") if field.count() else None
    if rows is None:  # few metrics: the leaderboard is long enough
        field, rows = page.get_by_label("Filter Strategies in order"), page.locator("table:has(> #scores-1) tbody tr")
    total = rows.count()
    field.fill("always")
    left = [row for row in rows.all() if row.is_visible()]
    assert 0 < len(left) < total and all("always" in row.inner_text().lower() for row in left)
    page.emulate_media(media="print")
    assert sum(row.is_visible() for row in rows.all()) == total
    page.emulate_media(media="screen")
    field.fill("")
    assert sum(row.is_visible() for row in rows.all()) == total


def test_a_group_changes_the_first_table_the_tables_and_the_charts(runs, show):
    run = runs["natural"]
    page = show(run.path / "report.html").page
    open_all(page)
    before = page.locator(".compared tbody").inner_text()
    page.select_option("#among", index=1)
    table = next(each for each in run.record.groups if each.attributes == ("sex",))
    label, selected = table.rows[0].group, run.record.selected
    means = next(row.mean_rewards for row in table.rows if (row.strategy, row.group) == (selected, label))
    shown = page.locator(".compared tbody tr").evaluate_all("(rows) => rows.map((row) => row.cells[1].textContent)")
    assert shown == [number(mean) for mean in means.values()]
    page.select_option("#among", index=0)
    assert page.locator(".compared tbody").inner_text() == before
    part = page.locator(".grouping").first
    rows = part.locator(".by-group").last.locator("tbody tr")
    total = rows.count()
    part.locator(".choose-group").select_option(index=2)
    assert sum(row.is_visible() for row in rows.all()) == total // 2
    assert all(row.locator("th").count() == 2 for row in rows.all() if row.is_visible())
    assert part.locator(".mark.faded").count() > 0 and part.locator(".mark.group-1.faded").count() == 0
    part.locator(".choose-group").select_option(index=0)
    assert all(row.is_visible() for row in rows.all()) and part.locator(".mark.faded").count() == 0


def test_two_strategies_are_compared_person_by_person(runs, show):
    run = runs["natural"]
    opened = show(run.path / "report.html")
    page, people = opened.page, run.record.people
    open_all(page)
    options = page.locator("#first-strategy option").all_inner_texts()
    page.select_option("#first-strategy", label="Always Admit")
    page.select_option("#second-strategy", label="Always Send home")
    page.select_option("#people-order", label="Night ward")
    assert "utilitarian" in options and "in 48 of 48 rows (100%)" in page.inner_text("#people-says")
    gains = [{who: rows[k][0] - rows[k][2] for who, rows in people.expected.items()} for k in range(len(people.rows))]
    order = sorted(range(len(gains)), key=lambda k: (gains[k]["Night_ward"], people.rows[k]))
    while page.is_visible("#people-more"):
        page.click("#people-more")
    shown = page.locator("#people-table tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    assert shown == [
        [
            str(people.rows[k]),
            "Admit",
            "Send home",
            *(("+" if gain > 0 else "") + number(gain) for gain in gains[k].values()),
        ]
        for k in order
    ]
    assert page.inner_text("#people-changes") == "Admit instead of Send home: 48 rows"
    page.select_option("#second-strategy", label="Always Admit")
    assert page.inner_text("#people-says") == "They decide alike in all 48 rows."
    assert page.locator("#people-table tbody tr").count() == 0 and not opened.said


def test_charts_tell_the_values_of_their_marks(runs, show):
    opened = show(runs["natural"].path / "report.html")
    page = opened.page
    open_all(page)
    chart = page.locator("svg.chart:has(#trade-off-1-title)")
    chart.scroll_into_view_if_needed()
    mark = chart.locator("g[data-says*='[']").first
    wanted = mark.get_attribute("data-says")
    mark.hover(force=True)
    assert page.inner_text(".tip") == wanted
    chart.focus()
    page.keyboard.press("ArrowRight")
    first = page.inner_text(".tip")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".tip") != first
    page.keyboard.press("Escape")
    assert not page.is_visible(".tip") and not opened.said


def test_without_script_nothing_is_offered_that_needs_it(runs, show):
    path = runs["natural"].path / "report.html"
    page = show(path, script=False).page
    assert all(not part.is_visible() for part in page.locator(".needs-script").all())
    assert page.locator(".sort, .tip").count() == 0
    assert page.is_visible("text=What was decided") and page.is_visible("text=May I use it?")


def test_a_foreign_script_or_style_is_refused(runs, show, tmp_path):
    html = (runs["natural"].path / "report.html").read_text(encoding="utf-8")
    foreign = tmp_path / "page.html"
    foreign.write_text(
        html.replace("</main>", "<script>document.title = 'taken'</script><style>body { display: none }</style></main>")
    )
    opened = show(foreign)
    assert opened.page.title() == "Who gets a bed – accordant report" and opened.page.is_visible("h1")
    assert len(opened.said) == 2 and all("Content Security Policy" in each for each in opened.said)


@pytest.mark.parametrize(
    ("width", "scheme"), [*zip(WIDTHS, SCHEMES, strict=True)]
)  # colours do not depend on the width
def test_axe_finds_no_violation(runs, show, width, scheme):
    opened = show(runs["natural"].path / "report.html", width, scheme)
    open_all(opened.page)
    set_weights(opened.page, {"Worst_Off": 1, "Mean": 0.5})
    found = Axe().run(opened.page)
    assert not found.response["violations"], found.generate_report()
    assert not opened.said


@pytest.mark.parametrize("width", (*WIDTHS, NARROWEST))
def test_the_page_never_scrolls_sideways(runs, show, width):
    page = show(runs["natural"].path / "report.html", width).page
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_has_everything_in_light_with_an_outline(runs, show, tmp_path):
    page = show(runs["natural"].path / "report.html", scheme="dark").page
    screen = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)" != screen
    assert page.locator("#reproduction").is_visible() and page.locator("#leaderboard").is_visible()
    pdf = page.pdf(outline=True, tagged=True)
    assert b"/Outlines" in pdf and pdf.count(b"/Title") > 20
