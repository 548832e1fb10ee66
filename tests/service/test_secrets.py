"""The secret of a service: read from the environment, or made once in a file, and refused if it is none."""

from __future__ import annotations

import base64

import pytest

from accordant.errors import InputError
from accordant.service.secrets import Secrets, read_secrets

GIVEN = bytes(range(32))
TEXT = base64.b64encode(GIVEN).decode()


def test_a_secret_of_the_environment_goes_before_one_in_a_file(tmp_path):
    made = read_secrets(tmp_path / "secret", {})
    assert made != Secrets(GIVEN)
    assert read_secrets(tmp_path / "secret", {}) == made
    assert read_secrets(tmp_path / "secret", {"ACCORDANT_SECRET": f" {TEXT}\n"}) == Secrets(GIVEN)


@pytest.mark.parametrize("text", ["", TEXT[:-4], TEXT[:9] + "!" + TEXT[9:], TEXT[:9] + " " + TEXT[9:], "é" + TEXT])
def test_what_is_not_a_secret_in_every_character_is_refused(text, tmp_path):
    (tmp_path / "secret").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="ACCORDANT_SECRET holds no secret; allowed: 32 bytes in base64"):
        read_secrets(None, {"ACCORDANT_SECRET": text})
    with pytest.raises(InputError, match="secret holds no secret"):
        read_secrets(tmp_path / "secret", {})


def test_without_a_place_for_it_a_secret_must_be_given():
    with pytest.raises(InputError, match="ACCORDANT_SECRET is not set"):
        read_secrets(None, {})
