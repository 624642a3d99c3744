"""Signatures of exported tuned schedules: Ed25519, with keys as OpenSSH has them.

`ssh-keygen -t ed25519` makes a pair of keys. The last line of a signed file holds the signature of
all lines before it.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ...support.extras import extra_for

SIGNATURE = "signature"
"""The only field of the last line."""

LARGEST_KEY = 100_000
"""Bytes of a file with a key."""


class SignatureError(ValueError):
    """A key that cannot be used, or a file that nobody who is trusted has signed."""


def signature_line(text: bytes, key: Path) -> bytes:
    """The last line of a file with this text; raises SignatureError, MissingExtra, OSError."""
    with extra_for("signing"):
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_ssh_private_key
    try:
        found = load_ssh_private_key(_read(key), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SignatureError(f"{key} is no private key of OpenSSH without passphrase") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise SignatureError(f"{key} is of another kind: make one by 'ssh-keygen -t ed25519'")
    signature = base64.b64encode(found.sign(text)).decode()
    return json.dumps({SIGNATURE: signature}).encode() + b"\n"


def split_signature(content: bytes) -> tuple[bytes, bytes | None]:
    """The text of a file, and the signature in its last line, if it has one."""
    text, _, last = content.rstrip(b"\n").rpartition(b"\n")
    try:
        line: Any = json.loads(last)
    except (ValueError, RecursionError):
        return content, None
    if not isinstance(line, dict) or cast("dict[str, Any]", line).keys() != {SIGNATURE}:
        return content, None
    try:
        return text + b"\n", base64.b64decode(
            cast("dict[str, Any]", line)[SIGNATURE], validate=True
        )
    except (binascii.Error, TypeError, ValueError):
        return content, None


def check_signature(name: str, text: bytes, signature: bytes | None, keys: Sequence[Path]) -> None:
    """Raises SignatureError where none of the keys has signed; MissingExtra, OSError."""
    with extra_for("checking signatures"):
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_ssh_public_key
    trusted: list[Ed25519PublicKey] = []
    for key in keys:
        try:
            found = load_ssh_public_key(_read(key))
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise SignatureError(f"{key} is no public key of OpenSSH (id_ed25519.pub)") from error
        if not isinstance(found, Ed25519PublicKey):
            raise SignatureError(f"{key} is of another kind than ed25519")
        trusted.append(found)
    if signature is None:
        raise SignatureError(f"{name} is not signed")
    for each in trusted:
        try:
            each.verify(signature, text)
        except InvalidSignature:
            continue
        return
    raise SignatureError(f"{name} was signed by none of {', '.join(map(str, keys))}, or changed")


def _read(key: Path) -> bytes:
    with key.open("rb") as file:
        return file.read(LARGEST_KEY)
