# SPDX-License-Identifier: BSD-3-Clause
"""crowd.py -- p2pd's page with a grid that nobody has here: all of it is p2pd's, but the events, which test/grid/crowd makes."""
import http.client
import http.server
import json
import os
import subprocess
import threading

PERIOD_S = 0.25  # four patches a second; p2pd sends one, and one more when something happens


def merge(target, patch):
    """As a browser does it (RFC 7386)."""
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict) and isinstance(target.get(key), dict):
            merge(target[key], value)
        else:
            target[key] = value


class Crowd:
    """A server on a port of its own. `state` is what the page was told so far; patches come while `runs` is set."""

    def __init__(self, cookie, peers, ranks, lanes, patches=400):
        size = [str(n) for n in (peers, ranks, lanes, patches)]
        out = subprocess.run([os.environ["builddir"] + "/test/grid/crowd", *size], capture_output=True, timeout=120, check=True).stdout
        self.frames = out.decode().split("\n\n")[:-1]
        self.cookie, self.state, self.sent = cookie, {}, 0
        self.runs, self.rests, self.over = threading.Event(), threading.Event(), threading.Event()
        crowd = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                (crowd.events if self.path == "/events" else crowd.fetch)(self)

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = "127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def fetch(self, request):
        """From p2pd, with its own headers."""
        c = http.client.HTTPConnection(os.environ["ADDRESS"], timeout=20)
        c.request("GET", request.path, headers={"Cookie": self.cookie})
        answer = c.getresponse()
        body = answer.read()
        c.close()
        request.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.startswith("Content-") or name.startswith("X-"):
                request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def events(self, request):
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.end_headers()
        try:
            for frame in self.frames:
                if self.sent > 0:
                    self.over.wait(PERIOD_S)
                while not self.runs.is_set() and self.sent > 0 and not self.over.is_set():
                    self.rests.set()
                    self.over.wait(0.02)
                self.rests.clear()
                if self.over.is_set():
                    return
                data = json.loads(frame.split("data: ", 1)[1])
                merge(self.state, data["state"] if self.sent == 0 else data)
                self.sent += 1
                request.wfile.write((frame + "\n\n").encode())
            self.rests.set()
            self.over.wait()
        except OSError:
            pass  # the browser went

    def pause(self):
        """`state` is all that was sent, and stays so; false if that does not come about."""
        self.runs.clear()
        return self.rests.wait(10)

    def close(self):
        self.over.set()
        self.server.shutdown()
