"""The gallery of the site: every program in examples/ is run and becomes a page with its output and its front.

A new file in examples/ becomes a new page. Its docstring begins with a sentence on its content; a variable `result` at
its end is drawn. If a package or data are missing, the page states it; another error fails the build.
"""

import ast
import os
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

from sphinx.util import logging

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
PAGES = HERE / "gallery"
_LONGEST_RUN = 600  # seconds
# The last line of a program that lacks something: a package, an extra of ours, benchmark data.
_LACKING = re.compile(r"^(ModuleNotFoundError: No module named '(?!pareto_nrpa)|ImportError: .*pip install|.*data get)")

_PAGE = """# {title}

{about}

```{{literalinclude}} ../../examples/{name}.py
:language: python
```

{outcome}
"""
_INDEX = """# Gallery

Complete programs, run when this page was built. Each is a file in `examples/`.

| | |
|---|---|
{rows}

```{{toctree}}
:hidden:

{names}
```
"""


def write_pages(app):
    """Run all examples and write their pages, unless `gallery_run` is off: then the pages have the programs only."""
    PAGES.mkdir(exist_ok=True)
    for old in PAGES.iterdir():
        old.unlink()
    rows, names = [], []
    for path in sorted(EXAMPLES.glob("*.py")):
        name, title = path.stem, path.stem.replace("_", " ").capitalize()
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        arguments = app.config.gallery_arguments.get(name, [])
        outcome = _run(path, arguments) if app.config.gallery_run else ""
        page = _PAGE.format(title=title, about=about, name=name, outcome=outcome)
        (PAGES / f"{name}.md").write_text(page, encoding="utf-8")
        sentence = about.partition("\n\n")[0].replace("\n", " ")
        rows.append(f"| {_picture(name, '{w=260px}')} | **[{title}]({name}.md)**: {sentence} |")
        names.append(name)
    (PAGES / "index.md").write_text(_INDEX.format(rows="\n".join(rows), names="\n".join(names)), encoding="utf-8")


def _run(path, arguments):
    """Return what an example printed, in Markdown, or why it could not be run here."""
    logger = logging.getLogger(__name__)
    logger.info("running %s", path.name)
    command = [sys.executable, str(Path(__file__)), str(path), str(PAGES / f"{path.stem}.svg"), *arguments]
    with tempfile.TemporaryDirectory() as folder:  # what it leaves behind goes with it
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_LONGEST_RUN,
            env={**os.environ, "COLUMNS": "100"},
        )
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode and _LACKING.search(last):
        return f":::{{note}}\nNot run when this page was built. {last.partition(': ')[2]}\n:::"
    if done.returncode:
        logger.warning("%s failed: %s", path.name, last)
        return ""
    call = " ".join(["python", f"examples/{path.name}", *arguments])
    return f"`{call}` prints:\n\n````text\n{done.stdout.rstrip()}\n````\n\n{_picture(path.stem)}"


def _picture(name, size=""):
    words = f"The front that {name.replace('_', ' ')} finds"
    return f"![{words}]({name}.svg){size}" if (PAGES / f"{name}.svg").exists() else ""


def _draw(result, target):
    """Draw a front of two objectives, where matplotlib is here."""
    try:
        import matplotlib as mpl
    except ImportError:
        return
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "same picture, same file"
    import matplotlib.pyplot as plt

    x_name, y_name = result.objective_names or ("f1", "f2")
    figure, axes = plt.subplots(figsize=(5, 3.4), layout="constrained")
    points = result.front.objectives
    axes.step(points[:, 0], points[:, 1], where="post", color="#9db4cf", linewidth=1)
    axes.plot(points[:, 0], points[:, 1], "o", color="#1f5fa8", markersize=4)
    axes.set(xlabel=x_name, ylabel=y_name)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, metadata={"Date": None})


def setup(app):
    app.add_config_value("gallery_arguments", {}, "")
    app.add_config_value("gallery_run", True, "", bool)
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}


if __name__ == "__main__":  # one example, in a process of its own
    program, target, *arguments = sys.argv[1:]
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).parent)
    result = runpy.run_path(program, run_name="__main__").get("result")
    if getattr(getattr(result, "front", None), "objectives", None) is not None and len(result.maximise) == 2:
        _draw(result, target)
