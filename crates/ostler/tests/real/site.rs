//! Pages on two sites: `127.0.0.1` and `localhost` are different ones, served by one small server.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What stands for a stream among the pages.
const STREAM: &str = "a stream";

/// A server whose pages can be changed while it runs. It ends with the test process.
#[derive(Clone)]
pub(crate) struct Site {
    port: u16,
    /// What is served under each path: further header lines, and the HTML.
    pages: Arc<Mutex<HashMap<String, (String, String)>>>,
}

impl Site {
    /// Serves `pages`, each a path and its HTML; `{here}` in one stands for the first site, `{there}` for the second.
    pub(crate) fn with(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound address").port();
        let site = Self { port, pages: Arc::default() };
        for (path, html) in pages {
            site.put(path, html);
        }
        let served = site.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let site = served.clone();
                std::thread::spawn(move || site.answer(stream));
            }
        });
        site
    }

    pub(crate) fn put(&self, path: &str, html: &str) {
        self.put_with(path, "", html);
    }

    /// Serves a page with a header of its own, such as `Content-Security-Policy: sandbox`.
    pub(crate) fn put_with(&self, path: &str, header: &str, html: &str) {
        let html = html.replace("{here}", &self.here("")).replace("{there}", &self.there(""));
        let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
        self.pages.lock().expect("no page panics").insert(path.to_owned(), (header, html));
    }

    /// Serves a stream of events that never ends at `path`.
    pub(crate) fn stream(&self, path: &str) {
        self.pages.lock().expect("no page panics").insert(path.to_owned(), (String::new(), STREAM.to_owned()));
    }

    /// Returns the address of a page on the first site.
    pub(crate) fn here(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns the address of the same page on the second site.
    pub(crate) fn there(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
        let Some(Ok(request)) = lines.next() else { return };
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let path = request.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/").to_owned();
        let page = self.pages.lock().expect("no page panics").get(&path).cloned();
        if page.as_ref().is_some_and(|(_, html)| html == STREAM) {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            let mut written = stream.write_all(head.as_bytes());
            while written.is_ok() {
                written = stream.write_all(b"data: more\n\n");
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            return;
        }
        let (status, (header, body)) = match page {
            Some(page) => ("200 OK", page),
            None => ("404 Not Found", Default::default()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n{header}\r\n",
            body.len()
        );
        // A browser that went away in the middle is no failure of the test.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    }
}
