# SPDX-License-Identifier: BSD-3-Clause
"""web.py -- what test/grid/web does in a browser and over HTTP.

usage: web.py STEP, with LINK and ADDRESS (host:port) in the environment where a step needs them."""
import decimal
import http.client
import json
import os
import re
import subprocess
import sys
import time
import urllib.request

from browser import Browser
from crowd import Crowd

SHOTS = os.environ.get("SCREENSHOTS", "")


def fail(text):
    print("FAIL: " + text)
    sys.exit(1)


def expect(yes, text):
    if not yes:
        fail(text)


def p2pctl(*words):
    """The answer of p2pctl on the desktop whose page it is, as JSON."""
    out = subprocess.run([os.environ["builddir"] + "/p2pctl", *words, "--json"], capture_output=True, text=True, timeout=30)
    return json.loads(out.stdout)


def link():
    return p2pctl("web")["url"]


# --- over HTTP, by hand ---

def ask(method, target, **headers):
    """Status, headers and body; Host is that of the page unless another is given."""
    host, port = os.environ["ADDRESS"].split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    connection.putrequest(method, target, skip_host=True)
    headers = {"Host": os.environ["ADDRESS"], **{k.replace("_", "-"): v for k, v in headers.items()}}
    if method == "POST":
        headers.setdefault("Content-Length", "0")
    for name, value in headers.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = b"" if answer.getheader("Content-Type") == "text/event-stream" else answer.read()
    if body:
        connection.close()
    return answer, body.decode()


def status(method, target, **headers):
    return ask(method, target, **headers)[0].status


def enter(url):
    """A session by the link: its cookie, and the token for what changes something."""
    answer, _ = ask("GET", url[url.index("/enter"):])
    expect(answer.status == 200, "the link does not let in: %d" % answer.status)
    said = answer.getheader("Set-Cookie")
    expect("HttpOnly" in said and "SameSite=Strict" in said, "the cookie: " + said)
    cookie = said.split(";")[0]
    events, _ = ask("GET", "/events", Cookie=cookie)
    expect(events.status == 200, "no events: %d" % events.status)
    line = events.fp.readline()
    while not line.startswith(b"data:"):
        line = events.fp.readline()
    return cookie, json.loads(line[5:])["token"]


def refusals():
    url = link()
    cookie, token = enter(url)
    used = status("GET", url[url.index("/enter"):])
    expect(used == 403, "a link that was used lets in again: %d" % used)
    expect(status("GET", "/enter?token=" + 32 * "0") == 403, "a guessed link lets in")
    for target in ("/", "/page.js", "/page.css", "/state", "/events", "/metrics"):
        expect(status("GET", target) == 403, target + " without a cookie")
        expect(status("GET", target, Cookie=cookie[:-4] + "0000") == 403, target + " with a wrong cookie")
        expect(status("GET", target, Cookie=cookie, Host="evil.example") == 421, target + " for a foreign host")
        expect(status("GET", target, Cookie=cookie, Host=None) in (400, 421), target + " for no host")
        expect(status("GET", target, Cookie=cookie) == 200, target + " is refused")
    expect(status("GET", "/favicon.ico") == 200, "the icon, which a browser asks for with the link's page, is not there")
    port = os.environ["ADDRESS"].split(":")[1]
    expect(status("GET", "/", Cookie=cookie, Host="localhost:" + port) == 200, "localhost is refused")
    expect(status("GET", "/", Cookie=cookie, Host="localhost:1") == 421, "another port's host")
    expect(status("GET", "/state", Cookie=cookie, Origin="http://evil.example") == 403, "another page's script")
    expect(status("POST", "/pause", Cookie=cookie) == 403, "a pause without the token")
    expect(status("POST", "/pause", Cookie=cookie, X_P2PGrid_Token=32 * "0") == 403, "a pause with a wrong token")
    expect(status("POST", "/pause", X_P2PGrid_Token=token) == 403, "a pause without a cookie")
    expect(status("GET", "/pause", Cookie=cookie, X_P2PGrid_Token=token) == 405, "a pause by GET")
    expect(status("POST", "/pause?seconds=x", Cookie=cookie, X_P2PGrid_Token=token) == 400, "a pause for x seconds")
    expect(status("GET", "/nothing", Cookie=cookie) == 404, "/nothing")
    expect(status("POST", "/pause", Cookie=cookie, X_P2PGrid_Token=token, Content_Length="999999999") in (400, 413), "a large body")
    expect(p2pctl("policy")["open"], "it was paused by what is refused")
    expect(status("POST", "/pause?seconds=600", Cookie=cookie, X_P2PGrid_Token=token) == 200, "no pause")
    expect(not p2pctl("policy")["open"] and p2pctl("policy")["until"] > time.time(), "it is not paused")
    expect(status("POST", "/resume", Cookie=cookie, X_P2PGrid_Token=token) == 200, "no resume")
    expect(p2pctl("policy")["open"], "it is not resumed")
    for target in ("/", "/page.js", "/page.css", "/state", "/favicon.ico"):
        answer, body = ask("GET", target, Cookie=cookie)
        check_policy(target, answer.getheader("Content-Security-Policy"))
        expect(answer.getheader("X-Content-Type-Options") == "nosniff", target + ": no nosniff")
        outside = re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+", body) if target in ("/", "/page.css") else []
        expect(outside == [], "%s names what is elsewhere: %s" % (target, outside))
    inline = re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:", ask("GET", "/", Cookie=cookie)[1])
    expect(inline == [], "the page has what its policy forbids: %s" % inline)
    if os.geteuid() == 0:
        other = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", sys.executable, "-c",
                                "import http.client,sys; c=http.client.HTTPConnection(sys.argv[1]);"
                                "c.request('GET','/state',headers={'Cookie':sys.argv[2]}); print(c.getresponse().status)",
                                os.environ["ADDRESS"], cookie], capture_output=True, text=True, timeout=30).stdout.strip()
        expect(other == "403", "another user of the machine, with the cookie: " + other)
    many = [http.client.HTTPConnection(os.environ["ADDRESS"], timeout=20) for _ in range(200)]
    for one in many:
        one.connect()
    for one in many:
        one.close()
    expect(status("GET", "/state", Cookie=cookie) == 200, "200 connections that say nothing stop it")
    print("what must be refused is")


