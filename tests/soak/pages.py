"""Pages that do whatever holds an agent up: dialogs of every kind in every frame, popups, frames that come and go."""

import contextlib
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
<button onclick="setTimeout(() => location.replace('/page/' + Math.floor(Math.random() * 10)), 5)">Go soon</button>
<button onclick="history.pushState({{}}, '', '/page/{n}#' + Math.random())">Push</button>
<button onclick="new Worker(URL.createObjectURL(new Blob(['for (let i = 0; i < 1e8; i++);'])))">Work</button>
<button onclick="print()">Print</button> <button onclick="this.parentNode.replaceChildren()">Empty</button>
<a href="/page/{next}">Next</a> <a href="/page/{next}" target=_blank rel=noopener>Next in a tab</a>
<a href="/data" download>Load down</a> <a href="/slow/page/{next}">Slowly</a> <a href="/never">Never</a>
<a href="/again/page/{next}">Elsewhere</a> <a href="/secret">Secret</a> <a href="javascript:alert('a link')">Ask by link</a>
<input aria-label=Name> <input type=file aria-label=Upload> <input type=date aria-label=Day>
<select aria-label=Choice><option>One<option>Two</select> <p contenteditable aria-label=Text>x</p>
<details><summary>More</summary><button onclick="open('//localhost:{port}/page/2', 'named')">Open named</button></details>
<form action="/page/{next}"><input name=q aria-label=Query onchange="alert('changed')"><button>Send</button></form>
<iframe srcdoc="<button onclick='parent.location.reload()'>Reload around</button>"></iframe>
<iframe sandbox="allow-scripts allow-popups" src="/frame"></iframe>
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
                if self.path.startswith("/never"):
                    time.sleep(20)
                if self.path.startswith("/again"):
                    return self.answer(302, Location=f"http://localhost:{self.server.server_port}{self.path[6:]}")
                if self.path.startswith("/secret"):
                    return self.answer(401, **{"WWW-Authenticate": 'Basic realm="soak"'})
                if self.path.startswith("/frame"):
                    page = FRAME.format(first="alert('first')" if random_.random() < 0.2 else "")
                else:
                    n = self.path.rsplit("/", 1)[-1]
                    page = PAGE.format(n=n, next=random_.randrange(10), toggle=TOGGLE, port=self.server.server_port)
                self.answer(200, page.encode())

            def answer(self, status, body=b"", **headers):
                with contextlib.suppress(OSError):  # The page was left before it was there.
                    self.send_response(status)
                    self.send_header("Content-Type", "text/html")
                    self.send_header("Content-Length", str(len(body)))
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"
