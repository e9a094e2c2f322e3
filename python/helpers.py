"""Verbs for driving the browser. This file is yours: edit it, and the next script has the change.

Everything is thin on cdp(); write the verb you miss in the same way. `ostler helpers diff` shows your changes.
"""

import os
import time

from ostler import DialogOpen, OstlerError, request, to_json


# --- the wire ---


def cdp(method, session_id=None, frame_id=None, target_id=None, timeout=None, on_dialog=None, **params):
    """Raw CDP: cdp("Page.navigate", url="https://example.com"). `timeout` in seconds; returns the result."""
    timeout_ms = None if timeout is None else max(1, int(timeout * 1000))
    where = {"session_id": session_id, "frame_id": frame_id, "target_id": target_id}
    reply = request(method=method, params=params, timeout_ms=timeout_ms, on_dialog=on_dialog, **where)
    return reply.get("result", {})


def js(expression, target_id=None, frame_id=None, **options):
    """Runs JavaScript and returns its value, promises awaited; a snippet with `return` or `await` works too.
    target_id or frame_id picks a frame; options are those of cdp(), such as timeout=5."""
    options.update(target_id=target_id, frame_id=frame_id, returnByValue=True, awaitPromise=True)
    reply = cdp("Runtime.evaluate", expression=expression, **options)
    if _needs_function(reply):
        reply = cdp("Runtime.evaluate", expression="(async function(){\n%s\n})()" % expression, **options)
    return _js_value(reply, expression)


def events(since=0, limit=None, methods=None, session_id=None):
    """{"events", "next", "lost"}: the events after number `since`; nobody else misses them. Go on from "next"."""
    return request(meta="events", since=since, limit=limit, methods=methods, session_id=session_id)


def drain_events():
    """Returns the newest events and empties their buffer; events() leaves them for others."""
    return request(meta="drain_events")["events"]


# --- dialogs and frames ---


def dialog(action=None, text=None, id=None):
    """The open dialogs; or answers one: dialog("accept", "text for a prompt") or dialog("dismiss").
    With several open, `id` says which."""
    if action is None:
        return request(meta="state")["state"].get("pending_dialogs", [])
    return request(meta="dialog", action=action, prompt_text=text, dialog_id=id).get("dialog")


def snapshot(**args):
    """The page as an outline, with refs such as e12 to act on: snapshot(), snapshot(ref="e12"),
    snapshot(since="s3"), snapshot(frame_id=..., max_chars=...)."""
    return request(meta="tool", name="browser_snapshot", args=args)["result"]["text"]


def frames():
    """All frames of the tab, the top one first: [{"frame_id", "url", ...}]. Use with js(..., frame_id=...)."""
    tree = request(meta="state")["state"].get("frame_tree")
    return [tree["top"], *tree["children"]] if tree else []


def iframe_target(url_substr):
    """The target id of the first iframe whose URL contains url_substr, else None. Use with js(..., target_id=...)."""
    found = (t for t in cdp("Target.getTargets")["targetInfos"] if t["type"] == "iframe" and url_substr in t["url"])
    return next((t["targetId"] for t in found), None)


# --- the page ---


def goto_url(url):
    """Navigates the current tab; wait_for_load() waits until the page is there. What cannot be opened is raised."""
    reply = cdp("Page.navigate", url=url)
    if reply.get("errorText") and not reply.get("isDownload"):
        raise _unopened(url, reply["errorText"])
    return reply


def page_info():
    """{url, title, w, h, sx, sy, pw, ph}: viewport, scroll and page size; {"dialog": {...}} while one is open."""
    open_dialog = request(meta="pending_dialog").get("dialog")
    try:
        return {"dialog": open_dialog} if open_dialog else js(_PAGE_INFO)
    except DialogOpen as error:
        return {"dialog": error.dialog}