def check_policy(target, policy):
    """Scripts, styles and data are the page's own, and nothing else is loaded."""
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    want = {name: "'self'" for name in ("script-src", "style-src", "connect-src", "img-src")}
    want.update({name: "'none'" for name in ("default-src", "base-uri", "form-action", "frame-ancestors")})
    expect(rules == want, "%s: the policy is %s" % (target, policy))


def metrics():
    key = p2pctl("web", "--metrics-token")["key"]
    expect(status("GET", "/state", Authorization="Bearer " + key) == 403, "the metrics' key reads the state")
    expect(status("GET", "/metrics", Authorization="Bearer " + 32 * "0") == 403, "a wrong key reads metrics")
    expect(status("GET", "/metrics", Authorization="Bearer " + key, Host="evil.example") == 421, "metrics for a foreign host")
    peers = 0
    for _ in range(100):
        answer, body = ask("GET", "/metrics", Authorization="Bearer " + key)
        peers = int(re.search(r"^p2pgrid_peers (\d+)$", body, re.M).group(1))
        if peers == int(os.environ["PEERS"]):
            break
        time.sleep(0.1)
    expect(peers == int(os.environ["PEERS"]), "metrics of %d peers" % peers)
    expect(answer.getheader("Content-Type").startswith("application/openmetrics-text; version=1.0.0"), "type")
    check_metrics(body)
    print("%d lines of metrics" % body.count("\n"))


def check_metrics(body):
    """As OpenMetrics 1.0 has it: each sample after its family's metadata, families apart, the end marked."""
    expect(body.endswith("\n# EOF\n"), "no # EOF")
    family, kind, seen = "", "", set()
    for line in body.splitlines()[:-1]:
        words = line.split(" ")
        if words[0] == "#":
            expect(words[1] in ("TYPE", "UNIT", "HELP"), line)
            if words[1] == "TYPE":
                family, kind = words[2], words[3]
                expect(family not in seen, "family twice: " + family)
                seen.add(family)
            expect(words[2] == family, "metadata out of place: " + line)
            continue
        sample = re.fullmatch(r'([a-z0-9_]+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? (\d+)', line)
        expect(sample, "no sample: " + line)
        suffix = {"counter": "_total", "info": "_info"}.get(kind, "")
        expect(sample.group(1) == family + suffix, "%s is no sample of %s" % (line, family))
    expect(len(seen) >= 20, "only %d families" % len(seen))


def closing():
    """One that looks is out as soon as the page is closed, with all keys."""
    key = p2pctl("web", "--metrics-token")["key"]
    cookie, _ = enter(link())
    events, _ = ask("GET", "/events", Cookie=cookie)
    expect(events.fp.readline() != b"", "no events")
    p2pctl("web", "--close")
    while events.fp.readline() != b"":
        pass
    os.environ["ADDRESS"] = "127.0.0.1:%d" % p2pctl("web")["port"]
    expect(status("GET", "/state", Cookie=cookie) == 403, "an old session is good after the page was closed")
    expect(status("GET", "/metrics", Authorization="Bearer " + key) == 403, "an old key is good after the page was closed")
    print("closed, and everybody is out")


