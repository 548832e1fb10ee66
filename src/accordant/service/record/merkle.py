"""Merkle trees after RFC 6962, section 2.1: roots of growing logs, and proofs that a leaf is inside.

leaf   SHA-256(0x00 ‖ content)
node   SHA-256(0x01 ‖ left ‖ right); the left part of n leaves holds the largest power of two below n
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

EMPTY = hashlib.sha256(b"").digest()
HASH_BYTES = 32


def leaf_hash(content: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(b"\x00" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of two parts of a tree."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def _split(size: int) -> int:
    """Return the largest power of two below `size`, which is at least 2."""
    return int(1 << ((size - 1).bit_length() - 1))


@dataclass(frozen=True)
class Frontier:
    """What must be kept of a growing tree to know its root: one hash for each full part, the largest first.

    Attributes
    ----------
    size
        How many leaves the tree has.
    hashes
        As many as `size` has ones in binary.
    """

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def append(self, leaf: bytes) -> Frontier:
        """Return the frontier with one leaf hash more."""
        hashes, part = [*self.hashes, leaf], self.size
        while part & 1:
            right, left = hashes.pop(), hashes.pop()
            hashes.append(node_hash(left, right))
            part >>= 1
        return Frontier(self.size + 1, tuple(hashes))

    @property
    def root(self) -> bytes:
        """The hash of the tree."""
        if not self.hashes:
            return EMPTY
        root = self.hashes[-1]
        for part in reversed(self.hashes[:-1]):
            root = node_hash(part, root)
        return root

    def to_bytes(self) -> bytes:
        """Return the hashes in a row; the size is kept beside them."""
        return b"".join(self.hashes)

    @classmethod
    def of_bytes(cls, size: int, content: bytes) -> Frontier:
        """Return what `to_bytes` wrote; raises ValueError if there are not as many hashes as the size says."""
        if len(content) != HASH_BYTES * size.bit_count():
            raise ValueError(f"{len(content)} bytes for a tree of {size} leaves")
        starts = range(0, len(content), HASH_BYTES)
        return cls(size, tuple(content[start : start + HASH_BYTES] for start in starts))


Part = Callable[[int, int], bytes]
"""From first leaf and number of leaves to the hash of that part of a tree."""


def part_of(leaves: Sequence[bytes]) -> Part:
    """Return the function that hashes parts of a tree whose leaf hashes are all at hand."""

    def part(start: int, size: int) -> bytes:
        """Return the hash of `size` leaves from `start` on."""
        if size == 0:
            return EMPTY
        if size == 1:
            return leaves[start]
        left = _split(size)
        return node_hash(part(start, left), part(start + left, size - left))

    return part


def inclusion_proof(part: Part, leaf: int, size: int, start: int = 0) -> list[bytes]:
    """Return the hashes that lead from a leaf to the root of the first `size` leaves (RFC 6962, 2.1.1).

    Parameters
    ----------
    part
        See `Part`.
    leaf
        Its position below `start`, from 0 to size − 1.
    size, start
        Which leaves: `size` of them, from `start`.
    """
    if not 0 <= leaf < size:
        raise ValueError(f"leaf {leaf} of a tree with {size} leaves")
    if size == 1:
        return []
    left = _split(size)
    if leaf < left:
        return [*inclusion_proof(part, leaf, left, start), part(start + left, size - left)]
    return [*inclusion_proof(part, leaf - left, size - left, start + left), part(start, left)]


def included_root(leaf_digest: bytes, leaf: int, size: int, proof: Sequence[bytes]) -> bytes:
    """Return the root that an inclusion proof leads to (RFC 9162, 2.1.3.2); raises ValueError if it cannot be one."""
    if not 0 <= leaf < size:
        raise ValueError(f"leaf {leaf} of a tree with {size} leaves")
    position, last, digest = leaf, size - 1, leaf_digest
    for other in proof:
        if last == 0:
            raise ValueError("the proof is too long")
        if position & 1 or position == last:
            digest = node_hash(other, digest)
            while position and not position & 1:
                position, last = position >> 1, last >> 1
        else:
            digest = node_hash(digest, other)
        position, last = position >> 1, last >> 1
    if last:
        raise ValueError("the proof is too short")
    return digest
