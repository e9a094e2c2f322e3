"""A daemon to test against, and the client and helpers loaded the way boot.py loads them."""

import importlib.util
import json
import os
import socket
import sys
import tempfile
import threading

PYTHON = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load(name, file):
    spec = importlib.util.spec_from_file_location(name, os.path.join(PYTHON, file))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
ostler = load("ostler", "client.py")
helpers = load("ostler.helpers", "helpers.py")


class FakeDaemon:
    """Answers each line with `answer(request)`: a dict, raw bytes, or None to hang up. Keeps what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "bu-test.sock")

    def __enter__(self):
        self.start()
        os.environ["OSTLER_SOCKET"] = self.path
        ostler._forget()
        return self

    def __exit__(self, *_):
        self.stop()
        ostler._forget()
        del os.environ["OSTLER_SOCKET"]
        self.folder.cleanup()

    def start(self):
        self.connections = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def stop(self):
        """Closes every connection before it returns, as the end of a process does."""
        # A shutdown, not a close, is what wakes a thread that waits in accept or recv.
        for each in [self.listener, *self.connections]:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # The other side was quicker.
        self.listener.close()
        os.unlink(self.path)

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile("rb") as lines:
            for line in lines:
                request = json.loads(line)
                request.pop("words", None)  # Whose steps an error names: the same for all.
                self.requests.append(request)
                reply = self.answer(request)
                if reply is None:
                    connection.shutdown(socket.SHUT_RDWR)
                    return
                try:
                    connection.sendall(reply if isinstance(reply, bytes) else json.dumps(reply).encode() + b"\n")
                except OSError:
                    return

    def methods(self):
        return [request.get("method") or request["meta"] for request in self.requests]


def browser(**answers):
    """An answer function: each method or meta (dots as underscores) has a reply or a function of the request."""

    def answer(request):
        reply = answers.get((request.get("method") or request["meta"]).replace(".", "_"), {"result": {}})
        return reply(request) if callable(reply) else reply

    return answer
