"""The report in Chromium, from disk, with the network off, at desktop and phone width."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from sparallel.analysis import analyse
from sparallel.report.html import write_report
from sparallel.smoothness.why import explain
from tests.generated import generated_experiment
from tests.smoothness.known import known_record

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


def _program(*names: str) -> str:
    found = next((path for path in map(shutil.which, names) if path), None)
    assert found, f"none of {names} is installed: apt-get install chromium chromium-driver"
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    experiments = [generated_experiment(trials=30, repeats=2, optimizers=("momentum", "sgd"))]
    analysis, folder = analyse(experiments), tmp_path_factory.mktemp("report")
    return write_report(experiments, analysis, folder, (), [explain(known_record(), analysis)])


@pytest.fixture(scope="module", params=WIDTHS)
def browser(
    request: pytest.FixtureRequest, report: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = _program("chromium", "chromium-browser")
    for option in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(_program("chromedriver")))
    width, height = WIDTHS[request.param]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    driver.get(report.as_uri())
    driver.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
    yield driver
    driver.quit()


def _wait(browser: webdriver.Chrome, condition: Callable[[webdriver.Chrome], Any]) -> Any:
    return WebDriverWait(browser, 20).until(condition)


def _show(browser: webdriver.Chrome, selector: str) -> None:
    script = "document.querySelector(arguments[0]).scrollIntoView({block: 'center'})"
    browser.execute_script(script, selector)


def _chart(browser: webdriver.Chrome, selector: str) -> None:
    _show(browser, selector)
    _wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, f"{selector} .main-svg"))
    _show(browser, selector)


def _visible_points(browser: webdriver.Chrome, selector: str) -> int:
    return len(browser.find_elements(By.CSS_SELECTOR, f"{selector} .scatterlayer .point"))


def test_every_chart_is_drawn_as_it_comes_into_view(browser: webdriver.Chrome) -> None:
    charts = browser.find_elements(By.CSS_SELECTOR, "[data-chart]")
    # Two workloads' curves, one sparsity's ratio, two of subsets, L and the noise scale.
    assert len(charts) == 7
    for chart in charts:
        selector = f"#{chart.get_attribute('id')}"
        _chart(browser, selector)
        lines = browser.find_elements(By.CSS_SELECTOR, f"{selector} .scatterlayer .trace")
        assert lines
        box = chart.rect
        assert box["width"] <= browser.execute_script("return innerWidth")


def test_the_page_never_scrolls_sideways(browser: webdriver.Chrome) -> None:
    wide, window = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert wide <= window


def test_hovering_a_trial_shows_its_metaparameters(browser: webdriver.Chrome) -> None:
    _chart(browser, "#search-chart")
    star = _wait(
        browser,
        lambda b: b.find_elements(By.CSS_SELECTOR, "#search-chart .trace:last-child .point"),
    )[0]
    ActionChains(browser).move_to_element(star).pause(0.3).perform()
    label = _wait(browser, lambda b: _hover(b, "#search-chart"))
    assert "learning rate" in label
    assert "momentum" in label
    assert "K = " in label


def test_hovering_a_study_shows_its_winners_metaparameters(browser: webdriver.Chrome) -> None:
    _chart(browser, "#chart-scaling-0")
    points = browser.find_elements(By.CSS_SELECTOR, "#chart-scaling-0 .scatterlayer .point")
    ActionChains(browser).move_to_element(points[0]).pause(0.3).perform()
    label = _wait(browser, lambda b: _hover(b, "#chart-scaling-0"))
    assert "K*" in label
    assert "learning rate" in label


def _hover(browser: webdriver.Chrome, selector: str) -> str:
    texts = browser.find_elements(By.CSS_SELECTOR, f"{selector} .hoverlayer .hovertext")
    return " ".join(str(text.get_attribute("textContent")) for text in texts)


def test_the_steps_of_a_chart_along_training_switch_to_a_log_axis(
    browser: webdriver.Chrome,
) -> None:
    chart = "#chart-lipschitz-0"
    _chart(browser, chart)
    kind = f"return document.querySelector('{chart}').layout.xaxis.type"
    assert browser.execute_script(kind) == "linear"
    buttons = browser.find_elements(By.CSS_SELECTOR, f"{chart} .updatemenu-button")
    assert [button.text for button in buttons] == ["linear steps", "log steps"]
    ActionChains(browser).move_to_element(buttons[1]).click().perform()
    _wait(browser, lambda b: b.execute_script(kind) == "log")


def test_the_legend_switches_a_sparsity_off_and_on(browser: webdriver.Chrome) -> None:
    chart = "#chart-scaling-0"
    _chart(browser, chart)
    before = _visible_points(browser, chart)
    toggle = browser.find_elements(By.CSS_SELECTOR, f"{chart} .legendtoggle")[0]
    ActionChains(browser).move_to_element(toggle).click().perform()
    _wait(browser, lambda b: 0 < _visible_points(b, chart) < before)
    toggle = browser.find_elements(By.CSS_SELECTOR, f"{chart} .legendtoggle")[0]
    browser.execute_script("return new Promise(done => setTimeout(done, 500))")  # no double click
    ActionChains(browser).move_to_element(toggle).click().perform()
    _wait(browser, lambda b: _visible_points(b, chart) == before)


def test_choosing_another_study_draws_its_trials(browser: webdriver.Chrome) -> None:
    _chart(browser, "#search-chart")
    summary = browser.find_element(By.ID, "search-summary")
    seen = set()
    batch_sizes = Select(browser.find_element(By.ID, "search-batch"))
    for option in ("16", "4096"):
        batch_sizes.select_by_value(option)
        seen.add(summary.text)
        assert _visible_points(browser, "#search-chart") == 31  # 30 trials and the star
    assert len(seen) == 2
    Select(browser.find_element(By.ID, "search-view")).select_by_visible_text(
        "steps against momentum"
    )
    title = browser.find_element(By.CSS_SELECTOR, "#search-chart .ytitle")
    assert title.text == "Steps"


def test_the_console_is_silent_and_nothing_is_requested(browser: webdriver.Chrome) -> None:
    assert browser.get_log("browser") == []
    requests = [
        entry["message"]
        for entry in browser.get_log("performance")
        if '"Network.requestWillBeSent"' in entry["message"]
    ]
    assert len([r for r in requests if '"url":"http' in r]) == 0
