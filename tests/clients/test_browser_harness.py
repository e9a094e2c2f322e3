"""The published client of browser-harness drives a browser through our socket, unchanged.

Its `helpers` module talks to a socket and to nothing else: whatever works here works for scripts written for it.
Needs `OSTLER`, the program, and the package; `scripts/test` brings both.
"""

import os
import subprocess
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

OSTLER = os.environ["OSTLER"]

PAGES = {
    "/": """<!doctype html><title>Front</title><input id="name"><button id="ask" style="position:fixed;left:0;top:100px;
         width:200px;height:100px" onclick="document.title = confirm('Really?') ? 'yes' : 'no'">Ask</button>
         <iframe src="/frame" style="position:fixed;left:0;top:300px"></iframe>""",
    "/frame": "<!doctype html><title>Inside</title><p id='where'>in the frame</p>",
    "/other": "<!doctype html><title>Other</title>",
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        page = PAGES.get(self.path)
        self.send_response(200 if page else 404)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write((page or "").encode())

    def log_message(self, *_):
        pass


class PublishedClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.url = f"http://127.0.0.1:{cls.server.server_port}"
        # Short, since a socket's path has about a hundred bytes; and set before the client is imported, which reads it.
        cls.folder = tempfile.TemporaryDirectory(prefix="ostler-", dir="/tmp")
        # A developer's own browser and task are none of ours.
        for theirs in ("BU_CDP_WS", "BU_CDP_URL", "BU_BROWSER_ID", "BROWSER_USE_API_KEY", "OSTLER_TASK"):
            os.environ.pop(theirs, None)
        os.environ.update(
            BH_RUNTIME_DIR=cls.folder.name,
            BH_RUNTIME_DIR_SHARED="1",
            BH_TMP_DIR=cls.folder.name,
            BH_AGENT_WORKSPACE=cls.folder.name,
            OSTLER_HOME=str(Path(cls.folder.name) / "home"),
            BU_NAME="published",
        )
        cls.ostler("connect", "--launch")
        from browser_harness import helpers

        cls.client = helpers

    @classmethod
    def tearDownClass(cls):
        cls.ostler("stop")
        cls.server.shutdown()
        cls.server.server_close()
        cls.folder.cleanup()

    @classmethod
    def ostler(cls, *arguments):
        subprocess.run([OSTLER, *arguments], check=True, stdout=subprocess.DEVNULL, timeout=60)

    def meta(self, name, **fields):
        return self.client._send({"meta": name, **fields})

    def open(self, path):
        self.client.goto_url(self.url + path)
        self.assertTrue(self.client.wait_for_load())

    def test_the_daemon_answers_for_itself(self):
        self.assertTrue(self.meta("ping")["pong"])
        self.assertEqual(self.meta("session")["session_id"], self.meta("session")["session_id"])
        status = self.meta("connection_status")
        self.assertEqual(status["target_id"], status["page"]["targetId"])
        self.assertIsNone(self.meta("pending_dialog")["dialog"])

    def test_a_page_is_read_and_filled_in(self):
        self.open("/")
        self.assertEqual(self.client.js("document.title"), "Front")
        self.assertEqual(self.client.page_info()["title"], "Front")
        self.client.fill_input("#name", "Ada")
        self.assertEqual(self.client.js("document.querySelector('#name').value"), "Ada")
        self.assertEqual(self.client.cdp("Runtime.evaluate", expression="6*7")["result"]["value"], 42)

    def test_events_are_drained_once(self):
        self.client.drain_events()
        self.open("/")
        methods = [event["method"] for event in self.client.drain_events()]
        self.assertIn("Page.frameNavigated", methods)
        self.assertNotIn("Page.frameNavigated", [event["method"] for event in self.client.drain_events()])

    def test_a_click_that_opens_a_dialog_shows_it_and_the_answer_reaches_the_page(self):
        self.open("/")
        try:
            self.client.click_at_xy(100, 150)
        except RuntimeError as error:
            # The call that the dialog blocks is ended by it, which this client raises as it raises all errors.
            self.assertIn("dialog", str(error))
        self.assertEqual(self.meta("pending_dialog")["dialog"]["message"], "Really?")
        self.assertEqual(self.client.page_info()["dialog"]["message"], "Really?")
        self.client.cdp("Page.handleJavaScriptDialog", accept=True)
        self.assertIsNone(self.meta("pending_dialog")["dialog"])
        self.assertEqual(self.client.js("document.title"), "yes")

    def test_tabs_are_opened_listed_and_switched(self):
        self.open("/")
        first = self.client.current_tab()["targetId"]
        second = self.client.new_tab(self.url + "/other")
        self.assertTrue(self.client.wait_for_load())
        self.assertEqual(self.client.js("location.pathname"), "/other")
        listed = {tab["targetId"] for tab in self.client.list_tabs()}
        self.assertLessEqual({first, second}, listed)
        self.client.switch_tab(first)
        self.assertEqual(self.client.js("location.pathname"), "/")
        self.client.cdp("Target.closeTarget", targetId=second)

    def test_a_screenshot_is_a_picture(self):
        self.open("/")
        picture = self.client.capture_screenshot(str(Path(self.folder.name) / "page.png"))
        self.assertEqual(Path(picture).read_bytes()[:4], b"\x89PNG")


if __name__ == "__main__":
    unittest.main()
