"""Serves the demo's pages from two sites until it is stopped.

The shop is on 127.0.0.1 and the payment page on localhost. Both names lead to this machine, but to a browser they are
different sites, so the payment frame gets a process of its own. The first line printed is the shop's address with the
payment page's inside it; it appears once both are listening.
"""

import functools
import http.server
import pathlib
import threading
import urllib.parse

PAGES = pathlib.Path(__file__).parent / "pages"


class Pages(http.server.SimpleHTTPRequestHandler):
    """Files from the pages folder, without a log line for each request."""

    def log_message(self, *_):
        pass


def serve():
    """Starts one site on a free port and returns that port."""
    handler = functools.partial(Pages, directory=str(PAGES))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


if __name__ == "__main__":
    payment = f"http://localhost:{serve()}/pay.html"
    print(f"http://127.0.0.1:{serve()}/shop.html?pay={urllib.parse.quote(payment, safe='')}", flush=True)
    threading.Event().wait()
