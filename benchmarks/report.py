"""Tables: printed, and written as a section of a page of docs/results with the conditions of the measurement."""

import os
import platform
import re
from datetime import date
from importlib.metadata import version
from pathlib import Path

PAGES = Path(__file__).parent.parent / "docs" / "results"


def conditions() -> str:
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy"))
    return f"{date.today()}, {cpu} ({os.cpu_count()} cores), Python {platform.python_version()}, {libraries}"


def table(header: list[str] | tuple[str, ...], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def write(page: str, title: str, header: list[str], rows: list[list[str]], *, command: str, notes: str = "") -> None:
    """Write a table under its title into docs/results/PAGE.md."""
    parts = [
        f"Made by `python benchmarks/{command}`. {conditions()}.",
        *([notes] if notes else []),
        table(header, rows),
    ]
    write_section(page, title, "\n\n".join(parts))


def write_section(page: str, title: str, text: str) -> None:
    """Replace the section of a page that has this title, or add it at the end."""
    path = PAGES / f"{page}.md"
    head, *sections = re.split(r"^(?=## )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    written = {section.splitlines()[0][3:]: section.rstrip() for section in sections}
    written[title] = f"## {title}\n\n{text.rstrip()}"
    path.write_text("\n\n".join([head.rstrip(), *written.values()]) + "\n", encoding="utf-8")
    print(f"# {title}\n\n{text}")
