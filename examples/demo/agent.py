"""The demo's agent: buys two ferry tickets, and meets a question on the way.

Run by `scripts/demo` as `ostler < agent.py`, so every helper (new_tab, js, frames, dialog ...) is in scope. Each step
checks what it prints; the first one that did not happen ends the script, and with it the demo, with exit status 1.
"""

import os
import pathlib
import sys
import time
from urllib.parse import parse_qs, urlsplit

SHOP = os.environ["DEMO_SHOP"]
PAYMENT = parse_qs(urlsplit(SHOP).query)["pay"][0]
QUESTION = "Pay EUR 38.00 to Island Ferries?"
PATIENCE = 10  # seconds that any one step may take on a slow machine


def line(label, text, took=None):
    """Prints one aligned line of the story; the label is bold on a terminal."""
    bold, plain = ("\033[1m", "\033[0m") if COLOUR else ("", "")
    timing = "" if took is None else f"{took * 1000:7.1f} ms"
    print(f"  {bold}{label:<8}{plain}{text:<62}{timing}".rstrip(), flush=True)


def expect(ok, wanted, got):
    """Ends the demo unless `ok`."""
    if not ok:
        sys.exit(f"demo failed: expected {wanted}, got {got!r}")


def timed(action):
    """Returns what `action` returns and how many seconds that took."""
    start = time.monotonic()
    result = action()
    return result, time.monotonic() - start


def told(action):
    """Returns the dialog that stops `action`, or None when it finished, and how many seconds that took."""
    start = time.monotonic()
    try:
        action()
        dialog_met = None
    except DialogOpen as stopped:
        dialog_met = stopped.dialog
    return dialog_met, time.monotonic() - start


def until(look, wanted):
    """Returns the first true value of `look`."""
    deadline = time.monotonic() + PATIENCE
    while not (seen := look()):
        expect(time.monotonic() < deadline, wanted, seen)
        time.sleep(0.02)
    return seen


def payment_frame():
    """Returns the payment page's entry in the frame tree, or None while it is not there as a frame of its own process."""
    return next((f for f in frames()[1:] if f["url"] == PAYMENT and f["is_oopif"]), None)


def text_of(selector, frame_id=None):
    """Returns the text of the element that `selector` finds."""
    return js(f"document.querySelector({selector!r})?.textContent", frame_id=frame_id)


def place_of_pay_button(frame_id):
    """Returns the middle of the button in the shop's coordinates, once the frame has been painted."""
    inside = js(
        """new Promise(painted => requestAnimationFrame(() => requestAnimationFrame(painted))).then(() => {
             const box = document.querySelector("#pay").getBoundingClientRect();
             return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
           })""",
        frame_id=frame_id,
    )
    corner = js(
        """(() => {
             const frame = document.querySelector("iframe"), box = frame.getBoundingClientRect();
             return { x: box.x + frame.clientLeft, y: box.y + frame.clientTop };
           })()"""
    )
    return corner["x"] + inside["x"], corner["y"] + inside["y"]


def print_tree(tree):
    """Prints the frame tree: the page, and under it each frame with the kind it is."""
    top, *below = tree
    line("tree", top["url"].split("?")[0])
    for frame in below:
        kind = "a process of its own" if frame["is_oopif"] else "in the page's process"
        line("", f"`- {frame['url']}  ({kind})")


COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ

# Open the shop. Its payment form is another site's page in a frame, which the browser keeps in another process.
_, took = timed(lambda: (new_tab(SHOP), wait_for_load()))
title = js("document.title")
expect(title == "Island Ferries", "the shop's title", title)
line("open", f"{urlsplit(SHOP).netloc}, \"{title}\"", took)

frame = until(payment_frame, "the payment frame, in a process of its own, in the frame tree")
frame_id = frame["frame_id"]
expect(frame.get("session_id"), "a frame with a session of its own", frame)
button = until(lambda: text_of("#pay", frame_id), "the pay button in the payment frame")
line("frame", f"{urlsplit(PAYMENT).netloc}, another site, in a process of its own")

# Click the button by its coordinates. The page asks confirm(), which stops its script until somebody answers.
x, y = place_of_pay_button(frame_id)
asked, took = told(lambda: click_at_xy(x, y))
expect(asked, "a click that is told of a dialog", asked)
expect((asked["type"], asked["message"]) == ("confirm", QUESTION), QUESTION, asked)
line("click", f"\"{button}\" in that frame, at {x:.0f},{y:.0f}")
line("told", f"{asked['type']}: \"{asked['message']}\"", took)

# Look around while it is open: the state is there at once, the shop answers, and the frame says what it waits for.
seen, took = timed(page_info)
expect(seen.get("dialog", {}).get("message") == QUESTION, "page_info() that shows the dialog", seen)
line("look", f"page_info() shows the dialog, asked by frame {asked['frame_id'][:8]}", took)
expect(asked["frame_id"] == frame_id, f"a dialog of frame {frame_id}", asked["frame_id"])

booking, took = timed(lambda: text_of("#booking"))
expect(booking == "Not booked yet.", "a shop that still answers", booking)
line("", f"the shop still answers: \"{booking}\"", took)

blocked, took = told(lambda: text_of("#outcome", frame_id))
expect(blocked and blocked["id"] == asked["id"], f"a call into the frame that names {asked['id']}", blocked)
line("", f"a call into the frame is told of {blocked['id']} instead of hanging", took)

# Answer it, and see what both pages did with the answer.
_, took = timed(lambda: dialog("accept"))
line("answer", "accept", took)

outcome = text_of("#outcome", frame_id)
expect(outcome == "Paid. Receipt 1042.", "a payment page that was told OK", outcome)
until(lambda: text_of("#booking") == "Booked. See you on board.", "a shop that booked")
line("page", f"the frame says \"{outcome}\"")
line("", f"the shop says \"{text_of('#booking')}\"")

tree = frames()
expect(not dialog(), "no open dialog", dialog())
expect([f["frame_id"] for f in tree[1:]] == [frame_id], "the payment frame in the tree", tree)
print_tree(tree)

# That this line was reached is part of what the demo checks.
pathlib.Path(os.environ["DEMO_DONE"]).touch()
