"""What was seen before, by hashes of 64 bits: a log of any length takes some hundred bytes a line."""

from __future__ import annotations

import hashlib
from array import array

FIRST_SIZE = 1024  # slots; a power of two
FULL = 0.6  # share of slots in use from which on there are twice as many


def fingerprint(*parts: object) -> int:
    """Return a number of 64 bits, never 0; n different texts share one with probability n² / 2⁶⁵ at most."""
    digest = hashlib.blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1


class Sightings:
    """Fingerprints with what was first noted about each: a hash table by open addressing."""

    def __init__(self) -> None:
        self._keys, self._notes, self._n = array("Q", bytes(8 * FIRST_SIZE)), array("Q", bytes(8 * FIRST_SIZE)), 0

    def see(self, key: int, note: int = 1) -> int:
        """Return what was noted about a key when it was first seen, 0 if that is now."""
        slot = self._slot(key)
        if self._keys[slot]:
            return self._notes[slot]
        self._keys[slot], self._notes[slot] = key, note
        self._n += 1
        if self._n > FULL * len(self._keys):
            self._grow()
        return 0

    def _slot(self, key: int) -> int:
        """Return where a key is, or would be."""
        last = len(self._keys) - 1
        slot = key & last
        while self._keys[slot] not in (0, key):
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        keys, notes = self._keys, self._notes
        self._keys, self._notes = array("Q", bytes(16 * len(keys))), array("Q", bytes(16 * len(keys)))
        for key, note in zip(keys, notes, strict=True):
            if key:
                slot = self._slot(key)
                self._keys[slot], self._notes[slot] = key, note
