"""Talks to the ostler daemon: one JSON line out, one JSON line back.

The helpers import this file under the name `ostler`. A request borrows a connection and gives it back once its
answer is whole; a second thread gets a connection of its own. So no call waits behind another (one thread can
answer the dialog that holds up the other's call), and no late answer is ever taken for the next call's: a
connection that still owes one is closed.
"""

import os
import select

_DEFAULT_TIMEOUT = 30  # The daemon's own, in seconds, for a request that says nothing.
_GRACE = 10  # How much later than that a daemon may answer or go on, before it is taken to be stuck.

_CHUNK = 1 << 18  # A little more than a Unix socket holds, so that a large answer arrives in few reads.

_daemon_is_new = bool(os.environ.pop("OSTLER_NEW_DAEMON", None))

_idle = []  # Connected descriptors that owe no answer. `pop` and `append` are atomic: no lock is needed.


class OstlerError(RuntimeError):
    """The daemon refused or could not do a request: `code` is its error_code, `data` the rest of its reply."""

    def __init__(self, sentence, code=None, data=None):
        super().__init__(sentence)
        self.code = code
        self.data = data or {}


class DialogOpen(OstlerError):
    """A dialog keeps the call from finishing: `dialog` describes it, and dialog("accept") answers it."""

    @property
    def dialog(self):
        return self.data.get("dialog")


def request(**fields):
    """Sends one request (a field that is None is left out) and returns the reply, or raises the error in it.

    It is for the task that `ostler --task` or OSTLER_TASK named, unless `task` says otherwise. A daemon that gives
    no answer long after `timeout_ms` (30 s without it) is an error as well.
    """
    fields = {name: value for name, value in fields.items() if value is not None}
    task = os.environ.get("OSTLER_TASK")
    if task:
        fields.setdefault("task", task)
    fields.setdefault("words", "helpers")  # Errors name steps that a script can take.
    line = to_json(fields).encode() + b"\n"
    patience = fields.get("timeout_ms", _DEFAULT_TIMEOUT * 1000) / 1000 + _GRACE
    answer = _exchange(line, fields.get("method") or fields.get("meta"), patience)
    reply = _from_json(answer.decode("utf-8", "surrogatepass"))
    if "error" not in reply:
        if _daemon_is_new and "method" in fields:
            _tell_what_was_found(fields.get("task", "default"))
        return reply
    sentence, code = reply.pop("error"), reply.pop("error_code", None)
    raise (DialogOpen if code == "dialog_open" else OstlerError)(sentence, code, reply)


def _tell_what_was_found(task):
    """Says once which browser a new daemon found: one that an earlier daemon launched or rented is gone with it."""
    global _daemon_is_new
    _daemon_is_new = False
    try:
        tasks = request(meta="tasks")["tasks"]
    except OstlerError:
        return  # Whoever called has a good answer, and is to get it.
    for ours in tasks:
        if ours["task"] == task and ours["active"] and ours["browser_kind"] == "local":
            import sys

            print(
                "ostler: no daemon ran, and the one that was started for this found a browser by itself: "
                f"{ours['browser']}; `ostler connect` takes another",
                file=sys.stderr,
            )


def _exchange(line, name, patience):
    """Sends `line` and returns the line that answers it; `name` is what an error calls the request."""
    try:
        fd, sent = _start(line)
    except BlockingIOError:
        raise _stuck(name, _GRACE) from None
    try:
        _send_rest(fd, line, sent, name)
        answer = _receive(fd, name, patience)
    except BaseException:
        os.close(fd)
        raise
    _idle.append(fd)
    return answer


def _start(line):
    """Returns a connection that has taken the first bytes of `line`, and their number.

    A daemon that was restarted has closed its kept connections, and a closed Unix socket refuses the very first
    write. So here, and nowhere later, nothing has been sent yet and a new connection may be tried.
    """
    while True:
        try:
            fd, fresh = _idle.pop(), False
        except IndexError:
            fd, fresh = _connect(), True
        try:
            return fd, os.write(fd, line)
        except BaseException as error:
            os.close(fd)
            if fresh or not isinstance(error, ConnectionError):
                raise


