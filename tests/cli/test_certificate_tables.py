"""What is printed of certificates, and how the members of a coalition are read."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.cli import certificate_tables
from accordant.cli.certificate_tables import members_of
from accordant.errors import InputError


def test_a_radius_without_end_is_never():
    assert (certificate_tables._radius(np.inf), certificate_tables._radius(0.05)) == ("never", "0.0500")


def test_members_are_named_between_commas():
    assert members_of(None) is None
    assert members_of(" Bank,, Regulator ") == ["Bank", "Regulator"]
    with pytest.raises(InputError, match="names nobody"):
        members_of(" , ")
