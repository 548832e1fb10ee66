"""The pages of a service: for whoever is decided about, for those who answer, deploy and audit. None needs a script.

visit          who is there: sessions, forms that only this browser's owner can send, what a refusal looks like
layout         templates, styles and words that all pages share
my_decision    what was decided about me, why, and how I contest it
reviews        what people must answer, and like cases
entrance       coming in by a link or a code, and going out
oidc           coming in by the account of an organisation, where a provider is configured
people         inviting people, admitting programs
runs           published runs, compared; versions that decide
jobs           what is carried out by workers
record_pages   the log, its proofs, and public figures
demo           the shipped story with made-up people
"""

from __future__ import annotations

from fastapi import APIRouter

from accordant.service.pages import entrance, jobs, layout, my_decision, people, record_pages, reviews, runs

router = APIRouter(include_in_schema=False)
for part in (layout, entrance, my_decision, reviews, runs, people, jobs, record_pages):
    router.include_router(part.router)
