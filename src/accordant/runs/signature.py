"""Ed25519 signatures of run folders: who listed the files, where a manifest alone says only which they are.

The signature stands beside the manifest as ``manifest.sig``, 64 bytes over the bytes of ``manifest.json`` (RFC 8032),
and the manifest holds the hash of every other file. ``openssl pkeyutl -verify -rawin`` reads the same.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from accordant.errors import InputError, RunFolderError
from accordant.runs.folder import Run, read_run
from accordant.runs.manifest import SIGNATURE, Manifest, regular_bytes
from accordant.tables.output import MANIFEST, add_to_run

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PASSWORD_VARIABLE = "ACCORDANT_KEY_PASSWORD"  # noqa: S105 - the name of a variable, not a password
OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----", b"ssh-ed25519 "  # how private and public keys of OpenSSH begin
HEX_KEY = re.compile("[0-9a-fA-F]{64}")
LARGEST_KEY = 1 << 16  # bytes; a key takes a few hundred


def sign_run(folder: Path, key: Path) -> Path:
    """Sign the manifest of a run that is as it was listed; return the path of the signature.

    Parameters
    ----------
    folder
        A finished run without a signature.
    key
        File with an Ed25519 private key: PEM (PKCS 8) or OpenSSH. The password of an encrypted one is read from the
        environment variable ``ACCORDANT_KEY_PASSWORD``.

    Raises
    ------
    RunFolderError
        If the folder is no finished run, was changed, or is signed.
    InputError
        If the key cannot be used, or the signature cannot be written.
    """
    target = folder / SIGNATURE
    private = _private_key(key)
    manifest = read_run(folder).manifest
    if os.path.lexists(target):
        raise RunFolderError(f"{folder} is signed already; delete {target} to sign it anew")
    return add_to_run(folder, SIGNATURE, private.sign(manifest.content))


def verify_run(folder: Path, key: Path | None) -> Run:
    """Return a run whose files are as it lists them and, with a key, whose signature is that key's.

    Parameters
    ----------
    folder
        A finished run.
    key
        File with an Ed25519 public key: PEM (SubjectPublicKeyInfo) or OpenSSH; None compares hashes only.

    Raises
    ------
    RunFolderError
        If the run is not signed, the signature is not of this key over this manifest, or a file was changed.
    InputError
        If the key cannot be used.
    """
    public = None if key is None else _public_key(key)
    run = read_run(folder)
    if public is not None and key is not None:
        _check_signature(run.manifest, public, key)
    return run


def public_key_bytes(given: str) -> bytes:
    """Return the 32 bytes of an Ed25519 public key, from its hexadecimal digits or a file, PEM or OpenSSH.

    Raises
    ------
    InputError
        If it is neither.
    """
    if HEX_KEY.fullmatch(given):
        return bytes.fromhex(given)
    return _public_key(Path(given)).public_bytes_raw()


def _check_signature(manifest: Manifest, public: Ed25519PublicKey, key: Path) -> None:
    from cryptography.exceptions import InvalidSignature

    if not os.path.lexists(manifest.folder / SIGNATURE):
        raise RunFolderError(f"{manifest.folder} is not signed: {SIGNATURE} is missing")
    try:
        public.verify(regular_bytes(manifest.folder, SIGNATURE), manifest.content)
    except InvalidSignature:
        raise RunFolderError(
            f"{manifest.folder}: {SIGNATURE} is not a signature of the key in {key} over this {MANIFEST}: "
            "another key signed it, or one of the two files was changed"
        ) from None


def _private_key(file: Path) -> Ed25519PrivateKey:
    ed25519, serialization = _cryptography()
    content = _key_bytes(file)
    password = os.environ.get(PASSWORD_VARIABLE, "").encode() or None
    load = serialization.load_ssh_private_key if content.startswith(OPENSSH[0]) else serialization.load_pem_private_key
    try:
        key = load(content, password)
    except TypeError:  # a password where none is needed, or none where one is
        if password is not None:
            return _private_key_of(load(content, None), file, ed25519)
        raise InputError(f"the key in {file} is encrypted: set {PASSWORD_VARIABLE} to its password") from None
    except Exception as error:  # noqa: BLE001 - the library raises many kinds for a file that holds no key
        wrong = f"or {PASSWORD_VARIABLE} is wrong" if password is not None else "in PEM (PKCS 8) or of OpenSSH"
        raise InputError(f"{file} holds no private key {wrong}: {error}") from None
    return _private_key_of(key, file, ed25519)


def _private_key_of(key: Any, file: Path, ed25519: Any) -> Ed25519PrivateKey:
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise InputError(f"{file} holds a {type(key).__name__}; allowed: an Ed25519 private key")
    return cast("Ed25519PrivateKey", key)


def _public_key(file: Path) -> Ed25519PublicKey:
    ed25519, serialization = _cryptography()
    content = _key_bytes(file)
    load = serialization.load_ssh_public_key if content.startswith(OPENSSH[1]) else serialization.load_pem_public_key
    try:
        key = load(content)
    except Exception as error:  # noqa: BLE001 - the library raises many kinds for a file that holds no key
        raise InputError(f"{file} holds no public key in PEM (SubjectPublicKeyInfo) or of OpenSSH: {error}") from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise InputError(f"{file} holds a {type(key).__name__}; allowed: an Ed25519 public key")
    return cast("Ed25519PublicKey", key)


def _key_bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_KEY + 1)
    except OSError as error:
        raise InputError(f"the key {file} cannot be read: {error.strerror}") from None
    if len(content) > LARGEST_KEY:
        raise InputError(f"{file} is no key file: it is larger than {LARGEST_KEY} bytes")
    return content


def _cryptography() -> tuple[Any, Any]:
    """Import what signs, which is optional."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError("signatures need the package cryptography: pip install 'accordant[sign]'") from None
    return ed25519, serialization
