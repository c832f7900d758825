"""The page on which to choose, in a real browser: mouse, keyboard, screen reader, both themes, a phone."""

import csv
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pareto_nrpa import report
from pareto_nrpa._util.csv_text import guarded, unguarded
from pareto_nrpa._util.text import shown_time
from pareto_nrpa.report import write_report
from pareto_nrpa.routing.itinerary import itineraries

from ..helpers.results import NASTY, knapsack, make_plan, result_of, tours

PLAN = make_plan(12, geographic=True)


@pytest.fixture(scope="module")
def tour():
    return tours(PLAN)


@pytest.fixture(scope="module")
def pages(tmp_path_factory, tour):
    """A page of every kind, by name."""
    folder = tmp_path_factory.mktemp("pages")
    infeasible = tours(make_plan(8), n_solutions=4)
    infeasible.front.violations.flags.writeable = True
    infeasible.front.violations[:] = 2
    results = {
        "tour": [tour],
        "fleet": [tours(make_plan(20, seed=5), vehicles=4)],
        "three": [tours(PLAN, n_objectives=3)],
        "words": [knapsack()],
        "compared": [tours(PLAN, n_solutions=8), tours(PLAN, seed=2)],
        "one": [result_of([[5.0]], [[1, 2, 3]])],
        "none": [result_of(np.zeros((0, 2)), [], history=np.zeros((0, 2)), reference_point=None)],
        "infeasible": [infeasible],
    }
    return {name: write_report(given, folder / f"{name}.html") for name, given in results.items()}


def rows_of(result, i):
    """Return the first route of a solution, stop by stop."""
    itinerary = itineraries(result)[i]
    return itinerary.rows(itinerary.routes[0])


def status(page):
    return page.locator("#status").inner_text()


def chosen(page):
    """Return the number of the chosen solution, which all parts of the page agree on."""
    number = int(page.locator("#list button[aria-pressed=true]").inner_text())
    for group in page.locator("[role=radiogroup]").all():
        assert group.locator("[aria-checked=true]").get_attribute("aria-label").startswith(f"Solution {number}")
    assert page.locator("#chosen h3").first.inner_text().startswith(f"Solution {number}")
    return number


def test_a_click_chooses_the_nearest_point(opened, pages, tour):
    page = opened(pages["tour"])
    for i in (0, len(tour.front) - 1, 2):
        box = page.locator("#front [role=radio]").nth(i).bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2 + 5, box["y"] + box["height"] / 2 + 4)
        assert chosen(page) == i + 1
    assert page.locator("#chosen tbody tr").count() == len(rows_of(tour, 2))


def test_the_page_writes_times_by_the_rule_of_the_terminal(opened, pages):
    rng = np.random.default_rng(0)
    whole, halves = np.arange(-90, 2 * 3600, 7) / 60, (np.arange(-90, 3600) + 0.5) / 60
    values = [*whole, *halves, *rng.uniform(-10, 3000, 2_000), 0.0, 1e-9, -1e-9, 510 - 1e-9, 1e6]
    values = [float(value) for value in values]
    script = Path(report.__file__).with_name("templates").joinpath("elements.js").read_text(encoding="utf-8")
    written = opened(pages["tour"]).evaluate(f"values => {{ {script}\n return values.map(clock); }}", values)
    assert written == [shown_time(value, clock=True) for value in values]


def test_limits_leave_what_python_leaves(opened, pages, tour):
    page = opened(pages["tour"])
    limit = float(np.sort(tour.front.objectives[:, 1])[2])
    page.get_by_label("Lateness at most", exact=True).fill(str(limit))
    kept = tour.within(Lateness=limit)
    assert status(page).startswith(f"{len(kept.front)} of {len(tour.front)} within your limits")
    page.get_by_role("button", name="Knee").click()
    assert list(kept.knee().objectives.values()) == tour.front.objectives[chosen(page) - 1].tolist()
    assert page.locator("#front [role=radio][aria-disabled=true]").count() == len(tour.front) - len(kept.front)
    slider = page.get_by_label("Lateness at most, slider")
    slider.focus()
    page.keyboard.press("Home")
    assert status(page).startswith(f"1 of {len(tour.front)}")
    page.get_by_label("Lateness at most", exact=True).fill("-1")
    assert status(page) == "No solution is within these limits."
    page.get_by_role("button", name="Reset").click()
    assert chosen(page) == tour.knee().number


@pytest.mark.parametrize("kind", ["tour", "three", "words"])
def test_weights_choose_what_python_chooses(opened, pages, tour, kind):
    result = {"tour": tour, "three": tours(PLAN, n_objectives=3), "words": knapsack()}[kind]
    page, rng = opened(pages[kind]), np.random.default_rng(3)
    assert chosen(page) == result.knee().number
    for _ in range(6):
        weights = rng.integers(0, 11, len(result.maximise)) + np.eye(len(result.maximise), dtype=int)[0]
        weights = np.minimum(weights, 10)
        for k, weight in enumerate(weights.tolist()):
            page.locator(f"#weight-{k}").fill(str(weight))
            page.locator(f"#weight-{k}").dispatch_event("input")
        assert chosen(page) == result.best(weights.tolist()).number
    for name in result.columns():
        page.get_by_role("button", name=f"Best {name}").click()
        k = result.columns().index(name)
        best = max if result.maximise[k] else min
        assert result.front.objectives[chosen(page) - 1, k] == best(result.front.objectives[:, k])