def _send_rest(fd, line, sent, name):
    try:
        while sent < len(line):
            sent += os.write(fd, memoryview(line)[sent:])
    except BlockingIOError:
        raise _stuck(name, _GRACE) from None
    except ConnectionError:
        pass  # A daemon that hangs up on a line before its end has said why: that is the answer to read.


def _receive(fd, name, patience):
    """Reads up to the newline: the daemon owes this connection one line, so nothing follows it.

    `patience` is for each read, so a large answer may take longer while it keeps coming.
    """
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    chunks = [b""]
    while not chunks[-1].endswith(b"\n"):
        if not poll.poll(patience * 1000):
            raise _stuck(name, patience)
        try:
            chunk = os.read(fd, _CHUNK)
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            raise OstlerError(
                f"the ostler daemon ended before it answered {name}, so whether that took effect is not known: "
                "look at the page before you repeat it",
                "unknown_outcome",
            )
        chunks.append(chunk)
    return b"".join(chunks)


def _stuck(name, seconds):
    return OstlerError(
        f"the ostler daemon did not go on with {name} within {seconds:g} s, so whether that took effect is not known: "
        "look at it with `ostler status`, or end it with `ostler stop`",
        "unknown_outcome",
    )


def _connect():
    """Connects to the daemon and returns the descriptor.

    Rare: the runner hands the script a connected one, which saves the import of `socket` at every start.
    """
    path = os.environ.get("OSTLER_SOCKET")
    if not path:
        raise OstlerError("no daemon is known to this process: run the script with `ostler run FILE`", "daemon_gone")
    import socket
    import struct

    with socket.socket(socket.AF_UNIX) as connection:
        # For connecting too, on Linux: a daemon that has stopped takes no caller and refuses none.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", _GRACE, 0))
        try:
            connection.connect(path)
            owner = _peer_uid(connection)
        except OSError as error:
            raise OstlerError(
                f"no ostler daemon answers at {path} ({error.strerror}): run the script again with `ostler run FILE`, "
                "which starts one",
                "daemon_gone",
            ) from None
        if owner != os.geteuid():
            raise OstlerError(f"the daemon at {path} belongs to user id {owner}, not to you", "daemon_gone")
        return connection.detach()


def _peer_uid(connection):
    """The user id of the process at the other end: the second number of Linux' ucred and of macOS' xucred."""
    import socket
    import sys

    if hasattr(socket, "SO_PEERCRED"):
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    else:
        sol_local, local_peercred = 0, 1
        credentials = connection.getsockopt(sol_local, local_peercred, 76)
    return int.from_bytes(credentials[4:8], sys.byteorder)


def _light_json():
    """Returns json's C encoder and decoder, without the package around them.

    The package imports `re` and with it a dozen modules: that alone is half the start of a short script.
    """
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    class Decoder:
        strict, memo = True, {}
        object_hook = object_pairs_hook = None
        parse_float, parse_int, parse_constant = float, int, float

    def refuse(value):
        raise TypeError(f"{type(value).__name__} {value!r:.80} cannot be sent as JSON")

    def encode(value):
        # The first argument is what it is busy with, to find circles: it may not be shared between calls.
        return "".join(make_encoder({}, refuse, encode_basestring_ascii, None, ":", ",", False, False, False)(value, 0))

    scan = make_scanner(Decoder)

    def decode(text):
        try:
            return scan(text, 0)[0]
        except StopIteration:
            raise ValueError(f"this answer of the daemon is no JSON: {text:.80}") from None

    return encode, decode


def _packaged_json():
    """The same two functions from the package, for a Python whose C part is missing or has another shape."""
    import json

    return json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode, json.loads


def _json():
    try:
        encode, decode = _light_json()
        probe = {"a": [1, 2.5, "\ud800", None, True]}
        return (encode, decode) if decode(encode(probe)) == probe else _packaged_json()
    except (ImportError, TypeError, AttributeError):
        return _packaged_json()


def _forget():
    """Drops the kept connections: a forked child must not read the answers of its parent."""
    while _idle:
        os.close(_idle.pop())


def _adopt():
    """Takes over the connection that the runner made, and keeps it and its number from the script's children."""
    fd = os.environ.pop("OSTLER_FD", None)
    if fd is not None:
        os.set_inheritable(int(fd), False)
        _idle.append(int(fd))


to_json, _from_json = _json()
_adopt()
os.register_at_fork(after_in_child=_forget)
