"""The pictures of docs/spreadsheet.md: the example solved, its page opened in a browser, and what is to be seen there.

`python docs/pictures.py`, with chromium installed and the extras `dev`.
"""

import shutil
import tempfile
from pathlib import Path

import matplotlib as mpl
from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

from pareto_nrpa import MaxEvaluations, read_stops, solve

ROOT = Path(__file__).parent.parent
EXAMPLE, PICTURES = ROOT / "examples" / "deliveries", ROOT / "docs" / "images"
COLOURS = 64  # as many as a drawing needs; a quarter of the bytes


def save(part: Locator | Page, name: str) -> None:
    path = PICTURES / f"{name}.png"
    part.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def main() -> None:
    costs = {"euros": EXAMPLE / "euros.csv"}
    stop = MaxEvaluations(100_000)
    tour = solve(read_stops(EXAMPLE / "stops.csv", time=EXAMPLE / "minutes.csv", costs=costs), stop=stop, seed=0)
    fleet = read_stops(EXAMPLE / "stops.csv", time=EXAMPLE / "minutes.csv", costs=costs, vehicles=4, capacity=100)
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        one, four = Path(folder) / "tour.html", Path(folder) / "fleet.html"
        tour.report(one)
        solve(fleet, stop=stop, seed=0).report(four)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 800})
        page.goto(one.as_uri())
        save(page.locator(".columns"), "page")
        page.get_by_role("button", name="Best time").click()
        page.get_by_role("button", name="Keep to compare").click()
        page.get_by_role("button", name="Best euros").click()
        save(page.locator("#comparison"), "page-comparison")
        page.goto(four.as_uri())
        save(page.locator("#chosen"), "page-fleet")
        phone = browser.new_page(viewport={"width": 400, "height": 820}, color_scheme="dark")
        phone.goto(one.as_uri())
        save(phone, "page-phone")
        browser.close()
    mpl.use("agg")
    tour.plot().figure.savefig(PICTURES / "plot.png", dpi=80)


if __name__ == "__main__":
    main()
