"""What was decided about me: opened by a link, read without a script, contested with a form, taken along, deleted.

The link is a secret, and programs look at links before people do: reading it shows a cover and nothing else, and a form
opens it. From then on a session stands for it, so that the secret is in no address that a browser remembers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response
from sqlalchemy import Connection, Row, select
from starlette.exceptions import HTTPException

from accordant.errors import InputError
from accordant.explanation.labels import LabelledNames, Labels
from accordant.languages import Language, language, languages, message
from accordant.report.explanation import letter_part
from accordant.service.contests import Contestation, history
from accordant.service.erasure import erase
from accordant.service.identity import begin_session
from accordant.service.pages.layout import day, download, page
from accordant.service.pages.visit import (
    OPENED,
    Opened,
    OpenedHere,
    PageRoute,
    SentByPerson,
    from_here,
    go,
    keep_session,
    leave,
)
from accordant.service.permissions import Role, check, is_allowed
from accordant.service.record.log import now
from accordant.service.record.receipt import make_receipt
from accordant.service.schema import decision, event, outcome, person
from accordant.service.secrets import Erased, event_key, unseal
from accordant.service.service import Service
from accordant.service.stored_decisions import DecisionRead, decision_of_link, read_decision

router = APIRouter(route_class=PageRoute)
PATH = "/my"
ROLE: tuple[Role, ...] = ("concerned",)

WORDS = {
    "cover": message("A decision about you"),
    "cover_why": message("Only you should read it. Who has this link can read it, so do not pass it on."),
    "open": message("Read the decision"),
    "again": message("The link stays good. You can come back with it."),
    "changed": message("A person changed the decision. It is now: {action}."),
    "settled": message("A person decided: {action}."),
    "upheld": message("A person looked at it again. The decision stays as it is."),
    "remitted": message("A person looked at it again. It will be decided anew, by somebody else."),
    "reasons": message("Their reasons"),
    "grounds": message("What you wrote"),
    "contested": message("You objected on {day}."),
    "due": message("A person who did not decide will answer by {day}."),
    "late": message("The answer was due on {day}. It is late. Those who are responsible see that, too."),
    "waiting": message("A person will decide by {day}."),
    "waiting_late": message(
        "A person should have decided by {day}. It is late. Those who are responsible see that, too."
    ),
    "contest": message("Object to this decision"),
    "contest_why": message("Write what is wrong, or what we do not know. A person reads it who did not decide before."),
    "party": message("Who answers for the decision: {party}."),
    "your_grounds": message("Your reasons"),
    "send": message("Send the objection"),
    "no_contest": message("This decision was already answered by a person. You cannot object here once more."),
    "at_first": message("What follows says how it was decided at first, and why."),
    "history": message("What happened since"),
    "keep": message("Take it with you"),
    "receipt": message("Receipt that proves this decision (JSON)"),
    "receipt_why": message("Anybody can check it without us:"),
    "export": message("Everything that is kept about me (JSON)"),
    "delete": message("Delete what is kept about me"),
    "delete_why": message(
        "Nobody can read it any more then, not even we. That a decision was made stays on record, without you. "
        "An open objection ends. This cannot be undone."
    ),
    "delete_sure": message("Yes, delete it for ever"),
    "delete_do": message("Delete"),
    "gone": message("It is deleted"),
    "gone_why": message("Nothing about you can be read any more."),
    "close": message("Close"),
    "closed": message("It is closed"),
    "closed_why": message("Open it again with your link."),
    "made": message("Decided on {day}. Version: {version}."),
    "number": message("Number of the decision: {id}"),
    "like_case": message("A like case was changed. So a person looked at yours too, without your asking."),
    "languages": message("Languages"),
    "skip": message("Skip to the decision"),
    "wrong": message("That did not work"),
    "invented": message("This is a demonstration. The town and everybody in it are invented."),
    "no_grounds": message("Please write your reasons. They may have at most 10,000 characters."),
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """Something that happened to a decision, in words of the person's language."""

    said: tuple[str, ...]
    grounds: str
    reasons: str


def spoken_by(request: Request) -> Language:
    """Return the language that the address asks for, or else the browser."""
    known = languages()
    asked = request.query_params.get("language", "")
    accepted = [tag.split(";")[0].strip()[:2].lower() for tag in request.headers.get("accept-language", "").split(",")]
    return language(next((code for code in (asked, *accepted) if code in known), known[0]))


