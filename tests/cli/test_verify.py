"""`sign` and `verify`: what they print, and how each fault ends."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def run(case_folder, finished_run):
    """A copy that a test may sign or spoil."""
    shutil.rmtree(case_folder / "copied", ignore_errors=True)
    return shutil.copytree(finished_run, case_folder / "copied")


@pytest.fixture
def keys(case_folder, extra):
    """Files with a private key and its public one."""
    serialization = extra("cryptography.hazmat.primitives.serialization")
    ed25519 = extra("cryptography.hazmat.primitives.asymmetric.ed25519")
    key, pem = ed25519.Ed25519PrivateKey.generate(), serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    (case_folder / "key.pem").write_bytes(private)
    (case_folder / "key.pub").write_bytes(public)


@pytest.mark.long
def test_run_says_the_hash_of_its_manifest(accordant, case_folder):
    done = accordant("run", "beds.yaml", "--out", "told", "--json")
    told = json.loads(done.stdout)["manifest_sha256"]
    assert f"told/manifest.json: {told}" in done.stderr
    assert json.loads(accordant("verify", "told", "--json").stdout)["manifest_sha256"] == told


def test_without_a_key_it_says_what_hashes_do_not_prove(accordant, run):
    done = accordant("verify", "copied")
    assert done.returncode == 0
    assert "files are as manifest.json lists them" in done.stdout and "does not prove who made the run" in done.stdout


@pytest.mark.long
def test_signed_and_verified(accordant, run, keys):
    assert accordant("sign", "copied", "--key", "key.pem").stdout == "signature: copied/manifest.sig\n"
    done = accordant("verify", "copied", "--by", "key.pub")
    assert done.returncode == 0
    assert "it was signed with the key that belongs to key.pub" in done.stdout and "not prove" not in done.stdout
    assert json.loads(accordant("verify", "copied", "--by", "key.pub", "--json").stdout)["signed"] is True
    assert accordant("recommend", "copied", "beds.csv").returncode == 0


def test_faults_end_with_2(accordant, run, keys):
    unsigned = accordant("verify", "copied", "--by", "key.pub")
    assert (unsigned.returncode, unsigned.stdout) == (2, "") and "is not signed" in unsigned.stderr
    assert accordant("sign", "copied", "--key", "key.pub").returncode == 2
    (run / "report.html").write_text("other")
    changed = accordant("verify", "copied")
    assert changed.returncode == 2 and "report.html was changed after the run" in changed.stderr


def test_what_cannot_be_saved_is_refused_before_the_fits(accordant, case_folder):
    model = "RadiusNeighborsRegressor"
    text = (case_folder / "beds.yaml").read_text(encoding="utf-8")
    (case_folder / "other.yaml").write_text(text.replace("{name: stated}", f"{{name: {model}}}"), encoding="utf-8")
    done = accordant("run", "other.yaml", "--out", "never")
    assert done.returncode == 2
    assert f"reward model: {model} cannot be saved in a run folder" in done.stderr and "KNeighbors" in done.stderr
    assert "training rows" not in done.stderr and not (case_folder / "never").exists()


@pytest.mark.long
def test_nearest_neighbours_learn_rewards_and_recommend(accordant, case_folder):
    text = (case_folder / "beds.yaml").read_text(encoding="utf-8")
    (case_folder / "near.yaml").write_text(
        text.replace("{name: stated}", "{name: KNeighborsRegressor}"), encoding="utf-8"
    )
    assert accordant("run", "near.yaml", "--out", "near").returncode == 0
    done = accordant("recommend", "near", "beds.csv", "--json")
    assert done.returncode == 0 and len(json.loads(done.stdout)) == 240
