"""A whole life of decisions in a real browser: asked, read on a phone without scripts, contested, changed, erased."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from contextlib import closing

import numpy as np
import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from accordant.service.api.app import make_app
from accordant.service.identity import invite
from accordant.service.pages.reviews import MOST_AT_ONCE
from accordant.service.record.receipt import read_receipt, verify_receipt
from accordant.service.server import _config
from tests.service.conftest import on_sqlite

pytestmark = [pytest.mark.long, on_sqlite]  # pages are the same on both databases
ACCORDANT = (sys.executable, "-c", "from accordant.cli.app import main; main()")
DECISIONS, ALIKE = 100, 15
PHONE, DESK = {"width": 400, "height": 800}, {"width": 1280, "height": 900}
MOST_TABS = 150
PAGES_OF_OWNER = ("/", "/reviews", "/runs", "/deployments", "/jobs", "/people", "/log", "/figures", "/welcome")


@pytest.fixture
def server(address, tmp_path, run_of_three):
    """A server that was started by its command: what it printed, and where its database is."""
    command = [*ACCORDANT, "serve", str(run_of_three), "--port", "0", "--database", address, "--json"]
    started = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    told = ""
    for line in started.stdout:
        told += line
        if line.startswith("}"):
            break
    yield {**json.loads(told), "database": address, "folder": tmp_path}
    started.terminate()
    started.wait(30)
    started.stdout.close()


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def looked_at():
    """A function that looks at a page, large and light, small and dark: no violation of axe, nothing beyond its edge."""

    def look(page, *sizes):
        for size in sizes or (DESK, PHONE):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme="light" if size == DESK else "dark")  # colours do not depend on the size
            found = Axe().run(page)
            assert found.violations_count == 0, f"{page.url}: {found.generate_report()}"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url

    return look


def ask(server, key, number, context):
    body = json.dumps({"contexts": [context]}).encode()
    headers = {
        "Authorization": f"Bearer {key}",
        "Idempotency-Key": f"order {number}",
        "Content-Type": "application/json",
    }
    request = urllib.request.Request(f"{server['address']}/v1/decisions", body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["decisions"][0]


def tab_to(page, selector):
    """Press Tab until an element that matches is focused."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"{selector} cannot be reached by Tab on {page.url}")


def invited(owner, server, role):
    """Let the owner invite somebody, and return the link."""
    owner.goto(f"{server['address']}/people")
    owner.check(f"input[value={role}]")
    owner.click("text=Make an invitation")
    return owner.locator("code.secret").first.inner_text()


