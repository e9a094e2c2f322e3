//! A browser, a daemon that drives it, and a client: what most tests start from.

use serde_json::{Value, json};

use super::browser::Chromium;
use super::line::Line;
use super::sandbox::{Sandbox, wait_until};
use super::site::Site;

pub(crate) struct World {
    pub(crate) line: Line,
    pub(crate) sandbox: Sandbox,
    pub(crate) chromium: Chromium,
    pub(crate) site: Site,
}

impl World {
    /// Starts all of it; the current tab is the browser's `about:blank`.
    pub(crate) fn with(pages: &[(&str, &str)]) -> Self {
        Self::configured("", pages)
    }

    /// Starts all of it with a `config.yaml`.
    pub(crate) fn configured(config: &str, pages: &[(&str, &str)]) -> Self {
        Self::in_browser(Chromium::start(), config, pages)
    }

    /// Starts the rest of it in a browser that runs.
    pub(crate) fn in_browser(chromium: Chromium, config: &str, pages: &[(&str, &str)]) -> Self {
        let url = chromium.url();
        Self::by_way_of(&url, chromium, config, pages)
    }

    /// Starts the rest of it in a browser that runs, which the daemon reaches at `url`.
    pub(crate) fn by_way_of(url: &str, chromium: Chromium, config: &str, pages: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.home().join("config.yaml"), config).expect("a home");
        let mut command = sandbox.ostler(&["--json", "cdp", "Browser.getVersion"]);
        command.env_remove("BU_CDP_WS").env("BU_CDP_URL", url);
        let ran = super::sandbox::Ran::of(&mut command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        Self { line: Line::connect(&sandbox.socket()), sandbox, chromium, site: Site::with(pages) }
    }

    /// Opens another connection to the daemon.
    pub(crate) fn client(&self) -> Line {
        Line::connect(&self.sandbox.socket())
    }

    /// Navigates the current tab to a page of the first site, and waits until it is loaded.
    #[track_caller]
    pub(crate) fn go(&mut self, path: &str) {
        let url = self.site.here(path);
        self.line.cdp("Page.navigate", json!({"url": url}));
        self.wait_for("document.readyState === 'complete'");
    }

    /// Waits until an expression is true in the current tab.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let line = &mut self.line;
        wait_until(expression, || line.js(expression) == json!(true));
    }

    /// Waits until the task's state is such, and returns it.
    pub(crate) fn wait_for_state(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let line = &mut self.line;
        let mut state = Value::Null;
        wait_until(what, || {
            state = line.state();
            holds(&state)
        });
        state
    }

    /// Waits until as many dialogs are open.
    pub(crate) fn wait_for_dialogs(&mut self, count: usize) -> Value {
        let state = self.wait_for_state(&format!("{count} open dialogs"), |state| {
            state["pending_dialogs"].as_array().is_some_and(|open| open.len() == count)
        });
        state["pending_dialogs"].clone()
    }

    /// Presses and releases the left button on the current tab's root; returns the answer to the release.
    pub(crate) fn click(&mut self, x: u32, y: u32) -> Value {
        let params = |kind: &str| json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
        self.line.cdp("Input.dispatchMouseEvent", params("mousePressed"));
        self.line.ask(json!({"method": "Input.dispatchMouseEvent", "params": params("mouseReleased")}))
    }
}
