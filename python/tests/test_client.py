import os
import socket
import struct
import threading
import unittest
import warnings
from unittest import mock

from .fake import FakeDaemon, ostler


def echo(request):
    return {"result": request["params"]}


class Request(unittest.TestCase):
    def test_one_connection_serves_many_requests(self):
        with FakeDaemon(echo) as daemon:
            for n in range(20):
                self.assertEqual(ostler.request(method="Echo", params={"n": n}), {"result": {"n": n}})
            self.assertEqual(len(daemon.connections), 1)

    def test_fields_that_are_none_are_left_out(self):
        with FakeDaemon(echo) as daemon:
            ostler.request(method="Echo", params={"a": None}, session_id=None)
            self.assertEqual(daemon.requests, [{"method": "Echo", "params": {"a": None}}])

    def test_every_request_is_for_the_task_of_the_environment_unless_it_names_one(self):
        with FakeDaemon(echo) as daemon, mock.patch.dict(os.environ, OSTLER_TASK="mine"):
            ostler.request(method="Echo", params={})
            ostler.request(method="Echo", params={}, task="other")
            os.environ["OSTLER_TASK"] = ""
            ostler.request(method="Echo", params={})
        self.assertEqual([request.get("task") for request in daemon.requests], ["mine", "other", None])

    def test_any_text_survives(self):
        text = "\ud800 \udfff \u2028 é 中 😀 \0 \"quoted\"\n"
        with FakeDaemon(echo):
            self.assertEqual(ostler.request(method="Echo", params={"text": text})["result"]["text"], text)

    def test_a_lone_surrogate_in_raw_bytes_survives(self):
        with FakeDaemon(lambda _: b'{"result": "\xed\xa0\x80"}\n'):
            self.assertEqual(ostler.request(method="Raw")["result"], "\ud800")

    def test_large_lines_pass_in_both_directions(self):
        big = "x" * (20 << 20)
        with FakeDaemon(echo):
            self.assertEqual(ostler.request(method="Echo", params={"big": big})["result"]["big"], big)

    def test_threads_do_not_wait_for_each_other(self):
        answered = threading.Event()

        def answer(request):
            if request["method"] == "Blocked":
                self.assertTrue(answered.wait(30))
            return {"result": {}}

        with FakeDaemon(answer):
            blocked = threading.Thread(target=ostler.request, kwargs={"method": "Blocked"})
            blocked.start()
            ostler.request(method="Free")  # Would not return if it had to wait for the first.
            answered.set()
            blocked.join(30)
            self.assertFalse(blocked.is_alive())

    def test_what_cannot_be_sent_is_refused_before_anything_is_sent(self):
        circle = []
        circle.append(circle)
        with FakeDaemon(echo) as daemon:
            for value, error in (({1}, TypeError), (float("nan"), ValueError), (circle, ValueError)):
                with self.assertRaises(error):
                    ostler.request(method="Echo", params={"value": value})
            self.assertEqual(ostler.request(method="Echo", params={}), {"result": {}})
            self.assertEqual(len(daemon.requests), 1)

    def test_a_forked_child_uses_a_connection_of_its_own(self):
        with FakeDaemon(echo) as daemon:
            ostler.request(method="Echo", params={})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # The fake daemon's threads are not the child's.
                child = os.fork()
            if child == 0:
                try:
                    os._exit(0 if ostler.request(method="Echo", params={"n": 1}) == {"result": {"n": 1}} else 1)
                finally:
                    os._exit(2)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(len(daemon.connections), 2)


class Errors(unittest.TestCase):
    def test_an_error_carries_code_and_data(self):
        with FakeDaemon(lambda _: {"error": "no such frame", "error_code": "unknown_frame", "known": ["F"]}):
            with self.assertRaises(ostler.OstlerError) as caught:
                ostler.request(method="Any")
        self.assertEqual(str(caught.exception), "no such frame")
        self.assertEqual((caught.exception.code, caught.exception.data), ("unknown_frame", {"known": ["F"]}))
        self.assertNotIsInstance(caught.exception, ostler.DialogOpen)

    def test_an_open_dialog_has_a_class_of_its_own(self):
        dialog = {"id": "d-1", "type": "confirm", "message": "Sure?"}
        with FakeDaemon(lambda _: {"error": "a confirm is open", "error_code": "dialog_open", "dialog": dialog}):
            with self.assertRaises(ostler.DialogOpen) as caught:
                ostler.request(method="Any")
        self.assertEqual(caught.exception.dialog, dialog)

    def test_scripts_that_catch_runtime_error_go_on_working(self):
        self.assertTrue(issubclass(ostler.DialogOpen, RuntimeError))