def test_a_decision_is_asked_read_contested_changed_proven_and_erased(server, chromium, looked_at):
    here, said = server["address"], []

    def browser(**options):
        page = chromium.new_context(viewport=DESK, **options).new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        return page

    # the owner comes in by the link that the command printed, and lets others in
    owner = browser()
    owner.goto(f"{here}/sign-in")
    looked_at(owner)
    owner.goto(server["owner"])
    looked_at(owner)
    owner.click("button.main")
    reviewer_link, auditor_link = (invited(owner, server, role) for role in ("reviewer", "auditor"))
    looked_at(owner)
    owner.goto(f"{here}/people")
    owner.fill("#program", "till")
    owner.click("text=Admit it and show its key")
    key = owner.locator("code.secret").first.inner_text()

    # a program asks for decisions
    generator = np.random.default_rng(7)
    contexts = [{"score": 0.5, "branch": "south"}]
    contexts += [{"score": round(float(score), 2), "branch": "south"} for score in generator.normal(0.5, 0.2, ALIKE)]
    contexts += [
        {"score": round(float(score), 2), "branch": "north"}
        for score in generator.normal(size=DECISIONS - len(contexts) - 1)
    ]
    contexts += [{"score": 0.1, "branch": "abroad"}]
    decided = [ask(server, key, number, context) for number, context in enumerate(contexts)]
    assert ask(server, key, 0, contexts[0]) == decided[0]

    # one person reads hers on a phone without scripts, and contests it
    person = browser(java_script_enabled=False)
    person.set_viewport_size(PHONE)
    person.goto(f"{here}{decided[0]['link']}?language=en")
    assert decided[0]["action"] not in person.inner_text("main")
    person.click("text=Read the decision")
    assert f"The decision is: {decided[0]['action']}." in person.inner_text("main")
    person.fill("#grounds", "My score is of last year.")
    person.click("text=Send the objection")
    assert "A person who did not decide will answer by" in person.inner_text("main")
    told = [person.request.get(f"{here}/my/{name}.json").json() for name in ("receipt", "export")]
    assert verify_receipt(read_receipt(told[0])).public["action"] == decided[0]["action"]
    assert told[1]["history"][0]["grounds"] == "My score is of last year."
    reader = browser()  # axe is a script: it looks at the same pages with scripts
    for path in (decided[1]["link"], decided[-1]["link"]):
        reader.goto(f"{here}{path}?language=en")
        looked_at(reader)
        reader.click("button.main")
        looked_at(reader)
    reader.goto(f"{here}/my?language=de")
    looked_at(reader)

    # a reviewer answers with a keyboard only, and like cases are decided again
    reviewer = browser()
    reviewer.goto(reviewer_link)
    tab_to(reviewer, "main button")
    reviewer.keyboard.press("Enter")
    reviewer.wait_for_url("**/welcome")
    looked_at(reviewer, DESK)
    tab_to(reviewer, "nav a[href='/reviews']")
    reviewer.keyboard.press("Enter")
    reviewer.wait_for_url("**/reviews")
    looked_at(reviewer)
    objection = reviewer.locator(".queue a", has_text="Objection").get_attribute("href")
    tab_to(reviewer, f"a[href='{objection}']")
    reviewer.keyboard.press("Enter")
    reviewer.wait_for_url(f"**{objection}")
    looked_at(reviewer)
    reviewer.set_viewport_size(DESK)
    tab_to(reviewer, "input[name=result]")
    reviewer.keyboard.press("ArrowDown")  # from the first answer to the second: changed
    tab_to(reviewer, "#action")
    reviewer.keyboard.press("ArrowDown")
    tab_to(reviewer, "#reasons")
    reviewer.keyboard.type("The score of this year is higher.")
    tab_to(reviewer, "main form button")
    reviewer.keyboard.press("Enter")
    reviewer.wait_for_selector("text=Like cases")
    action = re.search(r"change them to “(\w+)” too", reviewer.inner_text("main"))[1]
    assert action != decided[0]["action"]
    alike = reviewer.locator("input[name=alike]").count()
    assert 1 < alike <= MOST_AT_ONCE
    looked_at(reviewer)
    reviewer.set_viewport_size(DESK)
    tab_to(reviewer, "#reasons")
    reviewer.keyboard.type("Scores of this year are higher.")
    tab_to(reviewer, "input[name=alike]")
    reviewer.keyboard.press("Space")  # the nearest one is left as it is
    tab_to(reviewer, "form[action$=alike] button")
    reviewer.keyboard.press("Enter")
    reviewer.wait_for_url("**done=*")
    assert f"{alike - 1} like case" in reviewer.inner_text("main")

    # what was left to a person is decided
    reviewer.goto(f"{here}/reviews")
    reviewer.click(".queue a")
    looked_at(reviewer)
    reviewer.select_option("#action", "Lower")
    reviewer.fill("#reasons", "Little is known about this branch.")
    reviewer.click("main form button")

    # the person sees it, proves it offline, and is erased; the log holds
    person.goto(f"{here}/my?language=en")
    assert f"It is now: {action}." in person.inner_text("main")
    assert "The score of this year is higher." in person.inner_text("main")
    receipt = server["folder"] / "receipt.json"
    receipt.write_bytes(person.request.get(f"{here}/my/receipt.json").body())
    assert verify_receipt(read_receipt(json.loads(receipt.read_text()))).private["context"] == contexts[0]
    person.click("summary")
    person.check("input[name=sure]")
    person.click("button.danger")
    assert "It is deleted" in person.inner_text("main")
    assert person.goto(f"{here}{decided[0]['link']}").status == 410
    proven = subprocess.run([*ACCORDANT, "verify", str(receipt), "--json"], capture_output=True, text=True, check=True)
    assert json.loads(proven.stdout)["holds"]  # offline, and after the person is erased

    # everybody's pages, for everybody
    for path in PAGES_OF_OWNER:
        owner.goto(f"{here}{path}")
        looked_at(owner)
    owner.goto(f"{here}/runs")
    owner.click(".cards a")
    looked_at(owner)
    published = owner.url
    digest = published.rsplit("/", 1)[1]
    owner.goto(f"{here}/runs/compare?first={digest}&second={digest}")
    looked_at(owner)
    owner.goto(published)
    owner.click("text=Look at what changes")
    looked_at(owner)
    owner.goto(f"{here}/deployments")
    owner.click("text=Stop v1")
    looked_at(owner)
    owner.goto(f"{here}/runs")
    owner.click(".cards a")
    owner.click("text=Open the report")
    owner.wait_for_selector("html.live")  # its own script ran under its own policy
    auditor = browser()
    auditor.goto(auditor_link)
    auditor.click("button.main")
    auditor.goto(f"{here}/log?kind=review")
    looked_at(auditor)
    auditor.click("tbody a")
    looked_at(auditor)
    auditor.goto(f"{here}/log")
    auditor.click("text=Check everything")
    assert "The log holds" in auditor.inner_text("main")
    assert [each for each in said if "410" not in each] == []
    found = subprocess.run([*ACCORDANT, "audit", server["database"], "--json"], cwd=server["folder"],
                           capture_output=True, text=True, check=True)  # fmt: skip
    told = json.loads(found.stdout)
    assert (told["holds"], told["decisions"], told["contests"], told["erasures"]) == (True, DECISIONS, 1, 1)
    assert told["like_cases"] == alike - 1


