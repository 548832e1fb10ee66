"""Who may do what: one table, role by act, with the states of the object in which the act is allowed.

Routes ask `check`, and nothing else decides. What the table allows still concerns objects of one's own workspace only;
those whom a decision is about have no role, but a link: for that decision they are ``concerned``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, get_args

from accordant.errors import AccordantError

Role = Literal["owner", "analyst", "facilitator", "participant", "reviewer", "auditor", "client", "concerned"]
Act = Literal[
    "see_runs",
    "publish_run",
    "deploy",
    "manage_clients",
    "invite",
    "ask_decision",
    "tell_outcome",
    "read_decision",
    "contest",
    "review",
    "decide_alike",
    "see_reviews",
    "see_statistics",
    "read_log",
    "erase",
    "export_mine",
    "export_all",
    "start_job",
]
ROLES: tuple[Role, ...] = get_args(Role)
ACTS: tuple[Act, ...] = get_args(Act)
ANY = frozenset({"any"})
CONTESTABLE = frozenset({"decided"})
REVIEWABLE = frozenset({"contested", "referred"})
SEEN_BY_REVIEWERS = frozenset({"contested", "referred", "changed", "upheld"})

ALLOWED: Mapping[Role, Mapping[Act, frozenset[str]]] = {
    "owner": {
        "see_runs": ANY, "publish_run": ANY, "deploy": ANY, "manage_clients": ANY, "invite": ANY, "see_reviews": ANY,
        "see_statistics": ANY, "read_log": ANY, "erase": ANY, "export_all": ANY, "start_job": ANY,
    },
    "analyst": {"see_runs": ANY, "publish_run": ANY, "see_statistics": ANY, "start_job": ANY},
    "facilitator": {"see_runs": ANY, "see_statistics": ANY},
    "participant": {"see_runs": ANY},
    "reviewer": {
        "see_runs": ANY, "see_reviews": ANY, "see_statistics": ANY, "read_decision": SEEN_BY_REVIEWERS,
        "review": REVIEWABLE, "decide_alike": CONTESTABLE,
    },
    "auditor": {"see_runs": ANY, "see_statistics": ANY, "read_log": ANY},
    "client": {"ask_decision": ANY, "tell_outcome": ANY},
    "concerned": {"read_decision": ANY, "contest": CONTESTABLE, "erase": ANY, "export_mine": ANY},
}  # fmt: skip


class ForbiddenError(AccordantError):
    """An act that nobody's role allows; the answer says no more than that."""


def is_allowed(roles: Collection[Role], act: Act, state: str = "any") -> bool:
    """Return whether one of the roles allows an act on an object in a state."""
    return any(
        state in allowed or "any" in allowed for role in roles if (allowed := ALLOWED[role].get(act)) is not None
    )


def check(roles: Collection[Role], act: Act, state: str = "any") -> None:
    """Refuse what is not allowed; raises ForbiddenError."""
    if not is_allowed(roles, act, state):
        raise ForbiddenError(f"{act} is not allowed")