class DaemonGone(unittest.TestCase):
    def test_a_restarted_daemon_is_found_again(self):
        with FakeDaemon(echo) as daemon:
            ostler.request(method="Echo", params={})
            daemon.stop()
            daemon.start()
            self.assertEqual(ostler.request(method="Echo", params={"n": 2}), {"result": {"n": 2}})
            self.assertEqual(len(daemon.requests), 2)

    def test_a_request_that_was_sent_is_never_sent_again(self):
        with FakeDaemon(lambda _: None) as daemon:
            with self.assertRaises(ostler.OstlerError) as caught:
                ostler.request(method="Input.insertText")
            self.assertEqual(len(daemon.requests), 1)
        self.assertEqual(caught.exception.code, "unknown_outcome")
        self.assertIn("Input.insertText", str(caught.exception))

    def test_half_an_answer_is_no_answer(self):
        def answer(request):
            daemon.connections[-1].sendall(b'{"result": ')

        with FakeDaemon(answer) as daemon:
            with self.assertRaises(ostler.OstlerError) as caught:
                ostler.request(method="Any")
        self.assertEqual(caught.exception.code, "unknown_outcome")

    def test_a_daemon_that_is_stuck_ends_the_request_and_its_late_answer_is_nobodys(self):
        another_was_answered = threading.Event()

        def answer(request):
            if request["method"] == "Stuck":
                self.assertTrue(another_was_answered.wait(30))
            return {"result": request["method"]}

        with FakeDaemon(answer), mock.patch.object(ostler, "_GRACE", 0):
            with self.assertRaises(ostler.OstlerError) as caught:
                ostler.request(method="Stuck", timeout_ms=20)
            self.assertEqual(caught.exception.code, "unknown_outcome")
            self.assertIn("Stuck within 0.02 s", str(caught.exception))
            with mock.patch.object(ostler, "_GRACE", 30):
                self.assertEqual(ostler.request(method="Next"), {"result": "Next"})
            another_was_answered.set()

    def test_a_daemon_that_reads_nothing_ends_the_request(self):
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", 0, 10_000))
        ostler._idle.append(ours.detach())
        with theirs, self.assertRaises(ostler.OstlerError) as caught:
            ostler.request(method="Big", params={"big": "x" * (8 << 20)})
        self.assertEqual(caught.exception.code, "unknown_outcome")

    def test_no_daemon_is_one_clear_sentence(self):
        with FakeDaemon(echo) as daemon:
            path = daemon.path
            daemon.stop()
            with self.assertRaises(ostler.OstlerError) as caught:
                ostler.request(method="Any")
            daemon.start()
        self.assertIn(path, str(caught.exception))
        self.assertIn("`ostler run FILE`", str(caught.exception))

    def test_outside_of_ostler_the_error_says_how_to_run_a_script(self):
        with self.assertRaisesRegex(ostler.OstlerError, "ostler run FILE"):
            ostler.request(method="Any")

    def test_the_reason_of_a_refused_line_is_read_though_its_end_was_never_taken(self):
        refusal = b'{"error": "the line is too long", "error_code": "bad_request"}\n'
        ours, theirs = socket.socketpair()

        def refuse():
            theirs.recv(1)
            theirs.sendall(refusal)
            theirs.close()

        ostler._idle.append(ours.detach())
        refusing = threading.Thread(target=refuse)
        refusing.start()
        with self.assertRaisesRegex(ostler.OstlerError, "too long"):
            ostler.request(method="Big", params={"big": "x" * (8 << 20)})
        refusing.join()
        ostler._forget()

    def test_an_interrupted_request_leaves_no_answer_for_the_next(self):
        def interrupt(fd, name, patience):
            raise KeyboardInterrupt

        with FakeDaemon(lambda request: {"result": request["method"]}):
            with mock.patch.object(ostler, "_receive", interrupt), self.assertRaises(KeyboardInterrupt):
                ostler.request(method="First")
            self.assertEqual(ostler.request(method="Second"), {"result": "Second"})


class Json(unittest.TestCase):
    def test_the_light_form_is_used_and_agrees_with_the_package(self):
        encode, decode = ostler._packaged_json()
        light_encode, light_decode = ostler._light_json()
        for value in ({}, [], "\ud800é\n", -0.0, 1e300, 2**70, {"a": [None, True, {"b": 1.5}]}, {1: 2}):
            self.assertEqual(light_encode(value), encode(value))
            self.assertEqual(light_decode(encode(value)), decode(encode(value)))

    def test_an_answer_that_is_no_json_is_named(self):
        with self.assertRaisesRegex(ValueError, "is no JSON: oops"):
            ostler._light_json()[1]("oops")