# --- in a browser ---

def come(browser, peers):
    browser.open(link())
    found = browser.within(20, "return document.querySelectorAll('#peer-table tbody tr').length === arguments[0]", peers)
    expect(found, "the table has not %d peers: %s" % (peers, browser.run("return document.body.innerText.slice(0, 400)")))


def is_quiet(browser):
    """Nothing from elsewhere was asked for, nothing broke the policy, no script failed."""
    away = browser.run("return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin))")
    expect(away == [], "from elsewhere: %s" % away)
    bad = [l for l in browser.log() if l["level"] == "SEVERE"]
    expect(bad == [], "the browser complains: %s" % bad)


def tables(browser):
    """Peers, processes, history, ring and transfers, as p2pctl has them."""
    rows = lambda table: "return [...document.querySelectorAll('%s tbody tr')].map(r => [...r.children].map(e => e.textContent))" % table
    want = sorted([p["name"], "%d of %d" % (p["slots_free"], p["slots"]), p["arch"], str(p["cores"])] for p in p2pctl("peers")["peers"])
    peers = browser.within(20, rows("#peer-table") + ".map(r => [r[0], r[2], r[7], r[5]]).sort().filter((r, i, all) => JSON.stringify(all) === arguments[0])",
                           json.dumps(want, separators=(",", ":")))
    expect(peers, "the table has other peers than p2pctl peers: %s, not %s" % (browser.run(rows("#peer-table")), want))
    distances = browser.run(rows("#peer-table") + ".map(r => r[3])")
    expect(distances.count("here") == 1 and all(re.fullmatch(r"here|[0-9.]+ ms", d) for d in distances), "distances: %s" % distances)
    job = p2pctl("job", os.environ["JOB"])
    at = {(p["rank"], p["lane"]): p for p in job["processes"]}
    places = [[str(rank)] + [at[rank, lane]["peer"] + (" \u2605" if lane == 0 else "") for lane in (0, 1)] for rank in range(4)]
    expect(len(at) == 8 and browser.run(rows(".places")) == places, "the job's places: %s, not %s" % (browser.run(rows(".places")), places))
    head = browser.run("return [...document.querySelectorAll('.places thead th')].map(e => e.textContent)")
    expect(head == ["Rank", "Lane 0", "Lane 1"], "the head of the matrix: %s" % head)
    past = [[h["program"].split("/")[-1], h["outcome"]] for h in p2pctl("history")["history"]]
    shown = browser.run(rows("#history-table") + ".map(r => [r[3], r[4]])")
    expect(len(past) > 0 and shown == past, "the history: %s, not %s" % (shown, past))
    ring = p2pctl("status")["ring"]
    ids = [n["id"][:8] for n in [ring["predecessor"]] + ring["successors"]]
    expect(browser.run(rows("#ring-list") + ".map(r => r[2])") == ids, "the ring: %s, not %s" % (browser.run(rows("#ring-list")), ids))
    names = {p["id"][:8]: p["name"] for p in p2pctl("peers")["peers"]}
    expect(browser.run(rows("#ring-list") + ".map(r => r[1])") == [names[i] for i in ids], "names on the ring")
    moved = browser.run("return document.querySelector('#transfers-sum').textContent")
    given = re.search(r"([0-9.]+) MiB were given$", moved)
    expect(given and float(given.group(1)) >= 2.8, "files went to peers, and the page says: " + moved)
    print("%d peers, %d processes, %d lines of history, %d neighbours: as p2pctl says" % (len(want), len(at), len(past), len(ids)))


