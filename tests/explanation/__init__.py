"""Tests of explanations; a package, because several files share one conftest by name."""
