//! Pages on two sites: `127.0.0.1` and `localhost` are different ones, served by one small server.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What stands for a stream among the pages.
const STREAM: &str = "a stream";
/// What goes before a page that is shown to those alone who give a name and a password.
const LOCKED: &str = "WWW-Authenticate: Basic realm=\"here\"\r\n";

/// A server whose pages can be changed while it runs. It ends with the test process.
#[derive(Clone)]
pub(crate) struct Site {
    scheme: &'static str,
    port: u16,
    /// What is served under each path: further header lines, and the HTML.
    pages: Arc<Mutex<HashMap<String, (String, String)>>>,
}

impl Site {
    /// Serves `pages`, each a path and its HTML; `{here}` in one stands for the first site, `{there}` for the second.
    pub(crate) fn with(pages: &[(&str, &str)]) -> Self {
        Self::serve("http", pages, |site, stream| site.answer(stream))
    }

    /// Serves them over `https`, to browsers that accept any certificate.
    pub(crate) fn secure(pages: &[(&str, &str)]) -> Self {
        let config = tls_config(include_bytes!("../tls/certificate.pem"), include_bytes!("../tls/key.pem"));
        Self::serve("https", pages, move |site, stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a configuration without faults");
            site.answer(StreamOwned::new(connection, stream));
        })
    }

    fn serve(
        scheme: &'static str,
        pages: &[(&str, &str)],
        answer: impl Fn(&Self, TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound address").port();
        let site = Self { scheme, port, pages: Arc::default() };
        for (path, html) in pages {
            site.put(path, html);
        }
        let (served, answer) = (site.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (site, answer) = (served.clone(), Arc::clone(&answer));
                std::thread::spawn(move || answer(&site, stream));
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

    /// Serves a page to those alone who give a name and a password, whichever.
    pub(crate) fn lock(&self, path: &str, html: &str) {
        self.pages.lock().expect("no page panics").insert(path.to_owned(), (LOCKED.to_owned(), html.to_owned()));
    }

    /// Serves a stream of events that never ends at `path`.
    pub(crate) fn stream(&self, path: &str) {
        self.pages.lock().expect("no page panics").insert(path.to_owned(), (String::new(), STREAM.to_owned()));
    }

    /// Returns the address of a page on the first site.
    pub(crate) fn here(&self, path: &str) -> String {
        format!("{}://127.0.0.1:{}{path}", self.scheme, self.port)
    }

    /// Returns the address of the same page on the second site.
    pub(crate) fn there(&self, path: &str) -> String {
        format!("{}://localhost:{}{path}", self.scheme, self.port)
    }

    fn answer(&self, mut stream: impl Read + Write) {
        let mut lines = BufReader::new(&mut stream).lines();
        let Some(Ok(request)) = lines.next() else { return };
        let headers: Vec<_> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let known = headers.iter().any(|line| line.to_ascii_lowercase().starts_with("authorization:"));
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
            Some((header, _)) if header == LOCKED && !known => ("401 Unauthorized", (header, String::new())),
            Some(page) => ("200 OK", page),
            None => ("404 Not Found", Default::default()),
        };
        let kind = if path.ends_with(".js") { "javascript" } else { "html" };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/{kind}; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n{header}\r\n",
            body.len()
        );
        // A browser that went away in the middle is no failure of the test.
        let _ = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .and_then(|()| stream.flush());
    }
}

/// What a server needs to prove itself with a certificate and its key, both PEM.
pub(crate) fn tls_config(certificate: &[u8], key: &[u8]) -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_slice(certificate).expect("one");
    let key = PrivateKeyDer::from_pem_slice(key).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions that the provider knows")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a key of that certificate");
    Arc::new(config)
}
