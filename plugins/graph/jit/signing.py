"""Signatures of saved programs: Ed25519 over the SHA-256 of the index, which has the SHA-256 of every other member."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

SIZE = 32  # of a raw key
SIGNATURE = "ed25519"


def _keys() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ModuleNotFoundError(
            "signatures need the package 'cryptography': pip install 'lamella[sign]'", name="cryptography"
        ) from None
    return ed25519, serialization


def _bytes_of(key: Any, what: str) -> bytes:
    if isinstance(key, (bytes, bytearray)):
        return bytes(key)
    if isinstance(key, (str, os.PathLike)):
        with open(key, "rb") as file:
            return file.read()
    raise TypeError(f"{what} must be bytes or a path, got {type(key).__name__}")


def private_key(key: Any) -> Any:
    """Returns a private key.

    Args:
        key: 32 bytes, a PEM, or the path of a file with either.

    Raises:
        ModuleNotFoundError: the package ``cryptography`` is not installed.
        ValueError: it is no private key of Ed25519.
    """
    ed25519, serialization = _keys()
    data = _bytes_of(key, "save: argument 'sign'")
    if len(data) == SIZE:
        return ed25519.Ed25519PrivateKey.from_private_bytes(data)
    return _loaded(
        data, lambda d: serialization.load_pem_private_key(d, None), ed25519.Ed25519PrivateKey, "save: 'sign'"
    )


def public_key(key: Any) -> Any:
    """Returns a public key, from the forms that :func:`private_key` takes."""
    ed25519, serialization = _keys()
    data = _bytes_of(key, "load: a key of argument 'keys'")
    if len(data) == SIZE:
        return ed25519.Ed25519PublicKey.from_public_bytes(data)
    return _loaded(data, serialization.load_pem_public_key, ed25519.Ed25519PublicKey, "load: a key of 'keys'")


def _loaded(data: bytes, read: Callable, kind: type, what: str) -> Any:
    try:
        found = read(data)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{what} is neither 32 bytes nor a PEM: {error}") from None
    if not isinstance(found, kind):
        raise ValueError(f"{what} is no key of Ed25519, but a {type(found).__name__}")
    return found


def name_of(key: Any) -> str:
    """Returns the name of a public key in signatures: the first 16 digits of its SHA-256."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]


def signer(key: Any) -> Callable[[bytes], bytes]:
    """Returns a function that signs an index; its result is the text of the signature."""
    own = private_key(key)

    def sign(index: bytes) -> bytes:
        made = own.sign(hashlib.sha256(index).digest())
        return json.dumps({"key": name_of(own.public_key()), SIGNATURE: base64.b64encode(made).decode()}).encode()

    return sign


def checker(keys: Sequence[Any]) -> Callable[[bytes, bytes | None], None]:
    """Returns a function that compares an index with its signature, which one of the keys has to have made.

    The function raises ValueError if the signature is missing, is of another key, or is wrong.
    """
    if isinstance(keys, (bytes, str, os.PathLike)):
        raise TypeError("load: argument 'keys' must be a list of public keys, got one key; write keys=[key]")
    known = {name_of(k): k for k in map(public_key, keys)}
    if not known:
        raise ValueError("load: argument 'keys' has no key; without a key, leave it out")

    def check(index: bytes, signature: bytes | None) -> None:
        from cryptography.exceptions import InvalidSignature

        if signature is None:
            raise ValueError("it has no signature, and 'keys' demands one")
        try:
            given = json.loads(signature)
            name, made = given["key"], base64.b64decode(given[SIGNATURE], validate=True)
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ValueError("its signature.json is damaged") from None
        if type(name) is not str or name not in known:
            raise ValueError(f"it is signed by the key {str(name)[:40]!r}, which 'keys' does not have")
        try:
            known[name].verify(made, hashlib.sha256(index).digest())
        except InvalidSignature:
            raise ValueError(f"its signature by the key {name!r} is wrong: the file was changed") from None

    return check
