"""Merkle trees: the vectors of certificate transparency, and proofs that hold for nothing else."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.service.record.merkle import (
    EMPTY,
    Frontier,
    included_root,
    inclusion_proof,
    leaf_hash,
    part_of,
)

LEAVES = [bytes.fromhex(each) for each in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]  # of the first n leaves: the test vectors of certificate transparency


def twin(leaves):
    """The root by the definition of RFC 6962, without anything kept."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    left = 1
    while left * 2 < len(leaves):
        left *= 2
    return hashlib.sha256(b"\x01" + twin(leaves[:left]) + twin(leaves[left:])).digest()


def hashes(n):
    return [leaf_hash(str(i).encode()) for i in range(n)]


def grown(leaves):
    tree = Frontier()
    for leaf in leaves:
        tree = tree.append(leaf)
    return tree


@pytest.mark.parametrize("n", range(1, 9))
def test_vectors_of_certificate_transparency(n):
    assert grown([leaf_hash(each) for each in LEAVES[:n]]).root.hex() == ROOTS[n - 1]


@pytest.mark.parametrize("n", range(70))
def test_a_frontier_has_the_root_of_the_definition(n):
    tree = grown(hashes(n))
    assert tree.root == twin(hashes(n)) == part_of(hashes(n))(0, n)
    assert Frontier.of_bytes(n, tree.to_bytes()) == tree


def test_nothing_has_the_hash_of_nothing():
    assert Frontier().root == EMPTY == twin([])


def test_a_frontier_of_another_size_is_refused():
    with pytest.raises(ValueError, match="tree of 2 leaves"):
        Frontier.of_bytes(2, grown(hashes(3)).to_bytes())


@pytest.mark.parametrize("n", range(1, 40))
def test_every_leaf_is_proven_and_no_other_one(n):
    leaves = hashes(n)
    for leaf in range(n):
        proof = inclusion_proof(part_of(leaves), leaf, n)
        assert included_root(leaves[leaf], leaf, n, proof) == twin(leaves)
        assert included_root(leaf_hash(b"another"), leaf, n, proof) != twin(leaves)


@given(st.data())
def test_a_changed_proof_leads_elsewhere(data):
    n = data.draw(st.integers(2, 60))
    leaf = data.draw(st.integers(0, n - 1))
    leaves = hashes(n)
    proof = inclusion_proof(part_of(leaves), leaf, n)
    place = data.draw(st.integers(0, len(proof) - 1))
    proof[place] = leaf_hash(proof[place])
    assert included_root(leaves[leaf], leaf, n, proof) != twin(leaves)


@given(st.integers(1, 60), st.data())
def test_a_proof_of_the_wrong_length_is_refused(n, data):
    leaf = data.draw(st.integers(0, n - 1))
    leaves = hashes(n)
    proof = inclusion_proof(part_of(leaves), leaf, n)
    with pytest.raises(ValueError, match="too long"):
        included_root(leaves[leaf], leaf, n, [*proof, leaves[0]])
    if proof:
        with pytest.raises(ValueError, match="too short"):
            included_root(leaves[leaf], leaf, n, proof[:-1])


@pytest.mark.parametrize(("leaf", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_a_leaf_outside_is_refused(leaf, size):
    with pytest.raises(ValueError, match=f"leaf {leaf} of a tree"):
        included_root(EMPTY, leaf, size, [])
    with pytest.raises(ValueError, match=f"leaf {leaf} of a tree"):
        inclusion_proof(part_of(hashes(3)), leaf, size)
