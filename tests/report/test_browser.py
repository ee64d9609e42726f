"""The report in a real browser: nothing asked for, nothing complained of, readable on a phone and in the dark."""

import json
import shutil

import pytest

from metapn.report import blocks
from metapn.report.contents import contents
from metapn.report.page import html
from metapn.report.results import Results
from metapn.report.run_page import run_page

OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# All text whose contrast to what is behind it is less than WCAG's 4.5.
LOW_CONTRAST = """
const linear = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const behind = e => {
  const colour = numbers(getComputedStyle(e).backgroundColor);
  return colour.length < 4 || colour[3] > 0 ? colour : behind(e.parentElement);
};
const low = new Set();
for (const e of document.querySelectorAll('body *')) {
  if (![...e.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim())) continue;
  if (e.tagName === 'title') continue;
  const style = getComputedStyle(e), ink = numbers(e.tagName === 'text' ? style.fill : style.color);
  const [less, more] = [light(ink), light(behind(e))].sort((x, y) => x - y);
  if ((more + 0.05) / (less + 0.05) < 4.5) low.add(`${e.tagName} ${e.className} ${e.textContent}`);
}
return [...low];
"""
# Text of a drawing that sticks out of it, or is too small to be read.
BAD_TEXT = """
const bad = [];
for (const svg of document.querySelectorAll('svg.drawing')) {
  const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
  for (const text of svg.querySelectorAll('text')) {
    const r = text.getBoundingClientRect();
    const beside = r.left < box.left - 3 || r.right > box.right + 6;
    if (beside || r.top < box.top - 3 || r.bottom > box.bottom + 3) bad.push('outside: ' + text.textContent);
    if (parseFloat(getComputedStyle(text).fontSize) * scale < 8.5) bad.push('small: ' + text.textContent);
  }
}
return bad;
"""
SHOWN = """
return [...document.querySelectorAll(arguments[0])].filter(each => each.getBoundingClientRect().height > 20).length
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("there is no chromium with a chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for option in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


@pytest.fixture(scope="module", params=["results", "a run"])
def page(request, made_up, run_view, tmp_path_factory):
    if request.param == "a run":
        return run_page(run_view)
    folder = made_up(tmp_path_factory.mktemp("some"), n_runs=2, datasets=["cora_ml", "ogbn-arxiv"])
    return contents(Results.read(folder))


@pytest.fixture(scope="module")
def opened(browser, page, tmp_path_factory):
    """The browser, on the page; all that is folded is unfolded."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html(page), encoding="utf-8")
    browser.get(path.as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
    return browser


def look(browser, width, scheme):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def test_the_browser_has_nothing_to_complain_of_and_asks_for_nothing(opened):
    assert opened.get_log("browser") == []
    assert opened.execute_script("return performance.getEntriesByType('resource').map(each => each.name)") == []
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert any(url.endswith("report.html") for url in asked)
    assert [url for url in asked if not url.startswith(("file:", "data:", "chrome:"))] == []


def test_every_table_and_figure_is_there(opened, page):
    def count(kind, parts):
        return sum(
            isinstance(block, kind) + (count(kind, block.blocks) if isinstance(block, blocks.Fold) else 0)
            for block in parts
        )

    wanted = [count(kind, [b for s in page.sections for b in s.blocks]) for kind in (blocks.Table, blocks.Figure)]
    assert [opened.execute_script(SHOWN, tag) for tag in ("table", "figure")] == wanted
    panels = sum(len(b.panels) for s in page.sections for b in s.blocks if isinstance(b, blocks.Figure))
    assert opened.execute_script(SHOWN, "svg.drawing") == panels
    titles = opened.execute_script("return [...document.querySelectorAll('h2')].map(each => each.innerText)")
    assert titles == [section.title for section in page.sections]


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read(opened, width, scheme):
    look(opened, width, scheme)
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    assert opened.execute_script(LOW_CONTRAST) == []
    assert opened.execute_script(BAD_TEXT) == []


def test_the_dark_is_dark_and_the_light_is_light(opened):
    found = {}
    for scheme in ("light", "dark"):
        look(opened, 1280, scheme)
        colours = opened.execute_script("""
            const style = getComputedStyle(document.body);
            const line = getComputedStyle(document.querySelector('svg .mark'));
            return [style.backgroundColor, style.color, line.fill].map(c => c.match(/\\d+/g).slice(0, 3).map(Number))
        """)
        found[scheme] = [sum(colour) / 3 for colour in colours]
    assert found["light"][0] > 240 > 60 > found["light"][1]
    assert found["dark"][0] < 40 < 200 < found["dark"][1]
    assert found["dark"][2] > found["light"][2]


def test_a_link_of_the_contents_leads_to_its_section(opened, page):
    look(opened, 360, "light")
    for section in page.sections:
        assert opened.execute_script("return document.getElementById(arguments[0]) !== null", section.anchor)
    last = page.sections[-1].anchor
    opened.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
    opened.execute_script(f"document.querySelector('nav a[href=\"#{last}\"]').click()")
    assert opened.execute_script("return scrollY") > 1000
