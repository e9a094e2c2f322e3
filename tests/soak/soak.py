"""Agents that do anything at random, several at once, on a real browser, and what must hold all the same.

    scripts/soak                       two agents for a minute, from a new seed
    scripts/soak --seed 7 --seconds 600 --agents 3 --bridge always

Chromium's own timing decides the rest, so a seed does not repeat a run exactly. What is a fault:

- a request that is answered later than its time, or never, or with a code that the contract does not have;
- words of the program's inside, such as a TypeError, in an answer;
- a browser that ended, or a panic in the daemon's log;
- a daemon that grew by more than a little, or does not end when it is told to.

The newest requests before each fault are printed with it, and the daemon's log, with all that went over the wire, stays
in the folder that is named at the end.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from pages import Site

# How a request of these may end; `bad_request` as well, for a ref that takes no text.
CODES = {
    "ok", "bad_request", "cdp", "dialog_open", "no_dialog", "not_actionable", "session_gone", "stale_ref", "target_crashed",
    "timeout", "unknown_dialog", "unknown_outcome", "unknown_task",
}
INSIDE = re.compile(r"TypeError|is not what ostler knows|panicked")
# Seconds that a request may take beyond its own time, on a machine that does nothing else.
SLACK = 3
# Megabytes by which a daemon may grow, logs and all.
GROWTH = 40
SCRIPTS = [
    "1 + 1", "location.reload()", "history.back()", "alert('now')", "document.title",
    "document.querySelector('iframe')?.remove()", "setTimeout(() => close(), 10)",
    "open('/page/1', '', 'width=300,height=300')", "onbeforeunload = event => event.preventDefault()",
    "setTimeout(() => { const end = Date.now() + 1500; while (Date.now() < end); }, 0)",
    "setTimeout(() => { for (;;); }, 50)", "setTimeout(() => { for (let i = 0; i < 9; i++) confirm(i); }, 0)",
    "new Promise(() => {})", "document.open(); document.write('<p>written'); document.close()",
    "history.forward()", "debugger; 1", "fetch('/never')", "throw new Error('thrown')", "Array(1e6).fill('text').join()",
]
COMMANDS = [
    ("Page.reload", {}), ("Page.navigate", {"url": "about:blank"}), ("Page.getFrameTree", {}), ("Page.stopLoading", {}),
    ("Target.getTargets", {}), ("Page.captureScreenshot", {}), ("Page.getNavigationHistory", {}), ("Page.close", {}),
    ("Page.crash", {}), ("Page.navigate", {"url": "chrome://crash"}), ("Runtime.terminateExecution", {}),
    ("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Enter", "text": "\r"}), ("DOM.getDocument", {"depth": 2}),
    ("Accessibility.getFullAXTree", {}), ("Page.setLifecycleEventsEnabled", {"enabled": True}), ("No.such", {}),
    ("Page.handleJavaScriptDialog", {"accept": True}), ("Target.createTarget", {"url": "about:blank"}),
    ("Emulation.setDeviceMetricsOverride", {"width": 400, "height": 300, "deviceScaleFactor": 1, "mobile": False}),
]
METAS = ["ping", "session", "current_tab", "connection_status", "pending_dialog", "drain_events", "events", "state", "tasks"]


class Soak:
    """What all agents share: the daemon, the site, and what was found."""

    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="ostler-soak-")
        self.socket = os.path.join(self.folder, "bu-default.sock")
        self.site = Site(options.seed)
        self.outcomes = collections.Counter()
        self.slowest = []
        self.faults = []
        self.history = collections.defaultdict(lambda: collections.deque(maxlen=12))
        self.end = None
        # Nothing more can be learnt from a browser that has ended.
        self.is_over = False

    def run(self):
        browser, url = self.start_browser()
        env = dict(os.environ, BH_RUNTIME_DIR=self.folder, OSTLER_HOME=os.path.join(self.folder, "home"),
                   OSTLER_LOG="ostler::wire=trace,info", BU_CDP_WS=url)
        log = os.path.join(self.folder, "daemon.log")
        with open(log, "w") as out:
            daemon = subprocess.Popen([self.options.ostler, "daemon"], env=env, stderr=out)
        while not os.path.exists(self.socket):
            if daemon.poll() is not None:
                sys.exit(f"the daemon did not start: see {log}")
            time.sleep(0.01)
        before = resident(daemon.pid)
        self.end = time.monotonic() + self.options.seconds
        agents = [Agent(self, number) for number in range(self.options.agents)]
        for agent in agents:
            agent.start()
        for agent in agents:
            agent.join()
        if browser.poll() is not None:
            self.fault("default", f"the browser ended with {browser.returncode}")
        grown = resident(daemon.pid) - before
        if grown > GROWTH:
            self.fault("default", f"the daemon grew by {grown:.0f} MB")
        daemon.terminate()
        try:
            daemon.wait(15)
        except subprocess.TimeoutExpired:
            self.fault("default", "the daemon did not end")
            daemon.kill()
        browser.terminate()
        browser.wait()
        with open(log) as lines:
            for line in lines:
                if "panicked at" in line:
                    self.fault("default", line.strip())
        self.report(grown)

    def start_browser(self):
        """Starts the one browser that all agents share: what shares it can get in each other's way."""
        profile = os.path.join(self.folder, "profile")
        flags = ["--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                 "--disable-popup-blocking", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        with open(os.path.join(self.folder, "browser.log"), "w") as log:
            browser = subprocess.Popen([self.options.chromium, *flags, "about:blank"], stdout=log, stderr=log)
        port_file = os.path.join(profile, "DevToolsActivePort")
        while True:
            if browser.poll() is not None:
                sys.exit(f"{self.options.chromium} did not start: see {self.folder}/browser.log")
            with contextlib.suppress(FileNotFoundError, ValueError), open(port_file) as lines:
                port, path = lines.read().split()
                return browser, f"ws://127.0.0.1:{port}{path}"
            time.sleep(0.05)

    def request(self, task, request, seconds):
        """Sends one request and returns its answer, on record with whatever is wrong with it."""
        request = dict(request, task=task)
        if "method" in request:
            request["timeout_ms"] = seconds * 1000
        began = time.monotonic()
        answer = self.exchange(request, seconds + SLACK + 30)
        took = time.monotonic() - began
        code = "none" if answer is None else answer.get("error_code", "ok" if "error" not in answer else "none")
        name = request.get("name") or request.get("method") or request["meta"]
        self.outcomes[name, code] += 1
        self.slowest = sorted([*self.slowest, (took, name, code)], reverse=True)[:5]
        said = json.dumps(answer)
        self.history[task].append(f"{took:6.2f} s  {name} {json.dumps(request.get('args') or request.get('params'))}"
                                  f" → {code} {said[:300]}")
        if code == "browser_gone":
            self.is_over = True
        if code not in CODES:
            self.fault(task, f"{name} ended as {code}: {said[:500]}")
        elif took > seconds + SLACK:
            self.fault(task, f"{name} took {took:.1f} s of {seconds} s")
        elif code != "ok" and INSIDE.search(said):
            self.fault(task, f"{name} speaks of its inside: {said[:500]}")
        return answer or {}

    def exchange(self, request, patience):
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(patience)
            try:
                line.connect(self.socket)
                line.sendall(json.dumps(request).encode() + b"\n")
                with line.makefile("rb") as answers:
                    return json.loads(answers.readline())
            except (OSError, ValueError):
                return None

    def fault(self, task, what):
        self.faults.append(what)
        print("\n".join([f"FAULT in task {task}: {what}", *self.history[task], ""]), flush=True)

    def report(self, grown):
        for (name, code), count in sorted(self.outcomes.items()):
            print(f"{count:6}  {name} {code}")
        for took, name, code in self.slowest:
            print(f"{took:6.1f} s  {name} {code}")
        total = sum(self.outcomes.values())
        print(f"{total} requests from seed {self.options.seed}, the daemon grew by {grown:.1f} MB, "
              f"{len(self.faults)} faults; see {self.folder}")
        sys.exit(1 if self.faults else 0)


class Agent(threading.Thread):
    """One task's agent. It does without thinking what any agent may do."""

    def __init__(self, soak, number):
        super().__init__()
        self.soak = soak
        self.task = f"agent{number}" if number else "default"
        self.random = random.Random(f"{soak.options.seed} {number}")
        self.refs = []

    def run(self):
        self.connect(self.random.choice)
        self.tool("browser_navigate", 45, url=f"{self.soak.site.url}/page/0")
        while time.monotonic() < self.soak.end and not self.soak.is_over:
            self.act()

    def act(self):
        choice = self.random.choice
        actions = {
            self.look_and_click: 8, self.answer: 6, self.navigate: 3, self.change_tab: 2, self.evaluate: 3, self.use: 5,
            self.command: 3, self.ask: 3, self.interrupt: 1, self.connect: 0.5, self.begin_again: 0.2,
        }
        [action] = self.random.choices(list(actions), list(actions.values()))
        action(choice)

    def look_and_click(self, choice):
        text = self.tool("browser_snapshot", 15).get("result", {}).get("text", "")
        self.refs = re.findall(r"\[(e\d+)\]", text) or self.refs
        if self.refs:
            self.tool("browser_click", 25, ref=choice(self.refs))

    def answer(self, choice):
        for dialog in self.soak.request(self.task, {"meta": "state"}, 5).get("pending_dialogs", []):
            self.tool("browser_dialog", 15, action=choice(["accept", "dismiss"]), dialog_id=dialog["id"])

    def navigate(self, choice):
        self.tool("browser_navigate", 45, url=f"{self.soak.site.url}{choice(['', '', '', '/slow'])}/page/{choice(range(10))}")

    def change_tab(self, choice):
        text = self.tool("browser_tabs", 5, action="list").get("result", {}).get("text", "")
        tabs = re.findall(r"^(t\d+)", text, re.MULTILINE)
        if len(tabs) < 3:
            self.tool("browser_tabs", 45, action="new", url=f"{self.soak.site.url}/page/3")
        else:
            self.tool("browser_tabs", 15, action=choice(["switch", "close"]), target_id=choice(tabs))

    def evaluate(self, choice):
        self.soak.request(self.task, {"method": "Runtime.evaluate", "params": {"expression": choice(SCRIPTS)}}, 15)

    def command(self, choice):
        method, params = choice(COMMANDS)
        self.soak.request(self.task, {"method": method, "params": params}, 15)

    def ask(self, choice):
        self.soak.request(self.task, {"meta": choice(METAS)}, 30)

    def interrupt(self, _choice):
        self.soak.request(self.task, {"meta": "interrupt"}, 12)

    def connect(self, choice):
        policy = choice(["must_respond", "must_respond", "auto_dismiss", "auto_accept"])
        self.soak.request(self.task, {"meta": "connect", "dialog_policy": policy,
                                      "dialog_bridge": self.soak.options.bridge}, 60)

    def begin_again(self, choice):
        self.soak.request(self.task, {"meta": "disconnect"}, 10)
        self.connect(choice)

    def use(self, choice):
        ref = choice(self.refs) if self.refs else "e1"
        name, args = choice([
            ("browser_screenshot", {}), ("browser_scroll", {"dy": 200}), ("browser_type", {"ref": ref, "text": "abc"}),
            ("browser_wait", {"text": "Page", "timeout_s": 2}), ("browser_console", {}), ("browser_press", {"key": "Tab"}),
            ("browser_press", {"key": "Enter"}), ("browser_click", {"ref": ref, "files": [__file__]}),
            ("browser_click", {"x": 200, "y": 150}), ("browser_screenshot", {"annotate": True, "max_dim": 600}),
            ("browser_wait", {"idle": True, "timeout_s": 2}), ("browser_type", {"ref": ref, "text": "2026-01-02"}),
        ])
        self.tool(name, 25, **args)

    def tool(self, name, seconds, **args):
        return self.soak.request(self.task, {"meta": "tool", "name": name, "args": args}, seconds)


def resident(pid):
    """Returns how many megabytes of a process are in memory."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ostler", default="target/debug/ostler")
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--agents", type=int, default=2)
    parser.add_argument("--bridge", choices=["auto", "always", "never"], default="auto")
    Soak(parser.parse_args()).run()


if __name__ == "__main__":
    main()
