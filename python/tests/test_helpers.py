import ast
import gzip
import http.server
import os
import struct
import tempfile
import threading
import unittest
from binascii import b2a_base64

from .fake import PYTHON, FakeDaemon, browser, helpers, ostler

DIALOG = {"error": "a confirm is open", "error_code": "dialog_open", "dialog": {"id": "d-1", "message": "Sure?"}}
TIMEOUT = {"error": "no answer", "error_code": "timeout", "timeout_ms": 1}


def value(of):
    return {"result": {"result": {"value": of}}}


def thrown(description, **details):
    details.update(exception={"description": description}, lineNumber=0, columnNumber=4, text="Uncaught")
    return {"result": {"result": {}, "exceptionDetails": details}}


class Shape(unittest.TestCase):
    """What the contract says of the file itself."""

    def setUp(self):
        with open(os.path.join(PYTHON, "helpers.py"), encoding="utf-8") as file:
            self.nodes = list(ast.walk(ast.parse(file.read())))

    def test_no_classes_and_no_function_longer_than_fifteen_lines(self):
        self.assertFalse([node for node in self.nodes if isinstance(node, ast.ClassDef)])
        functions = [node for node in self.nodes if isinstance(node, ast.FunctionDef)]
        self.assertFalse([f.name for f in functions if f.end_lineno - f.lineno + 1 > 15])

    def test_every_verb_says_in_one_or_two_lines_what_it_does(self):
        verbs = [n for n in self.nodes if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
        self.assertFalse([v.name for v in verbs if len((ast.get_docstring(v) or "\n\n").splitlines()) > 2])

    def test_the_promised_verbs_are_there(self):
        promised = """cdp drain_events js goto_url page_info click_at_xy type_text fill_input press_key scroll
            capture_screenshot list_tabs current_tab switch_tab activate_tab new_tab close_tab ensure_real_tab
            iframe_target wait wait_for_load wait_for_element wait_for_network_idle dispatch_key upload_file http_get
            dialog frames events snapshot start_remote_daemon stop_remote_daemon""".split()
        self.assertFalse([name for name in promised if not callable(getattr(helpers, name, None))])


class Wire(unittest.TestCase):
    def test_where_and_how_are_request_fields_and_all_else_is_for_the_browser(self):
        with FakeDaemon(browser()) as daemon:
            where = {"session_id": "S", "frame_id": "F", "target_id": "T", "on_dialog": "wait"}
            helpers.cdp("Page.navigate", timeout=1.5, url="u", **where)
        expected = {"method": "Page.navigate", "params": {"url": "u"}, "timeout_ms": 1500, **where}
        self.assertEqual(daemon.requests, [expected])

    def test_dialog_lists_and_answers(self):
        is_open = {"state": {"pending_dialogs": [{"id": "d-1"}]}}
        with FakeDaemon(browser(state=is_open, dialog={"ok": True, "dialog": {"id": "d-1"}})) as daemon:
            self.assertEqual(helpers.dialog(), [{"id": "d-1"}])
            self.assertEqual(helpers.dialog("accept", "text", id="d-1"), {"id": "d-1"})
        self.assertEqual(
            daemon.requests[1], {"meta": "dialog", "action": "accept", "prompt_text": "text", "dialog_id": "d-1"}
        )

    def test_a_snapshot_is_the_text_of_the_tool(self):
        with FakeDaemon(browser(tool={"result": {"text": "s1", "data": {}}})) as daemon:
            self.assertEqual(helpers.snapshot(ref="e1"), "s1")
        self.assertEqual(daemon.requests, [{"meta": "tool", "name": "browser_snapshot", "args": {"ref": "e1"}}])

    def test_frames_start_with_the_top_one(self):
        tree = {"top": {"frame_id": "A"}, "children": [{"frame_id": "B"}], "truncated": False}
        with FakeDaemon(browser(state={"state": {"frame_tree": tree}})):
            self.assertEqual([f["frame_id"] for f in helpers.frames()], ["A", "B"])
        with FakeDaemon(browser(state={"state": {}})):
            self.assertEqual(helpers.frames(), [])


class Js(unittest.TestCase):
    def test_values_come_back_as_python_has_them(self):
        for result, expected in (
            ({"value": {"a": 1}}, {"a": 1}),
            ({"type": "undefined"}, None),
            ({"unserializableValue": "12n"}, 12),
            ({"unserializableValue": "-Infinity"}, float("-inf")),
        ):
            with FakeDaemon(browser(Runtime_evaluate={"result": {"result": result}})):
                self.assertEqual(helpers.js("x"), expected)

    def test_a_snippet_with_a_return_is_run_as_a_function(self):
        def evaluate(request):
            wrapped = request["params"]["expression"].startswith("(async function")
            return value(2) if wrapped else thrown("SyntaxError: Illegal return statement")

        with FakeDaemon(browser(Runtime_evaluate=evaluate)) as daemon:
            self.assertEqual(helpers.js("return 2", frame_id="F"), 2)
        self.assertEqual([request["frame_id"] for request in daemon.requests], ["F", "F"])

    def test_what_ran_is_never_run_twice(self):
        failed = thrown("SyntaxError: Illegal return statement", stackTrace={"callFrames": []})
        with FakeDaemon(browser(Runtime_evaluate=failed)) as daemon:
            with self.assertRaisesRegex(RuntimeError, "Illegal return"):
                helpers.js("pay(); eval('return 1')")
        self.assertEqual(len(daemon.requests), 1)

    def test_what_the_page_throws_is_raised(self):
        with FakeDaemon(browser(Runtime_evaluate=thrown("ReferenceError: foo is not defined"))):
            with self.assertRaisesRegex(RuntimeError, "1:5 of 'foo': ReferenceError"):
                helpers.js("foo")


class Page(unittest.TestCase):
    def test_page_info_is_the_dialog_while_one_is_open(self):
        with FakeDaemon(browser(pending_dialog={"dialog": {"type": "alert"}})) as daemon:
            self.assertEqual(helpers.page_info(), {"dialog": {"type": "alert"}})
        self.assertEqual(daemon.methods(), ["pending_dialog"])

    def test_page_info_is_the_dialog_that_opens_just_then(self):
        with FakeDaemon(browser(pending_dialog={"dialog": None}, Runtime_evaluate=DIALOG)):
            self.assertEqual(helpers.page_info(), {"dialog": DIALOG["dialog"]})

    def test_a_screenshot_never_exceeds_max_dim(self):
        def capture(request):
            clip = request["params"]["clip"]
            side = int(clip["width"] * 1.5 * clip["scale"]) + 1  # A browser that rounds up.
            return {"result": {"data": b2a_base64(b"\x89PNG\r\n\x1a\n....IHDR" + struct.pack(">II", side, 9)).decode()}}

        size = {"width": 1000, "height": 9000, "pageX": 0, "pageY": 40, "clientWidth": 1000, "clientHeight": 600}
        metrics = {"result": {"cssContentSize": size, "cssVisualViewport": size}}
        answers = {"Page_captureScreenshot": capture, "Page_getLayoutMetrics": metrics, "Runtime_evaluate": value(1.5)}
        with FakeDaemon(browser(**answers)) as daemon, tempfile.TemporaryDirectory() as folder:
            path = helpers.capture_screenshot(os.path.join(folder, "shot.png"), max_dim=300)
            with open(path, "rb") as file:
                self.assertIn(helpers._png_size(file.read())[0], (299, 300))
        self.assertEqual(daemon.requests[-1]["params"]["clip"]["y"], 40)

    def test_a_hidden_tab_is_asked_a_second_time(self):
        replies = [TIMEOUT, {"result": {"data": "iVBO"}}]
        with FakeDaemon(browser(Page_captureScreenshot=lambda _: replies.pop(0))):
            self.assertEqual(helpers._png(False, None), b"\x89PN")

    def test_files_are_given_by_their_full_path(self):
        with FakeDaemon(browser(Runtime_evaluate={"result": {"result": {"objectId": "O"}}})) as daemon:
            helpers.upload_file("#file", ["a.txt", "/b.txt"])
        files = [os.path.abspath("a.txt"), "/b.txt"]
        self.assertEqual(daemon.requests[-1]["params"], {"files": files, "objectId": "O"})

    def test_an_upload_without_its_input_is_an_error(self):
        with FakeDaemon(browser(Runtime_evaluate={"result": {"result": {"subtype": "null"}}})):
            with self.assertRaisesRegex(RuntimeError, "#file"):
                helpers.upload_file("#file", "a.txt")


class Input(unittest.TestCase):
    def strokes(self, *keys, user_agent="X11; Linux"):
        with FakeDaemon(browser(Browser_getVersion={"result": {"userAgent": user_agent}})) as daemon:
            for key in keys:
                helpers.press_key(key)
        return [request["params"] for request in daemon.requests if request["method"].startswith("Input.")]

    def test_a_capital_holds_shift(self):
        down, up = self.strokes("A")
        common = {"key": "A", "code": "KeyA", "windowsVirtualKeyCode": 65, "modifiers": 8}
        self.assertEqual(down, {"type": "keyDown", "text": "A", **common})
        self.assertEqual(up, {"type": "keyUp", **common})

    def test_every_printable_character_types_itself(self):
        for char in map(chr, range(32, 127)):
            down, _ = self.strokes(char)
            self.assertEqual((down["type"], down["text"], down["key"]), ("keyDown", char, char))

    def test_a_chord_types_nothing(self):
        down, _ = self.strokes("Control+a")
        self.assertEqual((down["type"], down["modifiers"], down["text"], down["key"]), ("rawKeyDown", 2, "", "a"))

    def test_plus_can_be_pressed_alone_and_in_a_chord(self):
        self.assertEqual(self.strokes("+")[0]["text"], "+")
        down, _ = self.strokes("Control++")
        self.assertEqual((down["key"], down["code"], down["modifiers"]), ("+", "Equal", 2))

    def test_named_keys_and_their_short_names(self):
        self.assertEqual(self.strokes("Enter")[0]["text"], "\r")
        self.assertEqual(self.strokes("Esc")[0]["code"], "Escape")
        self.assertEqual(self.strokes("Shift+Tab")[0]["modifiers"], 8)
        self.assertEqual(self.strokes("F5")[0]["windowsVirtualKeyCode"], 116)

    def test_a_character_on_no_key_is_inserted(self):
        self.assertEqual(self.strokes("😀"), [{"text": "😀"}])

    def test_unknown_names_list_the_known_ones(self):
        for key, known in (("Entre", "Enter"), ("Hyper+a", "Control"), ("", "Enter")):
            with self.assertRaisesRegex(ValueError, known):
                self.strokes(key)

    def test_the_shortcut_key_is_that_of_the_browsers_system(self):
        self.assertEqual(self.strokes("ControlOrMeta+a")[0]["modifiers"], 2)
        down, _ = self.strokes("ControlOrMeta+a", user_agent="Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)")
        self.assertEqual((down["modifiers"], down["commands"]), (4, ["selectAll"]))

    def test_fill_input_clears_types_and_tells_the_framework(self):
        version = {"result": {"userAgent": "Linux"}}
        with FakeDaemon(browser(Runtime_evaluate=value(True), Browser_getVersion=version)) as daemon:
            helpers.fill_input("#name", "hi")
        downs = [r["params"]["key"] for r in daemon.requests if r.get("params", {}).get("type", "").endswith("Down")]
        self.assertEqual(downs, ["a", "Backspace", "h", "i"])
        self.assertIn("'change'", daemon.requests[-1]["params"]["expression"])

    def test_fill_input_without_its_field_types_nothing(self):
        with FakeDaemon(browser(Runtime_evaluate=value(None))) as daemon:
            with self.assertRaisesRegex(RuntimeError, "#name"):
                helpers.fill_input("#name", "hi")
        self.assertEqual(daemon.methods(), ["Runtime.evaluate"])

    def test_a_click_that_opens_a_dialog_raises_it(self):
        def mouse(request):
            return DIALOG if request["params"]["type"] == "mouseReleased" else {"result": {}}

        with FakeDaemon(browser(Input_dispatchMouseEvent=mouse)):
            with self.assertRaises(ostler.DialogOpen) as caught:
                helpers.click_at_xy(1, 2)
        self.assertEqual(caught.exception.dialog["message"], "Sure?")

    def test_a_double_click_counts_its_clicks(self):
        with FakeDaemon(browser()) as daemon:
            helpers.click_at_xy(1, 2, clicks=2)
        counts = [r["params"].get("clickCount") for r in daemon.requests]
        self.assertEqual(counts, [None, 1, 1, 2, 2])


class Tabs(unittest.TestCase):
    TARGETS = [
        {"type": "page", "targetId": "P", "title": "Page", "url": "https://example.com/"},
        {"type": "page", "targetId": "S", "title": "Settings", "url": "chrome://settings/"},
        {"type": "iframe", "targetId": "F", "title": "", "url": "https://ads.example.net/frame"},
    ]

    def tabs(self, current_url="https://example.com/", current_id="P", **more):
        current = {"targetId": current_id, "url": current_url, "title": "T"}
        return browser(
            Target_getTargets={"result": {"targetInfos": self.TARGETS}},
            Target_createTarget={"result": {"targetId": "N"}},
            current_tab=current,
            set_session={"session_id": "S1"},
            **more,
        )

    def test_list_tabs_gives_both_spellings_of_the_id(self):
        with FakeDaemon(self.tabs()):
            self.assertEqual([t["targetId"] for t in helpers.list_tabs()], ["P", "S"])
            tab = {"targetId": "P", "target_id": "P", "title": "Page", "url": "https://example.com/"}
            self.assertEqual(helpers.list_tabs(include_chrome=False), [tab])

    def test_a_new_tab_is_blank_and_in_the_background_before_it_navigates(self):
        with FakeDaemon(self.tabs()) as daemon:
            self.assertEqual(helpers.new_tab("https://example.org"), "N")
        self.assertEqual(daemon.methods(), ["current_tab", "Target.createTarget", "set_session", "Page.navigate"])
        self.assertEqual(daemon.requests[1]["params"], {"url": "about:blank", "background": True})

    def test_a_blank_current_tab_is_used_again(self):
        with FakeDaemon(self.tabs("about:blank")) as daemon:
            self.assertEqual(helpers.new_tab("https://example.org"), "P")
        self.assertEqual(daemon.methods(), ["current_tab", "Runtime.evaluate", "Page.navigate"])

    def test_an_address_that_cannot_be_opened_is_raised_with_the_browsers_reason(self):
        failed = {"result": {"frameId": "P", "errorText": "net::ERR_NAME_NOT_RESOLVED"}}
        reason = "^https://nope.example could not be opened: net::ERR_NAME_NOT_RESOLVED; check the address"
        for verb in (helpers.new_tab, helpers.goto_url):
            with FakeDaemon(self.tabs(Page_navigate=failed)), self.assertRaisesRegex(RuntimeError, reason):
                verb("https://nope.example")

    def test_a_download_is_no_failure(self):
        answer = {"frameId": "P", "errorText": "net::ERR_ABORTED", "isDownload": True}
        with FakeDaemon(browser(Page_navigate={"result": answer})):
            self.assertEqual(helpers.goto_url("https://example.org/file.zip"), answer)

    def test_switch_tab_takes_an_id_or_a_tab_and_stays_in_the_background(self):
        with FakeDaemon(self.tabs()) as daemon:
            self.assertEqual([helpers.switch_tab("P"), helpers.switch_tab({"target_id": "P"})], ["S1", "S1"])
        self.assertEqual(daemon.requests, [{"meta": "set_session", "target_id": "P"}] * 2)

    def test_ensure_real_tab_leaves_a_web_page_and_leaves_an_internal_one(self):
        with FakeDaemon(self.tabs()) as daemon:
            self.assertEqual(helpers.ensure_real_tab()["targetId"], "P")
            self.assertNotIn("set_session", daemon.methods())
        with FakeDaemon(self.tabs("chrome://settings/", "S")) as daemon:
            self.assertEqual(helpers.ensure_real_tab()["targetId"], "P")
            self.assertIn("set_session", daemon.methods())

    def test_iframe_target_is_found_by_a_part_of_its_url(self):
        with FakeDaemon(self.tabs()):
            self.assertEqual((helpers.iframe_target("ads"), helpers.iframe_target("none")), ("F", None))


class Waiting(unittest.TestCase):
    def test_a_wait_outlives_a_navigation(self):
        replies = [TIMEOUT, {"error": "gone", "error_code": "unknown_outcome"}, value(False), value(True)]
        with FakeDaemon(browser(Runtime_evaluate=lambda _: replies.pop(0))):
            self.assertTrue(helpers.wait_for_load(timeout=30))
        self.assertEqual(replies, [])

    def test_a_wait_for_a_page_that_could_not_be_opened_is_raised_with_the_browsers_reason(self):
        tab = {"targetId": "P", "url": "https://example.com/down", "title": ""}
        page = browser(Runtime_evaluate=value("net::ERR_CONNECTION_REFUSED"), current_tab=tab)
        with FakeDaemon(page), self.assertRaisesRegex(RuntimeError, "^https://example.com/down could not be opened: n"):
            helpers.wait_for_load()

    def test_a_wait_ends_at_its_deadline(self):
        with FakeDaemon(browser(Runtime_evaluate=value(False))):
            self.assertFalse(helpers.wait_for_element("#late", timeout=0.05))

    def test_a_wait_raises_what_time_will_not_mend(self):
        for reply, error in ((DIALOG, ostler.DialogOpen), (thrown("SyntaxError: not a selector"), RuntimeError)):
            with FakeDaemon(browser(Runtime_evaluate=reply)), self.assertRaises(error):
                helpers.wait_for_element("]", timeout=30)

    def idle(self, batches, **options):
        def events(request):
            batch = batches[request["since"]] if request["since"] < len(batches) else []
            return {"events": batch, "next": min(request["since"] + 1, len(batches)), "lost": 0}

        tab = {"targetId": "P", "url": "", "title": ""}
        tree = {"top": {"frame_id": "P"}, "children": [{"frame_id": "F", "session_id": "FRAME"}]}
        state = {"state": {"frame_tree": tree}}
        with FakeDaemon(browser(session={"session_id": "S"}, current_tab=tab, events=events, state=state)) as daemon:
            self.assertNotIn("drain_events", daemon.methods())
            return helpers.wait_for_network_idle(**options)

    @staticmethod
    def event(name, request_id, session="S", **params):
        params["requestId"] = request_id
        return {"seq": 1, "method": "Network." + name, "session_id": session, "params": params}

    def test_idle_waits_for_a_request_in_flight(self):
        started = [self.event("requestWillBeSent", "1")]
        self.assertFalse(self.idle([started], timeout=0.2, idle_ms=0))
        self.assertTrue(self.idle([started, [self.event("loadingFinished", "1")]], timeout=30, idle_ms=0))

    def test_a_frames_document_that_starts_on_its_parents_session_ends_on_its_own(self):
        batch = [self.event("requestWillBeSent", "1"), self.event("loadingFinished", "1", session="FRAME")]
        self.assertTrue(self.idle([batch], timeout=30, idle_ms=0))

    def test_idle_is_not_kept_up_by_another_tab(self):
        self.assertTrue(self.idle([[self.event("requestWillBeSent", "1", session="OTHER")]], timeout=30, idle_ms=0))

    def test_a_new_document_forgets_the_requests_of_the_old_one(self):
        batch = [
            self.event("requestWillBeSent", "old"),
            self.event("requestWillBeSent", "doc", loaderId="doc", frameId="P"),
            self.event("loadingFinished", "doc"),
        ]
        self.assertTrue(self.idle([batch], timeout=30, idle_ms=0))


class HttpGet(unittest.TestCase):
    def test_gzip_and_charset_are_undone(self):
        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = gzip.compress("Grüße {}".format(self.headers["X-Name"]).encode("latin-1"))
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; charset=latin-1")
                self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
            threading.Thread(target=server.handle_request, daemon=True).start()
            url = "http://127.0.0.1:{}/".format(server.server_port)
            self.assertEqual(helpers.http_get(url, headers={"X-Name": "you"}), "Grüße you")


if __name__ == "__main__":
    unittest.main()
