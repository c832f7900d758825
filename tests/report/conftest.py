"""A real browser for tests of pages: Debian's chromium, driven by Playwright."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def executable():
    """Return the browser that $PARETO_NRPA_BROWSER names, or one that is installed."""
    return os.environ.get("PARETO_NRPA_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, which pip install -e .[dev] has")
    path = executable()
    if path is None:
        pytest.skip("needs a browser: apt-get install chromium, or name one in $PARETO_NRPA_BROWSER")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=path, args=["--no-sandbox"])  # as root there is none
        yield started
        started.close()


@pytest.fixture
def opened(browser):
    """Open a page; at the end nothing may have gone wrong on it, and nothing may have been asked of a network."""
    from playwright.sync_api import expect

    expect.set_options(timeout=5_000)
    problems, contexts = [], []

    def open_page(path, *, width=1280, theme="light", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: request.url == path.as_uri() or problems.append(f"asked for {request.url}"))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
