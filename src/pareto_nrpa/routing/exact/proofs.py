"""The certificates of the package: one line of JSON for each official instance, proved or open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..._util.files import write_text
from .certificate import Certificate, CertificateError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

PROOFS = Path(__file__).with_name("proofs.jsonl")


def read_proofs(path: str | os.PathLike[str] = PROOFS, *, fingerprint: str = "") -> list[Certificate]:
    """Return the certificates of a file, or only that for the data with a fingerprint."""
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise CertificateError(f"cannot read the certificates {path}: {error.strerror or error}.") from error
    # A line is parsed only if it contains the fingerprint.
    certificates = [
        Certificate.from_json(line, f"{path}, line {number},")
        for number, line in enumerate(lines, 1)
        if fingerprint.encode() in line
    ]
    return [certificate for certificate in certificates if fingerprint in ("", certificate.fingerprint)]


def write_proofs(certificates: Iterable[Certificate], path: str | os.PathLike[str] = PROOFS) -> Path:
    """Write certificates, sorted by instance, with those of other instances in the file."""
    stored = read_proofs(path) if Path(path).exists() else []
    by_name = {certificate.instance: certificate for certificate in (*stored, *certificates)}
    contents = [by_name[name].without_groups().to_dict() for name in sorted(by_name)]
    lines = [json.dumps(content, allow_nan=False, separators=(",", ":")) for content in contents]
    return write_text(path, "\n".join(lines))
