"""The demonstration: everything can be looked at, everybody is invented, and nothing is left."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from accordant.cli.app import app
from accordant.errors import InputError
from accordant.service.api.app import make_app
from accordant.service.pages.demo import GROUNDS, HOMES, demonstration
from accordant.service.record.audit import audit


@pytest.mark.long
def test_a_demonstration_shows_everything_says_that_it_is_invented_and_leaves_nothing():
    with demonstration() as (service, shown):
        folder = service.database.file.parent
        pages = {}
        for name, path in shown.items():
            with TestClient(make_app(service, demonstration=True)) as there:
                assert there.get(path).status_code == 200
                pages[name] = there.post(path, headers={"Accept-Language": "en"})
                assert pages[name].status_code == 200
                assert "invented" in pages[name].text
                if path.startswith("/join"):
                    assert "invented" in there.get("/runs").text
        assert any("You objected on" in page.text for page in pages.values())
        assert len(pages) == 5
        with service.database.reading() as connection:
            found = audit(connection, service.secrets)
        assert (found.fault, found.kinds["decision"], found.kinds["contest"]) == ("", HOMES, len(GROUNDS))
    assert not folder.exists()


@pytest.mark.parametrize("more", [["loans"], ["--database", "sqlite:///other.db"], ["--workers", "2"]])
def test_a_demonstration_takes_no_run_and_no_database(more):
    told = CliRunner().invoke(app, ["serve", "--demo", *more])
    assert isinstance(told.exception, InputError)
    assert "--demo brings its own run and database" in str(told.exception)
