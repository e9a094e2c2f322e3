"""Pages that do whatever holds an agent up: dialogs of every kind in every frame, popups, frames that come and go."""

import http.server
import random
import threading
import time

PAGE = """<!doctype html><title>Page {n}</title><h1>Page {n}</h1>
<button onclick="document.title = 'said ' + confirm('sure?')">Ask</button>
<button onclick="setTimeout(() => prompt('name', 'x'), 5)">Ask later</button>
<button onclick="window.open('/page/' + Math.floor(Math.random() * 5))">Open</button>
<button onclick="{toggle}">Frame</button>
<button onclick="onbeforeunload = event => event.preventDefault()">Stay</button>
<a href="/page/{next}">Next</a> <input aria-label=Name>
<iframe src="http://localhost:{port}/frame"></iframe><iframe src="/frame"></iframe>
<script>console.error('hello from {n}')</script>"""
TOGGLE = """const old = document.querySelector('iframe');
if (old) old.remove();
else document.body.append(Object.assign(document.createElement('iframe'), {src: '/frame'}))"""
FRAME = """<!doctype html><title>Frame</title><button onclick="this.textContent = confirm('in a frame')">Ask here</button>
<script>{first}</script>"""


class Site:
    """Serves the pages on two hosts of this machine, so that some frames are of another site than their page."""

    def __init__(self, seed):
        random_ = random.Random(seed)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path.startswith("/slow"):
                    time.sleep(1)
                if self.path.startswith("/frame"):
                    page = FRAME.format(first="alert('first')" if random_.random() < 0.2 else "")
                else:
                    n = self.path.rsplit("/", 1)[-1]
                    page = PAGE.format(n=n, next=random_.randrange(10), toggle=TOGGLE, port=self.server.server_port)
                body = page.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # The page was left before it was there.

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"