def test_coming_in_by_an_account_in_a_browser_without_scripts(chromium, looked_at, address, service, provider):
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        here = provider.here = f"http://127.0.0.1:{listening.getsockname()[1]}"
        running = uvicorn.Server(_config(make_app(service, provider=provider.settings())))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        with service.database.writing() as connection:
            made = invite(connection, service.secrets, service.workspace, "owner")
        first, said = chromium.new_page(), []
        first.on("console", lambda message: said.append(message.text))
        first.goto(f"{here}/join/{made.token}")
        first.click("button.main")
        looked_at(first)
        first.click("text=Link my account")  # to the provider, and back by itself
        first.wait_for_selector("text=An account is linked")
        looked_at(first)
        first.goto(f"{here}/people")
        assert "account linked" in first.inner_text("main")
        looked_at(first)
        again = chromium.new_context(java_script_enabled=False).new_page()
        again.goto(f"{here}/sign-in")
        again.click("text=Sign in with your account")
        again.wait_for_url(f"{here}/")
        assert "You are owner" in again.inner_text("main")
        names = {each["name"] for each in again.context.cookies()}
        assert names == {"accordant_session"}
        stranger, provider.subject = chromium.new_context().new_page(), "nobody"
        stranger.goto(f"{here}/sign-in")
        looked_at(stranger)
        stranger.click("text=Sign in with your account")
        stranger.wait_for_selector("text=No account is linked here")
        looked_at(stranger)
        provider.answer = (503, {})
        stranger.goto(f"{here}/sign-in")
        stranger.click("text=Sign in with your account")
        stranger.wait_for_selector("text=does not answer")
        looked_at(stranger)
        running.should_exit = True
        thread.join()
    assert said == []
