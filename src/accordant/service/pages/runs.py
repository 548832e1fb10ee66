"""Published runs with their pages, compared; and versions: which strategy decides under which name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import Connection, func, select
from starlette.exceptions import HTTPException

from accordant.errors import InputError
from accordant.report.labels import label_of
from accordant.runs import Run
from accordant.runs.sections.comparison import compare_runs
from accordant.service.deployments import Deployment, activate, all_deployments, deploy, retire
from accordant.service.pages.visit import PageRoute, Seen, Sent, Visit, go
from accordant.service.schema import decision, deployment
from accordant.service.schema import run as published

router = APIRouter(route_class=PageRoute)
POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
ACTS: Mapping[str, str] = {
    "activate": "Let it decide",
    "shadow": "Let it decide silently",
    "retire": "Let it decide no more",
}
"""What can be done with a version, as buttons say it."""