def _said(request: Request) -> dict[str, Any]:
    """Return what every page here needs to speak."""
    spoken = spoken_by(request)
    return {"spoken": spoken, "say": {name: spoken.text(words) for name, words in WORDS.items()}, "codes": languages()}


@router.get("/my/closed")
def closed(request: Request) -> Response:
    """Say that the decision was closed, or deleted."""
    what = "gone" if "deleted" in request.query_params else "closed"
    return page("my_end.html", visit=None, csrf="", what=what, **_said(request))


@router.get("/my")
def read(there: OpenedHere) -> Response:
    """Show the decision."""
    return _shown(there)


@router.get("/my/receipt.json")
def receipt(there: OpenedHere) -> Response:
    """Give the receipt of the decision."""
    service = there.service
    with service.database.writing() as connection:
        decided = _mine(service, connection, there.person)
        made = make_receipt(connection, service.secrets, decided.event, service.keys.key(there.person))
    return download(json.loads(made.model_dump_json()), f"receipt-{decided.row.id[:8]}.json")


@router.get("/my/export.json")
def export(there: OpenedHere) -> Response:
    """Give everything that is kept about the person."""
    check(ROLE, "export_mine")
    service = there.service
    with service.database.reading() as connection:
        decided = _mine(service, connection, there.person)
        mine = {
            "decision": {
                "id": decided.row.id, "at": decided.row.at, "deployment": decided.deployed.public,
                "state": decided.row.state, "context": decided.context, "answer": decided.answer,
            },
            "history": [_plain(service, connection, row, there.person) for row in history(connection, decided.row.id)],
            "outcome": _outcome(connection, decided.row.id),
            "events": _events(service, connection, there.person),
        }  # fmt: skip
    return download(mine, f"about-me-{decided.row.id[:8]}.json")


@router.post("/my/contest")
def contest(there: SentByPerson, grounds: Annotated[str, Form(max_length=20_000)] = "") -> Response:
    """Take an objection."""
    service = there.service
    try:
        with service.database.writing() as connection:
            decided = _mine(service, connection, there.person)
            check(ROLE, "contest", decided.row.state)
            Contestation(service.keys).contest(connection, decided.row, grounds)
    except InputError as error:
        if error.__class__ is not InputError:
            raise
        return _shown(there, 422, grounds)
    return go(_here(there.request))


@router.post("/my/delete")
def delete(there: SentByPerson, sure: Annotated[str, Form(max_length=10)] = "") -> Response:
    """Erase the person."""
    check(ROLE, "erase")
    if sure != "yes":
        return go(f"{_here(there.request)}#delete")
    service = there.service
    erase(service.database, service.keys, there.person)
    answer = go(f"/my/closed?deleted=yes&language={spoken_by(there.request).code}")
    return leave(answer, there.request, service, OPENED, PATH)


@router.post("/my/close")
def close(there: SentByPerson) -> Response:
    """End the session."""
    answer = go(f"/my/closed?language={spoken_by(there.request).code}")
    return leave(answer, there.request, there.service, OPENED, PATH)


@router.get("/my/{link}")
def cover(request: Request, link: str) -> Response:
    """Show that there is something to open; nothing of it, and nothing is used up."""
    _decision_of(request.app.state.service, link)
    return page("my_cover.html", visit=None, csrf="", link=link, **_said(request))


@router.post("/my/{link}")
def open_link(request: Request, link: str) -> Response:
    """Begin a session of the person whom the decision is about."""
    from_here(request)
    service: Service = request.app.state.service
    row = _decision_of(service, link)
    with service.database.writing() as connection:
        token = begin_session(connection, service.secrets, row.person)
    return keep_session(go(_here(request)), request, OPENED, token, PATH)


def _here(request: Request) -> str:
    return f"/my?language={spoken_by(request).code}"


def _decision_of(service: Service, link: str) -> Row[Any]:
    """Return the decision of a link; 404 if there is none."""
    with service.database.reading() as connection:
        row = decision_of_link(service.decider, connection, link)
        if row is None:
            raise HTTPException(404, "This link is not complete, or nothing was ever decided under it.")
        if connection.execute(select(person.c.erased_at).where(person.c.id == row.person)).scalar_one() is not None:
            raise Erased(row.person)
    return row


