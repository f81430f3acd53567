# SPDX-License-Identifier: BSD-3-Clause
"""browser.py -- drives a headless Chromium by chromedriver's WebDriver protocol, for test/grid/web."""
import base64
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


class Browser:
    """One window. Everything is asked of chromedriver over HTTP; it ends with close()."""

    def __init__(self, width=1280, height=1000, dark=False, calm=False):
        self.folder = tempfile.TemporaryDirectory(prefix="p2pgrid-chromium.", ignore_cleanup_errors=True)
        self.base = "http://127.0.0.1:%s/session" % self.start_driver()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--no-first-run", "--disable-background-networking", "--disable-component-update",
                     "--user-data-dir=" + self.folder.name, "--window-size=%d,%d" % (width, height)]
        if dark:
            arguments.append("--force-dark-mode")
        if calm:
            arguments.append("--force-prefers-reduced-motion")
        options = {"binary": "/usr/bin/chromium", "args": arguments}
        value = self.ask("POST", "", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/" + value["sessionId"]

    def start_driver(self, tries=5):
        """Its port. It takes a free one for IPv4, wants the same for IPv6, and ends where somebody has that."""
        for _ in range(tries):
            self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                           text=True, start_new_session=True)
            said = []
            for line in self.driver.stdout:
                said.append(line)
                port = re.search(r"started successfully on port (\d+)", line)
                if port:
                    return port.group(1)
            self.driver.wait()
        raise RuntimeError("chromedriver does not start: " + "".join(said))

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"].splitlines()[0]) from None

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *args):
        """The value that the script returns."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(args)})

    def run_async(self, script, *args):
        """The value that the script hands to its last argument, a function."""
        return self.ask("POST", "/execute/async", {"script": script, "args": list(args)})

    def cdp(self, command, **params):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def keys(self, *keys):
        actions = [a for k in keys for a in ({"type": "keyDown", "value": k}, {"type": "keyUp", "value": k})]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({ behavior: 'instant', block: 'center' })", selector)
        element = self.ask("POST", "/element", {"using": "css selector", "value": selector})
        self.ask("POST", "/element/%s/click" % next(iter(element.values())), {})

    def within(self, seconds, script, *args):
        """Until the script returns something true: that; None when the time is up."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script, *args)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.03)

    def drawn(self):
        """What the page was told before is on the screen."""
        self.run_async("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)))")

    def rests(self):
        """Nothing on it is on its way any more, either."""
        self.drawn()
        self.run_async("const done = arguments[0]; Promise.allSettled(document.getAnimations().map((a) => a.finished)).then(() => done(true))")
        self.drawn()

    def log(self):
        return self.ask("POST", "/se/log", {"type": "browser"})

    def look(self, width, height, dark=False):
        """As on a screen of that size."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path, scale=1):
        """A PNG of the window."""
        size = self.run("return [innerWidth, innerHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": scale}
        data = self.cdp("Page.captureScreenshot", format="png", clip=clip)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        try:
            self.ask("DELETE", "")
        except (OSError, RuntimeError):
            pass
        os.killpg(self.driver.pid, 9)
        self.driver.wait()
        self.folder.cleanup()