def test_two_solutions_side_by_side(opened, pages, tour):
    page = opened(pages["tour"])
    page.locator("#list button").nth(0).click()
    assert page.locator("#comparison").is_hidden()
    page.get_by_role("button", name="Keep to compare").click()
    page.locator("#list button").nth(3).click()
    table = page.get_by_role("table", name="Objectives")
    a, b = tour.front.objectives[0, 0], tour.front.objectives[3, 0]
    cells = table.locator("tbody tr").first.locator("td").all_inner_texts()
    assert cells == [f"{a:g}", f"{b:g}", f"+{b - a:g} (worse)"]
    assert page.locator("#comparison svg").count() == 2
    changed = page.get_by_role("table", name="What changes").locator("tbody tr")
    before, after = ({row["name"]: row["arrival"] for row in rows_of(tour, i)[1:-1]} for i in (0, 3))
    assert changed.count() == sum(abs(before[name] - after[name]) > 1e-3 for name in before)
    page.get_by_role("button", name="Stop comparing").click()
    assert page.locator("#comparison").is_hidden()


def test_everything_can_be_done_by_keyboard_alone(opened, pages, tour):
    page = opened(pages["tour"])

    def tab_to(selector):
        for _ in range(40):
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            page.keyboard.press("Tab")
        pytest.fail(f"Tab never comes to {selector}")

    tab_to("[role=radio]")
    page.keyboard.press("Home")
    assert chosen(page) == 1
    page.keyboard.press("ArrowRight")
    assert chosen(page) == 2
    page.keyboard.press("End")
    assert chosen(page) == len(tour.front)
    page.keyboard.press("ArrowRight")  # round again
    assert chosen(page) == 1
    tab_to("#weight-0")
    page.keyboard.press("End")
    assert chosen(page) == tour.best([10, 5]).number
    tab_to("#keep")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "keep"
    tab_to("#list button")
    page.keyboard.press("Enter")
    assert page.locator("#comparison").is_visible()


def test_downloads_have_no_formulas(opened, tmp_path):
    names = ['=HYPERLINK("http://evil.example")', "@SUM(1+1)", "-2+3", "\uff1d1+1", "Anna;=1+1", "\t=1+1"]
    result = tours(make_plan(6, names=names), n_solutions=2)
    path = replace(result, descriptions=names[: len(result.front)]).report(tmp_path / "page.html")
    page = opened(path)
    for button in ("Download as CSV", "Download all as CSV"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=button).click()
        waiting.value.save_as(tmp_path / "downloaded.csv")
        with open(tmp_path / "downloaded.csv", encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        found = [cell for cell in cells if unguarded(cell) in names]
        assert len(found) >= len(result.front)
        assert all(cell == guarded(unguarded(cell)) != unguarded(cell) for cell in found)


def test_names_are_text_and_never_code(opened, tmp_path):
    names = [f"{NASTY}{i}" for i in range(6)]
    result = tours(make_plan(6, names=names), n_solutions=5)
    changes = {"objective_names": [NASTY, "{{data}}"], "instance": NASTY, "command": NASTY, "algorithm": "<b>&amp;"}
    object.__setattr__(result, "__dict__", {**result.__dict__, **changes})
    page = opened(write_report([result], tmp_path / "nasty.html", names=[NASTY]))
    page.get_by_role("button", name="Keep to compare").click()
    for button in page.locator("#list button").all():
        button.click()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, main b").count() == 0
    assert page.locator("h1").inner_text() == NASTY
    assert f"{NASTY}3" in page.locator("#chosen").inner_text()
    assert "{{data}}" in page.locator("#wishes").inner_text()


KINDS = ("tour", "fleet", "three", "words", "compared", "one", "none", "infeasible")


@pytest.mark.parametrize(("theme", "width"), [("light", 400), ("dark", 1280)])
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind != "fleet")) for kind in KINDS])
def test_axe_finds_nothing_and_nothing_sticks_out(opened, pages, kind, theme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page = opened(pages[kind], theme=theme, width=width)
    if page.locator("#list button").count() > 1:
        page.get_by_role("button", name="Keep to compare").click()
        page.locator("#list button").nth(0 if chosen(page) > 1 else 1).click()
    found = axe.Axe().run(page).response["violations"]
    assert [(finding["id"], finding["nodes"][0]["html"]) for finding in found] == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


# --- a real browser: Debian's chromium, driven by Playwright


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, which pip install -e .[dev] has")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("PARETO_NRPA_BROWSER") or next(filter(None, map(shutil.which, names)), None)
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