def _mine(service: Service, connection: Connection, who: str) -> DecisionRead:
    """Return the decision about a person."""
    identifier = connection.execute(select(decision.c.id).where(decision.c.person == who)).scalars().first()
    decided = None if identifier is None else read_decision(service.decider, connection, identifier)
    if decided is None:
        raise HTTPException(404, "Nothing was decided about you.")
    check(ROLE, "read_decision", decided.row.state)
    return decided


def _shown(there: Opened, status: int = 200, grounds: str = "") -> Response:
    """Return the page of the decision."""
    service, spoken = there.service, spoken_by(there.request)
    with service.database.reading() as connection:
        decided = _mine(service, connection, there.person)
        case, version = decided.run.case, f"{decided.deployed.label}, {decided.deployed.run[:12]}"
        labels = case.labels.get(spoken.code, Labels())
        party = labels.responsible_party or (case.scope.responsible_party if case.scope else "")
        names = LabelledNames(labels, spoken, case.person_concerned or "")
        rows = history(connection, decided.row.id)
        steps = [_step(service, connection, row, there.person, spoken, names) for row in rows]
    return there.page(
        "my_decision.html", status, decided=decided, letter=letter_part(decided.letter(spoken.code)), steps=steps,
        may_contest=is_allowed(ROLE, "contest", decided.row.state), grounds=grounds, wrong=status != 200,
        changed=any(row.action is not None for row in rows),

        party=spoken.text(WORDS["party"], party=party) if party else "",
        made_words=spoken.text(WORDS["made"], day=day(decided.row.at, spoken), version=version),
        number_words=spoken.text(WORDS["number"], id=decided.row.id),
        simulated=bool(decided.run.content["data"].get("simulated")), **_said(there.request),
    )  # fmt: skip


def _told(service: Service, connection: Connection, seq: int, who: str, part: str) -> str:
    return str(Contestation(service.keys).told(connection, seq, who)[part])


def _step(
    service: Service, connection: Connection, row: Row[Any], who: str, spoken: Language, names: LabelledNames
) -> Step:
    """Return what was asked and answered, as the person reads it."""

    def say(part: str, **fields: str) -> str:
        """Return a text of the page in the language of the person."""
        return spoken.text(WORDS[part], **fields)

    said, until = [], day(row.due_at, spoken)
    if row.kind == "contest":
        said.append(say("contested", day=day(row.at, spoken)))
    elif row.kind == "like_case":
        said.append(say("like_case"))
    if row.state == "open":
        late, waits = row.due_at < now(), row.kind == "referral"
        said.append(say(("waiting" if waits else "due") + ("_late" if waits and late else ""), day=until)
                    if waits or not late else say("late", day=until))  # fmt: skip
    elif row.result == "changed":
        action = names.action(row.action)
        said.append(say("settled" if row.kind == "referral" else "changed", action=action))
    else:
        said.append(say(row.result))
    grounds = _told(service, connection, row.seq, who, "grounds") if row.kind == "contest" else ""
    reasons = _told(service, connection, row.answered_seq, who, "reasons") if row.answered_seq is not None else ""
    return Step(tuple(said), grounds, reasons)


def _plain(service: Service, connection: Connection, row: Row[Any], who: str) -> dict[str, Any]:
    """Return what was asked and answered, for the person's file; who answered is not theirs to take."""
    told = {"kind": row.kind, "at": row.at, "due_at": row.due_at, "state": row.state}
    if row.kind == "contest":
        told["grounds"] = _told(service, connection, row.seq, who, "grounds")
    if row.answered_seq is not None:
        reasons = _told(service, connection, row.answered_seq, who, "reasons")
        told |= {"answered_at": row.answered_at, "action": row.action, "reasons": reasons}
    return told


def _outcome(connection: Connection, identifier: str) -> dict[str, Any] | None:
    row = connection.execute(select(outcome).where(outcome.c.decision == identifier)).one_or_none()
    return None if row is None else {"at": row.at, "outcome": row.outcome if row.value is None else row.value}


def _events(service: Service, connection: Connection, who: str) -> list[dict[str, Any]]:
    """Return the events of the log about a person, opened."""
    key = service.keys.key(who)
    return [
        {
            "seq": row.seq, "id": row.id, "at": row.at, "kind": row.kind, "public": json.loads(row.public),
            "private": json.loads(unseal(event_key(key, row.id), bytes(row.sealed), row.id)) if row.sealed else None,
            "hash": bytes(row.hash).hex(),
        }
        for row in connection.execute(select(event).where(event.c.person == who).order_by(event.c.seq))
    ]  # fmt: skip
