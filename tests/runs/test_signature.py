"""A signature says who listed the files; each way it can fail has words of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from accordant.errors import InputError, RunFolderError
from accordant.runs.signature import sign_run, verify_run


@pytest.fixture(scope="module")
def keys(tmp_path_factory, extra):
    """Files with keys: ``mine`` and ``other`` as PEM, ``ssh`` as OpenSSH, ``locked`` encrypted, ``curve`` of another kind."""
    serialization = extra("cryptography.hazmat.primitives.serialization")
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    folder = tmp_path_factory.mktemp("keys")
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    pkcs8, ssh = serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.OpenSSH
    spki, line = serialization.PublicFormat.SubjectPublicKeyInfo, serialization.PublicFormat.OpenSSH
    for name in ("mine", "other", "ssh", "locked"):
        key = ed25519.Ed25519PrivateKey.generate()
        lock = serialization.BestAvailableEncryption(b"secret") if name == "locked" else plain
        form = ssh if name == "ssh" else pkcs8
        (folder / name).write_bytes(key.private_bytes(pem, form, lock))
        public = (serialization.Encoding.OpenSSH, line) if name == "ssh" else (pem, spki)
        (folder / f"{name}.pub").write_bytes(key.public_key().public_bytes(*public))
    curve = ec.generate_private_key(ec.SECP256R1())
    (folder / "curve").write_bytes(curve.private_bytes(pem, pkcs8, plain))
    (folder / "curve.pub").write_bytes(curve.public_key().public_bytes(pem, spki))
    return folder


@pytest.mark.parametrize("name", ["mine", "ssh"])
def test_a_signed_run_is_verified(run_folder, keys, name):
    assert sign_run(run_folder, keys / name) == run_folder / "manifest.sig"
    assert len((run_folder / "manifest.sig").read_bytes()) == 64
    assert verify_run(run_folder, keys / f"{name}.pub").manifest == verify_run(run_folder, None).manifest
    assert [each.name for each in run_folder.parent.iterdir()] == [run_folder.name]


def test_an_encrypted_key_asks_for_its_password(run_folder, keys, monkeypatch):
    with pytest.raises(InputError, match="is encrypted: set ACCORDANT_KEY_PASSWORD"):
        sign_run(run_folder, keys / "locked")
    monkeypatch.setenv("ACCORDANT_KEY_PASSWORD", "wrong")
    with pytest.raises(InputError, match="or ACCORDANT_KEY_PASSWORD is wrong"):
        sign_run(run_folder, keys / "locked")
    monkeypatch.setenv("ACCORDANT_KEY_PASSWORD", "secret")
    sign_run(run_folder, keys / "locked")
    verify_run(run_folder, keys / "locked.pub")


def test_a_password_that_no_key_needs_does_no_harm(run_folder, keys, monkeypatch):
    monkeypatch.setenv("ACCORDANT_KEY_PASSWORD", "secret")
    sign_run(run_folder, keys / "mine")
    assert verify_run(run_folder, keys / "mine.pub").path == run_folder


def test_a_run_is_signed_once(run_folder, keys):
    sign_run(run_folder, keys / "mine")
    with pytest.raises(RunFolderError, match="is signed already"):
        sign_run(run_folder, keys / "other")
    verify_run(run_folder, keys / "mine.pub")


def test_a_changed_run_is_not_signed(run_folder, keys):
    (run_folder / "report.html").write_text("other")
    with pytest.raises(RunFolderError, match="report.html was changed"):
        sign_run(run_folder, keys / "mine")
    assert not (run_folder / "manifest.sig").exists()


def test_each_failure_has_its_own_words(run_folder, keys):
    with pytest.raises(RunFolderError, match=r"is not signed: manifest\.sig is missing"):
        verify_run(run_folder, keys / "mine.pub")
    sign_run(run_folder, keys / "mine")
    with pytest.raises(RunFolderError, match=r"is not a signature of the key in .*other\.pub"):
        verify_run(run_folder, keys / "other.pub")
    (run_folder / "report.html").write_text("other")
    with pytest.raises(RunFolderError, match=r"report\.html was changed after the run"):
        verify_run(run_folder, keys / "mine.pub")


def test_a_manifest_that_was_made_anew_is_noticed(run_folder, keys):
    sign_run(run_folder, keys / "mine")
    manifest = run_folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    verify_run(run_folder, None)
    with pytest.raises(RunFolderError, match="is not a signature"):
        verify_run(run_folder, keys / "mine.pub")


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"\0" * 65])
def test_a_forged_signature(run_folder, keys, content):
    (run_folder / "manifest.sig").write_bytes(content)
    with pytest.raises(RunFolderError, match="is not a signature"):
        verify_run(run_folder, keys / "mine.pub")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("curve", "allowed: an Ed25519 private key"),
        ("mine.pub", "holds no private key"),
        ("none", "cannot be read"),
        (".", "cannot be read"),
    ],
)
def test_what_is_no_key_to_sign_with(run_folder, keys, name, message):
    with pytest.raises(InputError, match=message):
        sign_run(run_folder, keys / name)


@pytest.mark.parametrize(
    ("name", "message"), [("curve.pub", "allowed: an Ed25519 public key"), ("mine", "holds no public key")]
)
def test_what_is_no_key_to_verify_with(run_folder, keys, name, message):
    with pytest.raises(InputError, match=message):
        verify_run(run_folder, keys / name)


def test_a_file_without_end_is_no_key(run_folder, keys):
    with pytest.raises(InputError, match="larger than"):
        sign_run(run_folder, Path("/dev/zero"))


def test_openssl_reads_the_signature(run_folder, keys):
    sign_run(run_folder, keys / "mine")
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(keys / "mine.pub"), "-rawin",
               "-in", str(run_folder / "manifest.json"), "-sigfile", str(run_folder / "manifest.sig")]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    assert "Signature Verified Successfully" in done.stdout, done.stderr


def test_without_the_library_the_message_says_what_to_install(run_folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(InputError, match=r"pip install 'accordant\[sign\]'"):
        sign_run(run_folder, tmp_path)
    verify_run(run_folder, None)  # hashes need no library