def capture_screenshot(path=None, full=False, max_dim=None):
    """Saves a PNG of the viewport, or of the full page, and returns its path; max_dim caps its larger side."""
    clip = _clip(full, max_dim)
    png = _png(full, clip)
    while max_dim and max(_png_size(png)) > max_dim:
        clip["scale"] *= (max_dim - 0.5) / max(_png_size(png))  # The browser rounded up.
        png = _png(full, clip)
    path = path or _temporary_png()
    with open(path, "wb") as file:
        file.write(png)
    return path


def upload_file(selector, paths):
    """Puts one file or a list of files into a file input."""
    files = [os.path.abspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    found = cdp("Runtime.evaluate", expression=_find(selector))
    _js_value(found, selector)
    if "objectId" not in found["result"]:
        raise RuntimeError(f"upload_file: no element matches {selector!r}")
    cdp("DOM.setFileInputFiles", files=files, objectId=found["result"]["objectId"])


# --- input ---


def click_at_xy(x, y, button="left", clicks=1, modifiers=0):
    """Clicks at viewport coordinates, through iframes and shadow roots; raises DialogOpen if that opens a dialog."""
    at = {"x": x, "y": y, "modifiers": modifiers}
    cdp("Input.dispatchMouseEvent", type="mouseMoved", **at)
    for count in range(1, clicks + 1):
        at.update(button=button, clickCount=count)
        cdp("Input.dispatchMouseEvent", type="mousePressed", buttons=_BUTTONS[button], **at)
        cdp("Input.dispatchMouseEvent", type="mouseReleased", buttons=0, **at)


def scroll(x, y, dy=-300, dx=0):
    """Turns the mouse wheel at (x, y); a positive dy scrolls down."""
    cdp("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=dx, deltaY=dy)


def type_text(text):
    """Inserts text at the cursor in one piece, without key events; fill_input() types it key by key."""
    cdp("Input.insertText", text=text)


def press_key(key, modifiers=0):
    """Presses a key or a chord: press_key("Enter"), press_key("A"), press_key("Control+a").
    ControlOrMeta is the browser's shortcut key. modifiers: 1 Alt, 2 Control, 4 Meta, 8 Shift."""
    key, modifiers = _chord(key, modifiers)
    stroke = _stroke(key, modifiers)
    if stroke is None:
        return cdp("Input.insertText", text=key)  # On no key of a US keyboard: é, 中, an emoji.
    down = "keyDown" if stroke.get("text") else "rawKeyDown"
    cdp("Input.dispatchKeyEvent", type=down, **stroke)
    up = {name: value for name, value in stroke.items() if name not in ("text", "commands")}
    cdp("Input.dispatchKeyEvent", type="keyUp", **up)


def fill_input(selector, text, clear_first=True, timeout=0.0):
    """Focuses a field, empties it and types text with real keys, then fires input and change for frameworks.
    `timeout` waits for the field to appear."""
    if timeout > 0:
        wait_for_element(selector, timeout)
    if not js("(e => e && (e.focus(), true))(%s)" % _find(selector)):
        raise RuntimeError(f"fill_input: no element matches {selector!r}")
    if clear_first:
        press_key("ControlOrMeta+a")
        press_key("Backspace")
    for char in text:
        press_key(char)
    fire = "for (const t of ['input', 'change']) e.dispatchEvent(new Event(t, {bubbles: true}))"
    js("(e => { if (e) { %s } })(%s)" % (fire, _find(selector)))


def dispatch_key(selector, key="Enter", event="keypress"):
    """Fires a synthetic DOM keyboard event at an element, for pages that listen to those rather than to real keys."""
    stroke = _stroke(*_chord(key, 0)) or {"key": key, "code": "", "windowsVirtualKeyCode": 0}
    number = stroke["windowsVirtualKeyCode"]
    init = {"key": stroke["key"], "code": stroke["code"], "keyCode": number, "which": number, "bubbles": True}
    fire = "e.focus(), e.dispatchEvent(new KeyboardEvent(%s, %s)), true" % (to_json(event), to_json(init))
    if not js("(e => e && (%s))(%s)" % (fire, _find(selector))):
        raise RuntimeError(f"dispatch_key: no element matches {selector!r}")


# --- tabs ---


def list_tabs(include_chrome=True):
    """The open tabs: [{"targetId", "target_id", "title", "url"}]; include_chrome=False leaves internal pages out."""
    pages = (t for t in cdp("Target.getTargets")["targetInfos"] if t["type"] == "page")
    return [_tab(t) for t in pages if include_chrome or not t["url"].startswith(_INTERNAL)]


def current_tab():
    """The tab that calls go to: {"targetId", "target_id", "title", "url"}."""
    return _tab(request(meta="current_tab"))


def switch_tab(target, activate=False):
    """Makes a tab (id, or dict from list_tabs) the current one and returns its session; activate=True shows it too."""
    if activate:
        activate_tab(target)
    return request(meta="set_session", target_id=_target_id(target))["session_id"]


def activate_tab(target):
    """Brings a tab to the front of its window; calls go on to the current tab."""
    cdp("Target.activateTarget", targetId=_target_id(target))
    return _target_id(target)


def new_tab(url="about:blank"):
    """Opens url in a new background tab (or in the current one if that is blank), switches to it, returns its id.
    What cannot be opened is raised; the tab stays."""
    tab = _blank_tab() if url != "about:blank" else None
    if tab is None:
        # A tab that is created with its URL may run the page's first script before ostler is attached.
        tab = cdp("Target.createTarget", url="about:blank", background=True)["targetId"]
        switch_tab(tab)
    if url != "about:blank":
        goto_url(url)
    return tab


def close_tab(target=None):
    """Closes a tab (id or dict), or the current one."""
    cdp("Target.closeTarget", targetId=_target_id(target) or current_tab()["targetId"])


def ensure_real_tab():
    """Switches to a web page if the current tab is an internal one or gone; returns its tab, None if there is none."""
    tabs = list_tabs(include_chrome=False)
    try:
        current = current_tab()
    except OstlerError:
        current = {"targetId": None}
    if not tabs or any(tab["targetId"] == current["targetId"] for tab in tabs):
        return current if tabs else None
    switch_tab(tabs[0])
    return tabs[0]


# --- waiting ---


def wait(seconds=1.0):
    """Sleeps; waiting for a condition is quicker and surer."""
    time.sleep(seconds)


def wait_for_load(timeout=15.0):
    """Waits until the document has loaded: True, or False at the timeout. A page that cannot be opened is raised."""
    loaded = _until(_LOADED, timeout)
    if isinstance(loaded, str):
        raise _unopened(current_tab()["url"], loaded)
    return loaded


def wait_for_element(selector, timeout=10.0, visible=False):
    """Waits until selector matches (visible=True: something that can be seen): True, or False at the timeout."""
    seen = "e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})" if visible else "true"
    return _until("(e => !!e && %s)(%s)" % (seen, _find(selector)), timeout)


def wait_for_network_idle(timeout=10.0, idle_ms=500):
    """Waits until the tab has no request in flight and has had none for idle_ms: True, or False at the timeout."""
    session, page = request(meta="session")["session_id"], current_tab()["targetId"]
    cdp("Network.enable", session_id=session)
    in_flight, cursor, moved = set(), 0, time.monotonic()
    deadline = moved + timeout
    while time.monotonic() < deadline:
        # A frame's document is asked for on its parent's session and ends on its own.
        sessions, batch = {session, *(f.get("session_id") for f in frames())}, events(cursor, methods=_NETWORK)
        cursor = batch["next"]
        moved = time.monotonic() if _follow(batch["events"], sessions, page, in_flight) else moved
        if not in_flight and time.monotonic() - moved >= idle_ms / 1000:
            return True
        time.sleep(0.02)
    return False


# --- cloud browsers ---


def start_remote_daemon(name="remote", **options):
    """Rents a Browser Use browser under a daemon of its own: {"id", "live_url", ...}. It costs money until it is stopped.
    options are the service's, such as timeout=30 or proxyCountryCode="de"; `BU_NAME=remote ostler` then drives it."""
    reply = _ostler(name, "connect", "--cloud", "browser-use", "--options", "-", input=to_json(options))
    return {"name": name, **reply["cloud"]}


def stop_remote_daemon(name="remote"):
    """Ends that daemon, and its cloud browser with it; True if there was one."""
    return _ostler(name, "stop")["stopped"]


# --- without the browser ---


def http_get(url, headers=None, timeout=20.0):
    """Fetches a URL without the browser and returns its text."""
    import gzip
    import urllib.request

    headers = {"User-Agent": "Mozilla/5.0", "Accept-Encoding": "gzip", **(headers or {})}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout) as answer:
        body = answer.read()
        if answer.headers.get("Content-Encoding", "").lower() == "gzip":
            body = gzip.decompress(body)
        return body.decode(answer.headers.get_content_charset() or "utf-8", "replace")


# --- what the verbs above share ---


def _ostler(name, *arguments, input=""):
    """Runs a command for the daemon of this name and returns its reply."""
    import json
    import subprocess

    ours = ("BU_CDP_WS", "BU_CDP_URL", "BU_BROWSER_ID", "OSTLER_TASK", "OSTLER_FD", "OSTLER_SOCKET")
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    command = [os.environ.get("OSTLER_PROGRAM", "ostler"), *arguments, "--json"]
    done = subprocess.run(command, input=input, stdout=subprocess.PIPE, text=True, env={**environment, "BU_NAME": name})
    reply = json.loads(done.stdout or '{"error": "ostler gave no answer"}')
    if done.returncode:
        raise RuntimeError(reply["error"])
    return reply


_INTERNAL = ("chrome://", "chrome-untrusted://", "devtools://", "chrome-extension://", "edge://", "about:")
_BLANK = ("about:blank", "about:newtab", "chrome://newtab", "chrome://new-tab-page", "edge://newtab")
_BUTTONS = {"none": 0, "left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}
_PAGE_INFO = """({url: location.href, title: document.title, w: innerWidth, h: innerHeight, sx: scrollX, sy: scrollY,
pw: document.documentElement.scrollWidth, ph: document.documentElement.scrollHeight})"""


# In place of a page that could not be opened the browser shows one of its own, which has the reason.
_LOADED = """document.readyState === 'complete' && (location.protocol !== 'chrome-error:' ||
'net::' + (document.querySelector('.error-code') || {textContent: 'ERR_FAILED'}).textContent)"""


def _unopened(url, error):
    return RuntimeError(f"{url} could not be opened: {error}; check the address, and whether anything answers there")


def _find(selector):
    """A JavaScript expression for the first element that matches."""
    return "document.querySelector(%s)" % to_json(selector)


def _tab(info):
    return {"targetId": info["targetId"], "target_id": info["targetId"], "title": info["title"], "url": info["url"]}


def _target_id(target):
    return (target.get("targetId") or target.get("target_id")) if isinstance(target, dict) else target


def _blank_tab():
    """The id of the current tab if nothing is in it yet and it answers, else None."""
    try:
        tab = current_tab()
        if tab["url"] and not tab["url"].startswith(_BLANK):
            return None
        cdp("Runtime.evaluate", expression="0", timeout=1)
    except OstlerError:
        return None
    return tab["targetId"]


def _needs_function(reply):
    """True if a snippet could not be compiled (so nothing of it ran) for its top-level `return` or `await`."""
    thrown = reply.get("exceptionDetails", {})
    reason = thrown.get("exception", {}).get("description", "")
    return "stackTrace" not in thrown and ("Illegal return" in reason or "await is only valid" in reason)


def _js_value(reply, expression):
    """The Python value of a Runtime.evaluate reply; what the page threw is raised as RuntimeError."""
    result, thrown = reply["result"], reply.get("exceptionDetails")
    if thrown:
        value = thrown.get("exception", {})
        reason = value.get("description") or value.get("value") or thrown.get("text")
        line, column = thrown["lineNumber"] + 1, thrown["columnNumber"] + 1
        raise RuntimeError(f"JavaScript failed at {line}:{column} of {expression.strip()[:200]!r}: {reason}")
    number = result.get("unserializableValue")
    if number is not None:  # NaN, Infinity, -0, or a BigInt such as 12n.
        return int(number[:-1]) if number.endswith("n") else float(number)
    return result.get("value")


_PASSING = ("timeout", "unknown_outcome", "cdp")  # What a page in the middle of a navigation answers.


def _until(expression, timeout):
    """Asks the page until the expression is true: its value, or False at the timeout. An open dialog is raised."""
    deadline, pause = time.monotonic() + timeout, 0.02
    while True:
        try:
            if value := js(expression, timeout=max(0.1, deadline - time.monotonic())):
                return value
        except OstlerError as error:
            if error.code not in _PASSING:
                raise
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, 0.2)


_STARTED, _ENDED = "Network.requestWillBeSent", ("Network.loadingFinished", "Network.loadingFailed")
_NETWORK = [_STARTED, "Network.responseReceived", "Network.dataReceived", *_ENDED]


def _follow(batch, sessions, page, in_flight):
    """Keeps in_flight true to a batch of events; says whether the tab's traffic moved."""
    moved = False
    for event in batch:
        if event["session_id"] not in sessions:
            continue
        moved, request_id = True, event["params"]["requestId"]
        if event["method"] == _STARTED:
            if event["params"].get("frameId") == page and event["params"].get("loaderId") == request_id:
                in_flight.clear()  # A new document: nothing tells the end of what the old one had asked for.
            in_flight.add(request_id)
        elif event["method"] in _ENDED:
            in_flight.discard(request_id)
    return moved


def _clip(full, max_dim):
    """The part of the page to capture, scaled so that its larger side fits max_dim; None for the plain viewport."""
    if not full and not max_dim:
        return None
    metrics = cdp("Page.getLayoutMetrics")
    size, view = metrics["cssContentSize"], metrics["cssVisualViewport"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"]}
    if not full:
        clip = {"x": view["pageX"], "y": view["pageY"], "width": view["clientWidth"], "height": view["clientHeight"]}
    pixels = max(clip["width"], clip["height"]) * js("devicePixelRatio")
    return {**clip, "scale": min(1, max_dim / pixels) if max_dim else 1}


def _png(full, clip):
    """Captures a PNG. A hidden tab draws nothing and so answers the first request only when a second one comes."""
    import binascii

    options = {"format": "png", "captureBeyondViewport": full, **({"clip": clip} if clip else {})}
    try:
        reply = cdp("Page.captureScreenshot", timeout=0.7, **options)
    except OstlerError as error:
        if error.code != "timeout":
            raise
        reply = cdp("Page.captureScreenshot", timeout=60, **options)
    return binascii.a2b_base64(reply["data"])


def _png_size(png):
    """Width and height, from the PNG header."""
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def _temporary_png():
    import tempfile

    handle, path = tempfile.mkstemp(prefix="shot-", suffix=".png")
    os.close(handle)
    return path


# A US keyboard: character or name of a key -> (code, Windows virtual key code, text it types).
_KEYS = {
    "Enter": ("Enter", 13, "\r"), "Tab": ("Tab", 9, ""), "Backspace": ("Backspace", 8, ""), " ": ("Space", 32, " "),
    "Escape": ("Escape", 27, ""), "Delete": ("Delete", 46, ""), "Insert": ("Insert", 45, ""),
    "Home": ("Home", 36, ""), "End": ("End", 35, ""), "PageUp": ("PageUp", 33, ""), "PageDown": ("PageDown", 34, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""), "ArrowUp": ("ArrowUp", 38, ""), "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""), "Shift": ("ShiftLeft", 16, ""), "Control": ("ControlLeft", 17, ""),
    "Alt": ("AltLeft", 18, ""), "Meta": ("MetaLeft", 91, ""),
}
_KEYS.update({f"F{n}": (f"F{n}", 111 + n, "") for n in range(1, 13)})
_KEYS.update({c: ("Key" + c.upper(), ord(c.upper()), c) for c in "abcdefghijklmnopqrstuvwxyz"})
_KEYS.update({c: ("Digit" + c, ord(c), c) for c in "0123456789"})
_KEYS.update({c: (code, number, c) for c, code, number in (
    ("`", "Backquote", 192), ("-", "Minus", 189), ("=", "Equal", 187), ("[", "BracketLeft", 219),
    ("]", "BracketRight", 221), ("\\", "Backslash", 220), (";", "Semicolon", 186), ("'", "Quote", 222),
    (",", "Comma", 188), (".", "Period", 190), ("/", "Slash", 191),
)})
_SHIFTED = {c: c.upper() for c in "abcdefghijklmnopqrstuvwxyz"}
_SHIFTED.update(zip("1234567890`-=[]\\;',./", '!@#$%^&*()~_+{}|:"<>?'))
_UNSHIFTED = {shifted: plain for plain, shifted in _SHIFTED.items()}
_NAMES = {
    "Esc": "Escape", "Return": "Enter", "\r": "Enter", "\n": "Enter", "\t": "Tab", "Space": " ", "Del": "Delete",
    "Left": "ArrowLeft", "Up": "ArrowUp", "Right": "ArrowRight", "Down": "ArrowDown",
}
_MODIFIERS = {"Alt": 1, "Option": 1, "Control": 2, "Ctrl": 2, "Meta": 4, "Cmd": 4, "Command": 4, "Shift": 8}
# macOS turns a Cmd chord into an editing command before the page sees a key; over CDP nobody does that for us.
_MAC_COMMANDS = {"a": "selectAll", "c": "copy", "v": "paste", "x": "cut", "z": "undo"}


def _chord(keys, modifiers):
    """Splits "Control+a" into its last key and the modifier bits."""
    held, _, key = keys[:-1].rpartition("+")  # The last character is never a separator: "Control++" presses +.
    for name in held.split("+") if held else ():
        if name == "ControlOrMeta":
            modifiers |= _shortcut_key()
        elif name in _MODIFIERS:
            modifiers |= _MODIFIERS[name]
        else:
            raise ValueError(f"press_key: {name!r} in {keys!r} is none of {', '.join(_MODIFIERS)}, ControlOrMeta")
    key += keys[-1:]
    return _NAMES.get(key, key), modifiers


def _shortcut_key():
    """Meta if the browser (not this script) runs on macOS, else Control."""
    return 4 if "Mac OS X" in cdp("Browser.getVersion")["userAgent"] else 2


def _stroke(key, modifiers):
    """What Input.dispatchKeyEvent needs to press a key; None for a character that is on no key."""
    plain = _UNSHIFTED.get(key, key)
    if plain not in _KEYS:
        if len(key) == 1:
            return None
        raise ValueError(f"press_key: there is no key {key!r}; use one character or one of {', '.join(_KEYS)}")
    code, number, text = _KEYS[plain]
    shortcut = modifiers & 7
    modifiers |= 8 if plain != key and not shortcut else 0
    shown = _SHIFTED.get(plain, plain) if modifiers & 8 else key
    typed = "" if shortcut else shown if len(plain) == 1 else text
    mac = {"commands": [_MAC_COMMANDS[plain]]} if modifiers & 4 and plain in _MAC_COMMANDS else {}
    return dict(mac, key=shown, code=code, windowsVirtualKeyCode=number, modifiers=modifiers, text=typed)
