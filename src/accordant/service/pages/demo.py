"""The shipped story, deployed, with homes that a simulator invented: everything can be looked at in one minute.

Nothing here is kept: the database stands in a folder that goes with the process. The links that are printed open the
page of one invented person, and the pages of an owner, a reviewer and an auditor.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from accordant.cases.story.homes import BURDEN, CONDITION, DEMAND, drawn_homes
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.service.clients import add_client, client_of
from accordant.service.contests import Contestation
from accordant.service.identity import INVITATION_PATH, invite
from accordant.service.service import Service, open_service
from accordant.service.stored_decisions import decision_of_link
from accordant.tables.scratch import ScratchFolder
from accordant.threads import free_cores

CASE, HOMES, SEED = "story", 100, 2026
GROUNDS = (
    "The condition of my home was written down before the roof was repaired last spring.",
    "Nobody asked me whether the part of my income that goes into rent is still right. It has risen since.",
    "My neighbour's home is the same, and they were given insulation.",
)
"""What invented people object."""
ROLES = ("owner", "reviewer", "auditor")


@contextmanager
def demonstration() -> Iterator[tuple[Service, dict[str, str]]]:
    """Open a service with the story, and give the addresses to look at by what they are.

    Everything is removed when the block ends.
    """
    with ScratchFolder() as name:
        folder = Path(name)
        run = read_run(write_run(carry_out(CASE, RunOptions(n_jobs=free_cores())), folder / "run"))
        service = open_service(f"sqlite:///{folder / 'demo.db'}")
        service.deploy(run, "grants")
        links = _decided(service)
        shown = {"an invented person's decision": links[0], "that of another one, who objected": links[1]}
        with service.database.writing() as connection:
            for role in ROLES:
                token = invite(connection, service.secrets, service.workspace, role).token
                shown[f"come in as {role}, once"] = f"{INVITATION_PATH}{token}"
        try:
            yield service, shown
        finally:
            service.close()


def _decided(service: Service) -> list[str]:
    """Let invented homes be decided, and some of their people object; return the links of all."""
    with service.database.writing() as connection:
        key = add_client(connection, service.secrets, service.workspace, "demonstration")
    with service.database.reading() as connection:
        client = client_of(connection, service.secrets, key)
    assert client is not None
    homes = drawn_homes(HOMES, np.random.default_rng(SEED))[[DEMAND, BURDEN, CONDITION]]
    contexts = [*({str(name): float(value) for name, value in row.items()} for row in homes.to_dict("records"))]
    links = [decision["link"] for decision in service.decider.decide(client, "homes", contexts).decisions]
    with service.database.writing() as connection:
        for link, grounds in zip(links[1:], GROUNDS, strict=False):
            row = decision_of_link(service.decider, connection, link.rsplit("/", 1)[1])
            assert row is not None
            Contestation(service.keys).contest(connection, row, grounds)
    return links
