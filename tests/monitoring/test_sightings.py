"""What was seen before."""

from __future__ import annotations

import random

from accordant.monitoring.sightings import FIRST_SIZE, Sightings, fingerprint


def test_a_table_is_a_dictionary_of_first_notes():
    seen, twin, generator = Sightings(), {}, random.Random(0)
    for _ in range(6 * FIRST_SIZE):
        key, note = fingerprint(generator.randrange(3 * FIRST_SIZE)), generator.randrange(1, 2**64)
        assert seen.see(key, note) == twin.get(key, 0)
        twin.setdefault(key, note)
    assert len(twin) > 2 * FIRST_SIZE  # it has grown


def test_fingerprints_tell_texts_apart():
    assert len({fingerprint("row", k) for k in range(10_000)}) == 10_000
    assert fingerprint("1", "2") != fingerprint("12") and fingerprint("\udc80") == fingerprint("\udc80") > 0
