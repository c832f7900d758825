"""Shared by the commands: output, and errors as one sentence."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import typer

from .._util.checks import printable

_LONGEST_MESSAGE = 900


def say(line: object, *, err: bool = False) -> None:
    """Print one line, with control characters escaped."""
    typer.echo(printable(str(line)), err=err)


def tell(sentence: str) -> None:
    """Print a sentence to stderr, broken at spaces on a terminal."""
    text = printable(sentence)
    width = shutil.get_terminal_size().columns
    typer.echo(textwrap.fill(text, width) if sys.stderr.isatty() else text, err=True)


def say_lines(text: str) -> None:
    """Print text of several lines."""
    for line in text.rstrip("\n").split("\n"):
        say(line)


def fail(message: str) -> NoReturn:
    """End with one sentence and exit code 2; a very long one is cut in the middle."""
    words = " ".join(message.split())
    if len(words) > _LONGEST_MESSAGE:
        words = f"{words[: _LONGEST_MESSAGE * 2 // 3]} ... {words[-_LONGEST_MESSAGE // 3 :]}"
    tell(f"Error: {words}")
    raise SystemExit(2)


def named_values(settings: Iterable[str], mistake: str) -> dict[str, Any]:
    """Return parameters given as name=value, values parsed as JSON where possible; `mistake` starts the error."""
    given: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            fail(f"{mistake}, got {setting!r}.")
        try:
            given[name] = json.loads(value)
        except ValueError:
            given[name] = value
    return given


def open_in_browser(page: Path) -> None:
    """Open a page in the user's browser; without a browser, print its path."""
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        say(f"No browser was found; the page is {page}.", err=True)