def loss(browser):
    """A peer with processes of the job is killed; the page shows it within two seconds. Exits with 75 when all is late."""
    job = browser.within(20, "return document.querySelectorAll('.job .places tbody tr').length")
    expect(job == 4, "the job is not there: %s" % job)
    victim = next(p for p in p2pctl("job", os.environ["JOB"])["processes"] if p["peer"] != "desk1" and p["leads"])["peer"]
    browser.run("""
        window.lossAt = {};
        const before = {}; // of a loss in an earlier job
        const note = () => {
            const words = [['cell', '.places td.lost'], ['log', '#log .bad'], ['peer', 'tr.gone']];
            for (const [name, selector] of words) {
                const now = document.querySelectorAll(selector).length;
                before[name] = before[name] ?? now;
                if (!lossAt[name] && now > before[name]) lossAt[name] = Date.now();
            }
        };
        note();
        new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true });""")
    begin = time.time() * 1000
    subprocess.run([os.environ["srcdir"] + "/contrib/grid", "kill", victim[4:]], check=True, stdout=subprocess.DEVNULL, timeout=60)
    killed = time.time() * 1000
    browser.within(20, "return Object.keys(lossAt).length === 3")
    at = browser.run("return lossAt")
    expect(len(at) == 3, "%s is lost, and the page shows only %s" % (victim, at))
    took = {name: round(ms - begin) for name, ms in at.items()}
    print("%s is killed (%d ms): after %s ms its processes are lost on the page, after %s there is a line, after %s its peer is lost"
          % (victim, killed - begin, took["cell"], took["log"], took["peer"]))
    if max(took.values()) > 2000:
        print("that takes too long: %s" % took)
        sys.exit(75)
    expect(browser.run("return document.querySelector('#log').parentElement.getAttribute('aria-live')") == "polite", "the log is not said aloud")
    leads = browser.within(10, "return [...document.querySelectorAll('.places tbody tr')].every(r => r.querySelectorAll('.lead').length === 1)")
    expect(leads, "no copy takes over")
    lost = sorted((p["rank"], p["lane"]) for p in p2pctl("job", os.environ["JOB"])["processes"] if p["state"] == "lost")
    cells = browser.run("return [...document.querySelectorAll('.places tbody tr')].flatMap((r, rank) => [...r.querySelectorAll('td')].flatMap((c, lane) => c.textContent.endsWith(' lost') ? [[rank, lane]] : []))")
    expect(len(lost) > 0 and [tuple(c) for c in cells] == lost, "cells that say `lost`: %s, not %s" % (cells, lost))
    lines = browser.within(5, "const l = [...document.querySelectorAll('#log .bad')].map(e => e.textContent); return arguments[0].every(s => l.some(t => t.includes(s))) ? l : null",
                           ["lost rank %d, lane %d on %s" % (*one, victim) for one in lost])
    expect(lines, "not each loss has a line: " + browser.run("return document.querySelector('#log').textContent"))
    expect("%d process" % len(lost) in browser.run("return document.querySelector('.job .sum').textContent"), "the job's line says nothing of the loss")
    said = browser.within(5, "return /rank [0-9]+ of lane 0 goes on in lane 1, on desk[0-9]/.test(document.querySelector('#log').textContent)")
    expect(said, "nothing is said of who takes over: " + browser.run("return document.querySelector('#log').textContent"))


