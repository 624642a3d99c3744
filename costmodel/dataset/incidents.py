"""Reproducers of incidents: the program, and the command that shows what is wrong."""

from __future__ import annotations

from pathlib import Path

from ..labels import Incident
from .rows import digest, sizes_text

FOLDER = "incidents"


def store_incident(directory: Path, incident: Incident, *, fast_math: bool = False) -> Path:
    """Writes `incidents/KIND-NUMBER.mlir`; the same incident has the same name."""
    folder = directory / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    mode = " --fast-math" if fast_math else ""
    parts = (incident.text, sizes_text(incident.sizes), incident.schedule, *mode.split())
    number = digest(*parts).hex()[:12]
    path = folder / f"{incident.kind}-{number}.mlir"
    sizes = " ".join(f"--set {name}={value}" for name, value in incident.sizes.items())
    schedule = f" -p '{incident.schedule}'" if incident.schedule else ""
    message = incident.message.replace("\n", "\n// ")
    path.write_text(
        f"// {message}\n// seed {incident.seed}\n"
        f"// loopwright run {path.name} {sizes}{mode}{schedule}\n{incident.text}",
        encoding="utf-8",
    )
    return path
