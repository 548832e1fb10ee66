"""Logs of a server or a worker: a line of JSON each, with names of things and never a value of anybody.

Messages of unexpected errors may repeat what somebody asked; of these the kind and the places are told, no more.
"""

from __future__ import annotations

import json
import logging
import traceback
from typing import Any

from accordant.service.record.log import now

OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}
MOST_PLACES = 20  # of a traceback, those nearest to the fault


class JsonLines(logging.Formatter):
    """Writes records as JSON, one a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line: dict[str, Any] = {
            "at": now(), "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage(),
        }  # fmt: skip
        line |= {name: value for name, value in vars(record).items() if name not in OWN}
        if record.exc_info and record.exc_info[0] is not None:
            places = traceback.extract_tb(record.exc_info[2])[-MOST_PLACES:]
            line["error"] = record.exc_info[0].__name__
            line["places"] = [f"{place.filename}:{place.lineno} {place.name}" for place in places]
            if record.name.startswith("uvicorn"):
                line["message"] = "an unexpected error"  # theirs holds the whole traceback as text
        return json.dumps(line, ensure_ascii=False, default=str)


def log_as_json(level: int = logging.INFO) -> None:
    """Let this process log to standard error as JSON lines, and nothing else."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    for name in ("accordant", "uvicorn", "uvicorn.error", "alembic"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("accordant").setLevel(level)
