"""What programs ask: decisions, and what they tell: outcomes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, HTTPException, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Row
from starlette.concurrency import run_in_threadpool

from accordant.service.clients import KnownClients, RevokedError, client_of
from accordant.service.outcomes import record_outcomes
from accordant.service.service import Service

MOST_CONTEXTS = 1_000  # in one question; more are a job
MOST_COLUMNS = 1_000
LONGEST_TEXT = 10_000

router = APIRouter(prefix="/v1", tags=["decisions"])
bearer = HTTPBearer(auto_error=False, description="The key that `accordant client add` prints.")


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]
Cell = Text | Whole | float | None
Context = Annotated[dict[Name, Cell], Field(min_length=1, max_length=MOST_COLUMNS)]


class DecisionsQuestion(_Body):
    """Contexts that are to be decided."""

    contexts: Annotated[list[Context], Field(min_length=1, max_length=MOST_CONTEXTS)]
    deployment: Name | None = None


class DecisionCertificate(BaseModel):
    """Below this radius of their rewards in E, no misreports of anybody change the action."""

    radius: float | None
    safe_always: bool


class DecisionAnswer(BaseModel):
    """One decision; see `Recommendations` for its parts."""

    id: str
    action: str | None
    expected_rewards: dict[str, dict[str, float]]
    runner_up: str | None
    margin: float | None
    remarks: list[str]
    certificate: DecisionCertificate | None
    link: str


class DecisionsAnswer(BaseModel):
    """Decisions in the order of the contexts, and the hash of the run that decided."""

    decisions: list[DecisionAnswer]
    version: str


class OutcomeTold(_Body):
    """What came of a decision: the name of an outcome, or a number."""

    decision: Name
    outcome: Text | float


class OutcomesQuestion(_Body):
    """What came of decisions."""

    outcomes: Annotated[list[OutcomeTold], Field(min_length=1, max_length=MOST_CONTEXTS)]


class OutcomesAnswer(BaseModel):
    """How many were new."""

    recorded: int


class Detail(BaseModel):
    """What is wrong."""

    detail: Any


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Detail, "description": words}
    for status, words in {
        400: "The body is no JSON.",
        401: "No client has this key.",
        409: "It contradicts what is on record.",
        410: "Somebody whom it is about was erased.",
        408: "The body came too slowly.",
        413: "The body is too large.",
        415: "The body is packed.",
        422: "A value cannot be used.",
        429: "This came too often.",
        503: "The database does not answer.",
    }.items()
}


def asking(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> tuple[Service, Row[Any]]:
    """Return the service and the client whose key came with the request; 401 if there is none."""
    service: Service = request.app.state.service
    if credentials is not None:
        with service.database.reading() as connection:
            client = client_of(connection, service.secrets, credentials.credentials)
        if client is not None:
            request.state.client = client.id
            return service, client
    raise _stranger()


async def asking_again(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> tuple[Service, Row[Any]]:
    """Return what `asking` does, without a look into the database where the key was good before: `decide` looks."""
    known: KnownClients = request.app.state.known_clients
    before = None if credentials is None else known.get(credentials.credentials)
    if before is not None:
        request.state.client = before.id
        return request.app.state.service, before
    service, client = await run_in_threadpool(asking, request, credentials)
    known.keep(client)
    return service, client


def _stranger() -> HTTPException:
    return HTTPException(401, "no client has this key", {"WWW-Authenticate": "Bearer"})


Asking = Annotated[tuple[Service, Row[Any]], Depends(asking)]


@router.post("/decisions", responses=REFUSALS, response_model=DecisionsAnswer)
def decide(
    request: Request,
    question: DecisionsQuestion,
    by: Annotated[tuple[Service, Row[Any]], Depends(asking_again)],
    idempotency_key: Annotated[str, Header(min_length=1, max_length=200)],
) -> Response:
    """Decide about contexts. The same Idempotency-Key gives the same answer again; all is recorded before it leaves."""
    service, client = by
    try:
        answer = service.decider.decide(client, idempotency_key, question.contexts, question.deployment)
    except RevokedError:
        request.app.state.known_clients.forget(client)
        del request.state.client
        raise _stranger() from None
    return Response(answer.to_json(), media_type="application/json")


@router.post("/outcomes", responses=REFUSALS)
def outcomes(question: OutcomesQuestion, by: Asking) -> OutcomesAnswer:
    """Tell what came of decisions; the same told again changes nothing."""
    service, client = by
    with service.database.writing() as connection:
        told = [(outcome.decision, outcome.outcome) for outcome in question.outcomes]
        return OutcomesAnswer(recorded=record_outcomes(connection, service.decider.runs, client.workspace, told))
