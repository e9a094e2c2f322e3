//! A screen that nobody sees, for a browser with a window.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

pub(crate) struct Screen {
    server: Child,
    name: String,
}

impl Screen {
    /// Starts one under a number that is free.
    pub(crate) fn start() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("these tests need Xvfb on the PATH");
        let mut number = String::new();
        let told = server.stdout.take().expect("it was asked for");
        BufReader::new(told).read_line(&mut number).expect("Xvfb tells its number");
        Self { server, name: format!(":{}", number.trim()) }
    }

    /// Returns what `DISPLAY` is to be.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