def others(browser):
    """What another desktop runs is a row of the page, and gone when it is over."""
    begin = time.time()
    job = subprocess.Popen([os.environ["srcdir"] + "/contrib/grid", "run", "--on", os.environ["OTHER"], "mpirun", "--mca", "ras", "p2p",
                            "-n", "1", "sleep", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    row = browser.within(30, "const r = document.querySelector('#others tbody tr'); return r && r.textContent.includes('1 rank') ? r.textContent : null")
    expect(row and row.startswith("desk" + os.environ["OTHER"]) and "runs" in row and "1 peer" in row, "no job of another desktop: %s" % row)
    shown = time.time()
    mine = browser.run("return document.querySelectorAll('#others tbody tr').length")
    expect(mine == 1, "own jobs are among those of others")
    job.terminate()
    job.wait()
    expect(browser.within(30, "return document.querySelector('#others').hidden"), "it is over, and still shown")
    print("a job of another desktop is shown after %.1f s" % (shown - begin))


def pause(browser):
    """By the keyboard alone: from the first link to the button, and back."""
    browser.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    order = []
    for _ in range(12):
        browser.keys("\ue004")
        order.append(browser.run("const e = document.activeElement; return e.id || e.className || e.textContent"))
        if order[-1] == "pause":
            break
    expect(order[0] == "skip" and order[-1] == "pause", "the order of the keyboard: %s" % order)
    outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
    expect(outline != "none", "the focus is not seen")
    browser.keys("\ue007")
    expect(browser.within(5, "return /^Paused until/.test(document.querySelector('#lending').textContent)"), "no word of the pause")
    expect(not p2pctl("policy")["open"], "it is not paused")
    expect(browser.within(5, "return document.activeElement.id === 'resume'"), "the focus is lost")
    browser.keys("\ue007")
    expect(browser.within(5, "return /^Lending/.test(document.querySelector('#lending').textContent)"), "no word of the end")
    expect(p2pctl("policy")["open"], "it is not resumed")
    print("paused and resumed by the keyboard")


def clicks(browser):
    """By the pointer, for half an hour; without the token, or with another one, from the page itself: refused."""
    post = "const done = arguments[2]; fetch(arguments[0], { method: 'POST', headers: arguments[1] }).then(a => done(a.status))"
    for headers in ({}, {"X-P2PGrid-Token": 32 * "0"}):
        expect(browser.run_async(post, "/pause?seconds=60", headers) == 403, "a pause from the page with %s" % headers)
        expect(p2pctl("policy")["open"], "it is paused by what is refused")
    browser.run("document.querySelector('#pause-for').value = '1800'")
    browser.click("#pause")
    expect(browser.within(5, "return !document.querySelector('#resume-box').hidden && document.querySelector('#pause-box').hidden"), "no button to resume")
    until = p2pctl("policy")["until"] - time.time()
    expect(1500 < until <= 1800, "paused for %d s" % until)
    expect(browser.run_async(post, "/resume", {}) == 403 and not p2pctl("policy")["open"], "resumed without the token")
    browser.click("#resume")
    expect(browser.within(5, "return document.querySelector('#resume-box').hidden && !document.querySelector('#pause-box').hidden"), "no button to pause")
    expect(p2pctl("policy")["open"], "it is not resumed")
    browser.log()  # of refusals: the browser complains of each 403


def keyboard(browser):
    """Tab reaches all that can be used, in the order in which it is read, and one sees where one is."""
    browser.open("http://%s/" % os.environ["ADDRESS"]) # anew: Tab begins at the top
    browser.within(20, "return document.querySelectorAll('#peer-table tbody tr').length === arguments[0] && document.querySelectorAll('#history-table tbody tr').length > 0", int(os.environ["PEERS"]))
    browser.rests()
    want = browser.run("""
        window.usable = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')].filter(e => e.checkVisibility());
        return usable.length""")
    order, unseen = [], []
    for _ in range(want):
        browser.keys("\ue004")
        order.append(browser.run("return usable.indexOf(document.activeElement)"))
        seen = browser.within(3, """ // the page scrolls smoothly
            const e = document.activeElement, s = getComputedStyle(e), box = e.getBoundingClientRect();
            return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 && box.bottom > 0 && box.top < innerHeight""")
        if not seen:
            unseen.append(browser.run("return document.activeElement.outerHTML.slice(0, 80)"))
    expect(order == list(range(want)), "the order of the keyboard: %s" % order)
    expect(unseen == [], "the focus is not seen on %s" % unseen)
    print("%d things are reached by the keyboard, in their order" % want)


def schemes(browser):
    """Light or dark, as the system is; the map, too."""
    light = "const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g); return 0.3 * r + 0.6 * g + 0.1 * b"
    map_sum = "const c = document.querySelector('#map'); return c.toDataURL().length + ':' + c.getContext('2d').getImageData(0, 0, c.width, c.height).data.reduce((a, b) => a + b, 0)"
    seen = []
    for dark in (False, True):
        browser.look(1280, 1000, dark)
        browser.rests()
        seen.append((browser.run(light), browser.run(map_sum)))
    expect(seen[0][0] > 200 and seen[1][0] < 60, "the ground is %d light, and dark %d" % (seen[0][0], seen[1][0]))
    expect(seen[0][1] != seen[1][1], "the map is the same in light and dark")
    browser.look(1280, 1000, False)


def inline_is_refused(browser):
    """The policy as the browser holds it: a script that were smuggled in does not run."""
    browser.run("const s = document.createElement('script'); s.textContent = 'window.smuggled = 1'; document.body.append(s)")
    expect(browser.run("return window.smuggled === undefined"), "an inline script has run")
    expect(any("Content Security Policy" in l["message"] for l in browser.log()), "the browser says nothing of it")


def sort_and_filter(browser):
    names = "return [...document.querySelectorAll('#peer-table tbody .name')].map(e => e.textContent)"
    browser.click("#peer-table thead th:first-child button")
    first = browser.run(names)
    expect(first == sorted(first), "not sorted: %s" % first)
    browser.click("#peer-table thead th:first-child button")
    expect(browser.run(names) == first[::-1], "not the other way")
    expect(browser.run("return document.querySelector('#peer-table thead th').ariaSort") == "descending", "aria-sort")
    browser.run("const f = document.querySelector('#filter'); f.value = arguments[0]; f.dispatchEvent(new Event('input'))", first[0])
    expect(browser.run(names) == first[:1], "the filter")
    browser.run("const f = document.querySelector('#filter'); f.value = ''; f.dispatchEvent(new Event('input'))")


# --- a grid that nobody has here: how it looks ---

def synthetic(browser):
    with open(os.path.join(os.path.dirname(__file__), "synthetic.js"), encoding="utf-8") as f:
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=f.read())
    browser.open("http://%s/" % os.environ["ADDRESS"])


# --- a crowd: the page's real events and state, of 500 peers and 64 x 3 processes ---

FRAMES = """
const done = arguments[arguments.length - 1];
const gaps = [], tasks = [0];
const observer = new PerformanceObserver((list) => list.getEntries().forEach((e) => tasks.push(Math.round(e.duration))));
observer.observe({ type: 'longtask' });
let last = 0, begin = 0;
const frame = (now) => {
    if (last === 0) begin = now; else gaps.push(now - last);
    last = now;
    if (now - begin < arguments[0]) return requestAnimationFrame(frame);
    observer.disconnect();
    gaps.sort((a, b) => a - b);
    done({ frames: gaps.length, median: gaps[gaps.length >> 1], late: gaps[Math.floor(gaps.length * 0.95)], task: Math.max(...tasks) });
};
requestAnimationFrame(frame);
"""


# How long a fixed piece of work takes, again and again: on a machine that has other things to do longer than at best.
PROBE = """
const done = arguments[arguments.length - 1], took = [];
const work = () => {
    const begin = performance.now();
    let x = 0;
    for (let i = 0; i < 4000000; i++) x += Math.sqrt(i);
    took.push(performance.now() - begin + 0 * x);
    if (took.length < 20) return setTimeout(work, 60);
    took.sort((a, b) => a - b);
    done([took[10] / took[0], took[19] / took[0]]);
};
work();
"""


def processor_ms(browser):
    """What all tasks of the page have taken of a processor, which other processes hardly change."""
    return 1000 * next(m["value"] for m in browser.cdp("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")


def watch_frames(browser, crowd):
    """For four seconds."""
    busy, stalled = browser.run_async(PROBE)
    crowd.runs.set()
    before, sent = processor_ms(browser), crowd.sent
    took = browser.run_async(FRAMES, 4000)
    took["patches"] = crowd.sent - sent
    took["each"] = (processor_ms(browser) - before) / max(1, took["patches"])
    crowd.runs.clear()
    return {**took, "busy": busy, "stalled": stalled}


def smooth(browser, crowd):
    """Frames keep coming, and no task holds the page for long: as much longer as anything takes on this machine now."""
    browser.look(1280, 900)
    browser.cdp("Performance.enable", timeDomain="threadTicks")
    watch_frames(browser, crowd)  # once for nothing: the browser compiles
    for _ in range(5):
        took = watch_frames(browser, crowd)
        print("500 peers and 64 x 3 processes, in 4 s %(patches)d patches and %(frames)d frames: %(median).0f ms between two frames, 95 of 100 "
              "within %(late).0f, the longest task %(task)d ms; each patch takes %(each).0f ms of a processor; work takes %(busy).1f times as long as at "
              "best, at most %(stalled).1f times" % took)
        if took["patches"] >= 4 and took["each"] <= 120 and took["median"] <= 50 * took["busy"] and took["task"] <= 250 * took["stalled"]:
            return
    fail("that is not smooth: %s" % took)


SHOWN = """
const texts = (row) => [...row.children].map((e) => e.textContent);
const rows = (table) => [...document.querySelectorAll(table + ' tbody tr')].map(texts);
return {
    cells: [...document.querySelectorAll('.matrix .rank')].map((r) => [...r.querySelectorAll('.cell')].map((c) => [c.title, c.className])),
    places: rows('.places'), peers: rows('#peer-table'), others: rows('#others-table'), history: rows('#history-table'), ring: rows('#ring-list'),
    sum: document.querySelector('.job .sum').textContent, othersSum: document.querySelector('#others-sum').textContent,
    transfers: [...document.querySelectorAll('#transfer-list li')].map((e) => [e.textContent, e.querySelector('progress').value]) };
"""


def peer_words(p):
    if not p["open"]:
        return "paused"
    return "lends" if p["slots_free"] == p["slots"] else "partly in use" if p["slots_free"] > 0 else "all in use"


def fixed(x, digits):
    """As JavaScript rounds: what lies in the middle goes up."""
    return str(decimal.Decimal(x).quantize(decimal.Decimal(1).scaleb(-digits), decimal.ROUND_HALF_UP))


def trip(us):
    return "here" if us == 0 else fixed(us / 1000, 2 if us < 10000 else 0) + " ms"


def must_show(state):
    """What the page has to show of a state, told again in another language."""
    job = state["jobs"]["mpirun-4711"]
    at = lambda rank, lane: job["processes"]["%d.%d" % (rank, lane)]
    shown = lambda p: p["leads"] and p["state"] == "runs"
    lost = sum(p["state"] == "lost" for p in job["processes"].values())
    by_distance = sorted(state["peers"].values(), key=lambda p: (p["rtt_us"], p["name"]))
    others = sorted(state["grid"].values(), key=lambda j: (j["state"] == "waits" and j["place"], j["from"]))
    ring = state["desktop"]["ring"]
    names = {p["id"]: p["name"] for p in by_distance}
    return {
        "cells": [[["rank %d, lane %d: %s, %s%s" % (rank, lane, at(rank, lane)["peer"], at(rank, lane)["state"], ", its output is shown" if at(rank, lane)["leads"] else ""),
                    "cell " + ("lead" if shown(at(rank, lane)) else at(rank, lane)["state"])] for lane in range(job["lanes"])] for rank in range(job["ranks"])],
        "places": [[str(rank)] + [at(rank, lane)["peer"] + ("" if at(rank, lane)["state"] == "runs" else " lost") + (" \u2605" if at(rank, lane)["leads"] else "")
                                  for lane in range(job["lanes"])] for rank in range(job["ranks"])],
        "peers": [[p["name"], peer_words(p), "%d of %d" % (p["slots_free"], p["slots"]), trip(p["rtt_us"])] for p in by_distance],
        "others": [[j["from"], j["user"], j["state"], "4 ranks \u00d7 2", "place %d, 0 free" % j["place"] if j["state"] == "waits" else "4 peers" + (", %d lost" % j["lost"] if j["lost"] else "")]
                   for j in others[:100]],
        "history": [["1 min 0 s", "%d ranks \u00d7 2" % h["ranks"], h["program"].split("/")[-1], "done"] for h in state["history"]],
        "ring": [["before", names[ring["predecessor"]["id"]]]] + [["after", names[n["id"]]] for n in ring["successors"]],
        "sum": "%d ranks in %d lanes on %d peers" % (job["ranks"], job["lanes"], len({p["peer_id"] for p in job["processes"].values() if p["state"] == "runs"}))
               + (", %d process%s lost" % (lost, "" if lost == 1 else "es") if lost else ""),
        "othersSum": "110 run, 15 wait; 100 are shown",
        "transfers": [["Files of your job go to 3 peers \u2013 %s of 3.0 GiB" % size(t["have"]), t["have"]] for t in state["transfers"].values()],
    }


def size(n):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return "%s %s" % (fixed(n, 1 if n < 10 and unit != "B" else 0), unit)
        n /= 1024


def is_right(browser, crowd):
    """Each row and each cell is what the events have told. The table's rows move only now and then."""
    expect(crowd.pause(), "events do not stop")
    browser.run("document.querySelector('.job details').open = true")
    want = must_show(crowd.state)
    end = time.monotonic() + 15
    while True:
        now = browser.run(SHOWN)
        now["cells"] = [[[title, kind.replace(" fresh", "")] for title, kind in column] for column in now["cells"]]
        for name, columns in (("peers", 4), ("others", 5)):
            now[name] = [row[:columns] for row in now[name]]
        now["history"] = [row[1:] for row in now["history"]]
        now["ring"] = [row[:2] for row in now["ring"]]
        wrong = [name for name in want if now[name] != want[name]]
        if not wrong or time.monotonic() > end:
            break
        time.sleep(0.2)
    for name in wrong:
        pairs = zip(now[name], want[name]) if isinstance(want[name], list) and len(now[name]) == len(want[name]) else [(now[name], want[name])]
        fail("the page shows wrong %s: %s, not %s" % ((name,) + next((a, b) for a, b in pairs if a != b)))
    print("right: %d peers, %d cells of %d ranks in 3 lanes, %d jobs of others, %d lines of history"
          % (len(now["peers"]), sum(map(len, now["cells"])), len(now["cells"]), len(now["others"]), len(now["history"])))


def crowded(browser):
    cookie, _ = enter(link())
    crowd = Crowd(cookie, 500, 64, 3)
    try:
        browser.open("http://%s/" % crowd.address)
        expect(browser.within(20, "return document.querySelectorAll('#peer-table tbody tr').length === 500"), "not 500 peers")
        smooth(browser, crowd)
        is_right(browser, crowd)
        is_quiet(browser)
    finally:
        crowd.close()


CUT = """
const seen = (e) => e.checkVisibility() && e.getClientRects().length;
const cut = [...document.querySelectorAll('th, td, button, a, h1, h2, h3, p, li, dd, dt, label, summary')].filter((e) => seen(e) && !e.closest('.hidden, .skip') && getComputedStyle(e).clipPath === 'none' &&
    e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline').map((e) => `${e.tagName} ${e.textContent.slice(0, 40)}`);
const wide = [...document.querySelectorAll('.scroll')].filter((e) => seen(e) && e.scrollWidth > e.clientWidth).map((e) => e.getAttribute('aria-label'));
return [document.documentElement.scrollWidth, cut, wide];
"""


def narrow(browser):
    """On a desk and on two phones, in light and dark, nothing is wider than the screen, cut, or to be scrolled sideways."""
    for width, height in ((1280, 800), (390, 844), (360, 740)):
        for dark in (False, True):
            for peers, ranks, lanes in ((24, 16, 2), (40, 64, 3), (5, 4, 3)):
                browser.look(width, height, dark)
                browser.run("page.takeState(synthetic(...arguments))", peers, ranks, lanes)
                browser.drawn()
                wide, cut, aside = browser.run(CUT)
                expect(wide <= width, "%d points wide on a screen of %d" % (wide, width))
                expect(cut == [] and aside == [], "on a screen of %d: cut: %s; wider than the screen: %s" % (width, cut, aside))
        browser.run("page.takeState({ token: '', state: {} })")
        browser.drawn()
        expect(browser.run(CUT)[0] <= width, "an empty page is wider than a screen of %d" % width)


def empty(browser):
    """What is not there says what to do; a desktop that is alone, too."""
    browser.run("page.takeState({ token: '', state: {} })")
    words = browser.within(5, "const e = [...document.querySelectorAll('.empty')].filter(e => e.checkVisibility()).map(e => e.textContent); return e.length >= 4 ? e : null")
    for word in ("mpirun --mca ras p2p", "p2p_files auto", "is kept here", "come as lines"):
        expect(any(word in w for w in words or []), "nothing empty says `%s`: %s" % (word, words))
    browser.run("const s = synthetic(24, 4, 1), id = s.state.desktop.id; s.state.peers = { [id]: s.state.peers[id] }; page.takeState(s)")
    expect(browser.within(5, "return document.querySelector('#peers-alone').checkVisibility()"), "alone, and nothing says how others come")


def axe(browser):
    with open(os.environ["AXE"], encoding="utf-8") as f:
        source = f.read()
    for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
        browser.look(width, 900, dark)
        browser.run("page.takeState(synthetic(24, 64, 3)); const d = document.querySelector('.job details'); if (d) d.open = true")
        browser.rests()
        found = browser.run_async(source + ";\nconst done = arguments[arguments.length - 1];"
                                  "axe.run().then(r => done(r.violations.map(v => v.impact + ' ' + v.id + ': ' + v.nodes.map(n => n.target.join(' ') + ' ' + (n.any[0] || {message: ''}).message).slice(0, 3).join('; '))), e => done(['' + e]))")
        expect(found == [], "axe-core, %d wide%s:\n  %s" % (width, ", dark" if dark else "", "\n  ".join(found)))
    print("axe-core finds nothing, on a desk and on a phone, light and dark")


PICTURES = (("page-desktop", 1200, 1480, False), ("page-dark", 1200, 1480, True), ("page-phone", 390, 1300, False))


def shots(browser):
    """Small pictures for doc/, after a loss, which comes when all else was seen."""
    browser.open(os.environ["LINK"])

    def sees(script, *args):
        if not browser.within(60, "return " + script, *args):
            fail("not seen: %s; but %s" % (script, browser.run("return document.body.innerText.slice(0, 1000)")))

    sees("document.querySelectorAll('#peer-table tbody tr').length === arguments[0]", int(os.environ["PEERS"]))
    sees("document.querySelectorAll('.job .places tbody tr').length === arguments[0]", int(os.environ["RANKS"]))
    sees("document.querySelectorAll('#others tbody tr').length > 0 && document.querySelectorAll('#history-table tbody tr').length > 0")
    with open(os.path.join(SHOTS, "seen"), "w", encoding="utf-8"):
        pass  # now it may be killed
    sees("document.querySelector('tr.gone') && document.querySelector('.places td.lost') && / goes on in lane /.test(document.querySelector('#log').textContent)")
    for name, width, height, dark in PICTURES:
        browser.look(width, height, dark)
        browser.rests()
        browser.picture(os.path.join(SHOTS, name + ".png"), 0.7 if width > 600 else 0.8)


def look_at_it():
    browser = Browser()
    try:
        come(browser, int(os.environ["PEERS"]))
        tables(browser)
        others(browser)
        loss(browser)
        pause(browser)
        is_quiet(browser)
        clicks(browser)
        keyboard(browser)
        schemes(browser)
        sort_and_filter(browser)
        is_quiet(browser)
        inline_is_refused(browser)
        crowded(browser)
        synthetic(browser)
        narrow(browser)
        empty(browser)
        is_quiet(browser)
    finally:
        browser.close()


def look_by_axe():
    browser = Browser()
    try:
        come(browser, int(os.environ["PEERS"]))
        synthetic(browser)
        axe(browser)
    finally:
        browser.close()


def look_for_pictures():
    browser = Browser(calm=True)
    try:
        shots(browser)
    finally:
        browser.close()


{"pictures": look_for_pictures, "refusals": refusals, "metrics": metrics, "closing": closing, "browser": look_at_it, "axe": look_by_axe}[sys.argv[1]]()
