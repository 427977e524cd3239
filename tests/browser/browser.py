# SPDX-License-Identifier: MIT
"""A headless chromium that shows pages, and what tests ask it."""

import base64
import os
import pathlib
import shutil
import time

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
SIZES = {"small": (700, 900), "medium": (1280, 800), "large": (1920, 1080)}


def missing() -> str | None:
    """What a browser test needs and is not there."""
    if CHROMIUM is None or DRIVER is None:
        return "chromium and chromedriver are not installed"
    try:
        import selenium.webdriver  # noqa: F401 pylint: disable=unused-import
    except ImportError:
        return "python3-selenium is not installed"
    return None


class Browser:
    def __init__(self, pictures: pathlib.Path):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        options.add_argument("--headless=new")
        options.add_argument("--disable-gpu")
        options.add_argument("--hide-scrollbars")
        options.add_argument("--force-device-scale-factor=1")
        # /dev/shm of a container is small.
        options.add_argument("--disable-dev-shm-usage")
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_script_timeout(60)
        self.driver.set_page_load_timeout(60)
        self.pictures = pictures

    def close(self) -> None:
        self.driver.quit()

    def open(self, page: pathlib.Path, size: str = "medium") -> float:
        """Shows a page and waits for its first frames; how long that took, in seconds."""
        self.resize(size)
        begin = time.monotonic()
        self.driver.get(page.resolve().as_uri())
        self.wait("window.tacos && window.tacos.frames().length > 2")
        return time.monotonic() - begin

    def resize(self, size: str) -> None:
        width, height = SIZES[size]
        self.command("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def command(self, name: str, values: dict | None = None) -> dict:
        """One of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, values or {})

    def ask(self, expression: str):
        return self.driver.execute_script(f"return {expression}")

    def wait(self, expression: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not self.ask(expression):
            if time.monotonic() > end:
                raise AssertionError(f"never came true: {expression}; the console says {self.errors()}")
            time.sleep(0.02)

    def settle(self) -> None:
        """Until what has changed is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def errors(self) -> list[str]:
        """What the console complained of since it was last asked."""
        return [line["message"] for line in self.driver.get_log("browser")
                if line["level"] in ("SEVERE", "WARNING")]

    def picture(self, name: str) -> None:
        self.settle()
        self.driver.save_screenshot(str(self.pictures / f"{name}.png"))

    def print(self) -> bytes:
        return base64.b64decode(self.command("Page.printToPDF", {"printBackground": True})["data"])

    def prefer(self, scheme: str) -> None:
        self.command("Emulation.setEmulatedMedia",
                     {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def find(self, selector: str):
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, key: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(key).perform()
        self.settle()

    def click_at(self, selector: str, x: float, y: float) -> None:
        """At a place in an element, from its upper left corner."""
        box = self.ask(f"document.querySelector('{selector}').getBoundingClientRect().toJSON()")
        place = {"x": box["left"] + x, "y": box["top"] + y, "button": "left", "clickCount": 1}
        self.command("Input.dispatchMouseEvent", {**place, "type": "mouseMoved", "button": "none"})
        self.command("Input.dispatchMouseEvent", {**place, "type": "mousePressed"})
        self.command("Input.dispatchMouseEvent", {**place, "type": "mouseReleased"})
        self.settle()

    def point_at(self, selector: str, x: float, y: float) -> None:
        box = self.ask(f"document.querySelector('{selector}').getBoundingClientRect().toJSON()")
        self.command("Input.dispatchMouseEvent",
                     {"x": box["left"] + x, "y": box["top"] + y, "type": "mouseMoved"})
        self.settle()

    def slide(self, share: float) -> None:
        """Moves the slider as a hand would."""
        self.driver.execute_script(
            "const slider = document.querySelector('#slider');"
            "slider.value = Math.round(arguments[0] * slider.max);"
            "slider.dispatchEvent(new Event('input'));", share)
        self.settle()

    def follow(self, kind: str, text: str) -> None:
        self.driver.execute_script(
            "const form = document.querySelector('#follow');"
            "form.querySelector('select').value = arguments[0];"
            "form.querySelector('input').value = arguments[1];"
            "form.requestSubmit();", kind, text)
        self.settle()
