"""Coming in by the account of an organisation, and linking one: only where a provider is configured.

A form sends the browser to the provider, so that nothing begins by a GET; the provider sends it back by one, as the
standard wants. That is taken once, from the browser that was sent, and begins a session of its own.
"""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from accordant.service.identity import (
    back_from_provider,
    begin_session,
    end_session,
    link_account,
    person_of_account,
    send_to_provider,
    unlink_account,
)
from accordant.service.oidc import NotSignedInError, Proofs, Provider
from accordant.service.pages.entrance import count_try
from accordant.service.pages.visit import SIGNED_IN, PageRoute, Seen, Sent, Visit, from_here, go, keep_session
from accordant.service.record.log import Act, append
from accordant.service.secrets import new_token

PATH = "/oidc"
SENT = "accordant_account"  # the cookie of a browser that is at the provider
AGAIN = "This sign-in was begun in another browser, too long ago, or is over already. Begin it again."
STOPPED = "The sign-in was stopped at your organisation. Nothing was changed."
FAILED = (
    "Your organisation's sign-in ended with an error, and nothing was changed. "
    "If it happens again, tell whoever runs this service."
)
NOBODY = (
    "No account is linked here by which you could come in. If you work here, come in by your personal link or your "
    "invitation first, and link your account there."
)

router = APIRouter(prefix=PATH, route_class=PageRoute, include_in_schema=False)


@router.post("/sign-in")
def sign_in_by_account(request: Request, visit: Seen) -> Response:
    """Send somebody to the provider to come in."""
    from_here(request)
    return _sent(visit, None)


@router.post("/link")
def link(visit: Sent) -> Response:
    """Send the visitor to the provider to link an account."""
    assert visit.visitor is not None
    return _sent(visit, visit.visitor.person)


@router.post("/unlink")
def unlink(visit: Sent) -> Response:
    """Unlink the visitor's account."""
    assert visit.visitor is not None
    with visit.service.database.writing() as connection:
        unlink_account(connection, visit.visitor.person)
    return go("/welcome")


def _sent(visit: Visit, who: str | None) -> Response:
    """Return the page that goes on to the provider by itself.

    A redirect would need every address on the way to stand in the policy for forms, those of the provider's own
    providers too.
    """
    count_try(visit.request)
    service, token = visit.service, new_token()
    address = _provider(visit).sign_in_address(Proofs.of(service.secrets, token))
    with service.database.writing() as connection:
        send_to_provider(connection, service.secrets, token, who)
    return keep_session(visit.page("to_provider.html", address=address), visit.request, SENT, token, PATH)


@router.get("/callback")
def callback(
    visit: Seen, state: Annotated[str, Query(max_length=200)] = "", code: Annotated[str, Query(max_length=8_000)] = "",
    error: Annotated[str, Query(max_length=200)] = "", iss: Annotated[str, Query(max_length=2_000)] = "",
) -> Response:  # fmt: skip
    """Take back a browser from the provider: let it in, or link the account."""
    service, provider = visit.service, _provider(visit)
    token = visit.request.cookies.get(SENT, "")
    proofs = Proofs.of(service.secrets, token)
    if not hmac.compare_digest(state.encode(), proofs.state.encode()):
        raise NotSignedInError(AGAIN)
    with service.database.writing() as connection:
        sent = back_from_provider(connection, service.secrets, token)
    if sent is None or (sent.person is not None and (visit.visitor is None or visit.visitor.person != sent.person)):
        raise NotSignedInError(AGAIN)
    if error or not code or iss not in {"", provider.issuer}:
        raise NotSignedInError(STOPPED if error == "access_denied" else FAILED)
    begun = _session(visit, provider, provider.subject(code, proofs), sent.person)
    answer = keep_session(go("/" if sent.person is None else "/welcome"), visit.request, SIGNED_IN, begun)
    answer.delete_cookie(SENT, path=PATH)
    return answer


def _session(visit: Visit, provider: Provider, subject: str, linking: str | None) -> str:
    """Return the token of a new session of whose account it is; the browser's old one ends."""
    secrets = visit.service.secrets
    with visit.service.database.writing() as connection:
        if linking is not None:
            link_account(connection, secrets, linking, provider.issuer, subject)
        who = person_of_account(connection, secrets, provider.issuer, subject)
        if who is None:
            raise NotSignedInError(NOBODY)
        if linking is None:
            append(connection, [Act("sign_in", {"by": "account"}, who)])
        if old := visit.request.cookies.get(SIGNED_IN):
            end_session(connection, secrets, old)
        return begin_session(connection, secrets, who)


def _provider(visit: Visit) -> Provider:
    provider: Provider = visit.request.app.state.provider
    return provider
