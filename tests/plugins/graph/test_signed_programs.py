"""Signatures of files: by known vectors, and compared by the package `cryptography` itself."""

from __future__ import annotations

import base64
import hashlib
import io
import json

import lamella
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from lamella.plugins.graph.jit import signing
from lamella.serialization import CheckpointError
from program_files import INDEX, file_of, members_of, saved

# RFC 8032, section 7.1, tests 1 and 2: secret key, public key, message, signature.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
]
PRIVATE, PUBLIC = (bytes.fromhex(VECTORS[0][i]) for i in (0, 1))
OTHER = bytes.fromhex(VECTORS[1][1])


@pytest.mark.parametrize("secret, public, message, signature", VECTORS)
def test_known_vectors(secret, public, message, signature):
    key = signing.private_key(bytes.fromhex(secret))
    assert key.public_key().public_bytes_raw().hex() == public
    assert key.sign(bytes.fromhex(message)).hex() == signature
    signing.public_key(bytes.fromhex(public)).verify(bytes.fromhex(signature), bytes.fromhex(message))


def load(file, **options):
    return lamella.jit.load(file if hasattr(file, "read") else io.BytesIO(file), **options)


def test_the_signature_is_over_the_hash_of_the_index():
    members = members_of(saved(sign=PRIVATE))
    given = json.loads(members["signature.json"])
    ed25519.Ed25519PublicKey.from_public_bytes(PUBLIC).verify(
        base64.b64decode(given["ed25519"]), hashlib.sha256(members[INDEX]).digest()
    )
    assert given["key"] == hashlib.sha256(PUBLIC).hexdigest()[:16]
    listed = json.loads(members[INDEX])["members"]
    assert {n: m["sha256"] for n, m in listed.items()} == {
        n: hashlib.sha256(d).hexdigest() for n, d in members.items() if n not in (INDEX, "signature.json")
    }


def test_keys_in_every_form(tmp_path):
    key = ed25519.Ed25519PrivateKey.from_private_bytes(PRIVATE)
    no_password = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, no_password)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "private.pem").write_bytes(pem)
    (tmp_path / "public.pem").write_bytes(public)
    (tmp_path / "raw").write_bytes(PUBLIC)
    for sign in (PRIVATE, pem, tmp_path / "private.pem", str(tmp_path / "private.pem")):
        data = saved(sign=sign)
        for each in (PUBLIC, public, tmp_path / "public.pem", tmp_path / "raw"):
            assert load(data, keys=[OTHER, each]).name(0) == "a!"


def test_what_keys_demand():
    data, members = saved(sign=PRIVATE), members_of(saved(sign=PRIVATE))
    assert load(data).name(0) == "a!"  # without keys, a signature is not looked at
    refused = {
        "it has no signature, and 'keys' demands one": saved(),
        "signed by the key .*, which 'keys' does not have": saved(sign=bytes.fromhex(VECTORS[1][0])),
        "signature by the key .* is wrong: the file was changed": file_of(
            {**members, INDEX: members[INDEX].replace(b'"main"', b' "main"')}, hashed=False
        ),
        "signature.json is damaged": file_of({**members, "signature.json": b"{}"}, hashed=False),
        "the member 'data/0' .* has another SHA-256": file_of({**members, "data/0": b"\0" * 16}, hashed=False),
        "the member 'code/Layer.name.graph' .* has another SHA-256": file_of(
            {**members, "code/Layer.name.graph": b"graph() { return () }"}, hashed=False
        ),
        "does not describe the member 'extra/more'": file_of({**members, "extra/more": b""}, hashed=False),
    }
    for message, file in refused.items():
        with pytest.raises(CheckpointError, match=message):
            load(file, keys=[PUBLIC])


def test_wrong_keys():
    for key, message in ((b"short", "neither 32 bytes nor a PEM"), (b"", "neither 32 bytes nor a PEM")):
        with pytest.raises(ValueError, match=message):
            saved(sign=key)
        with pytest.raises(ValueError, match=message):
            load(saved(), keys=[key])
    with pytest.raises(TypeError, match="must be bytes or a path, got int"):
        saved(sign=3)
    with pytest.raises(TypeError, match=r"got one key; write keys=\[key\]"):
        load(saved(), keys=PUBLIC)
    with pytest.raises(ValueError, match="'keys' has no key"):
        load(saved(), keys=[])


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(ModuleNotFoundError, match=r"signatures need the package 'cryptography': pip install"):
        saved(sign=PRIVATE)
