"""Tables: printed, and written as Markdown with the conditions under which they were measured."""

import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def conditions() -> str:
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy"))
    return f"{date.today()}, {cpu} ({os.cpu_count()} cores), Python {platform.python_version()}, {libraries}"


def write(
    name: str, title: str, header: list[str], rows: list[list[str]], notes: str = "", part: str = "", command: str = ""
) -> None:
    command = command or f"python benchmarks/run.py {part or name}"
    lines = [f"# {title}", "", f"Made by `{command}`. {conditions()}.", ""]
    if notes:
        lines += [notes, ""]
    lines += ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    text = "\n".join(lines) + "\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
