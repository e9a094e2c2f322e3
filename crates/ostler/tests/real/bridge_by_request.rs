//! The bridge where the backend refuses the Debugger domain and dismisses every native dialog: pages ask by requests.
//!
//! The backend is a proxy before a real Chromium. That it dismisses makes each answer of an agent's a proof that no
//! native dialog was opened for it.

use ostler_mock::Proxy;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::browser::Chromium;
use super::sandbox::wait_until;
use super::site::Site;
use super::world::World;

/// A page whose first script asks, and one that asks again when it is clicked.
const ASKS: &str = "<!doctype html><body style='margin:0'>\
    <button style='width:200px;height:100px' onclick='document.title = String(prompt(\"click?\"))'>go</button>\
    <script>document.title = String(prompt('first?'))</script>";

struct Backend {
    world: World,
    _proxy: Proxy,
    /// What the proxy runs on.
    _runtime: Runtime,
}

impl Backend {
    fn start(bridge: &str, pages: &[(&str, &str)]) -> Self {
        let chromium = Chromium::start_with(0, &["--ignore-certificate-errors".to_owned()]);
        let runtime = Runtime::new().unwrap();
        let proxy = runtime.block_on(Proxy::start(&chromium.websocket_url()));
        proxy.refuse("Debugger");
        proxy.dismiss_dialogs();
        let config = format!("browser:\n  dialog_bridge: {bridge}\n");
        let world = World::by_way_of(&proxy.http_url(), chromium, &config, pages);
        Self { world, _proxy: proxy, _runtime: runtime }
    }

    fn navigate(&mut self, url: &str) {
        self.world.line.cdp("Page.navigate", json!({"url": url}));
    }

    fn answer(&mut self, text: &str) -> Value {
        self.world.line.ask(json!({"meta": "dialog", "action": "accept", "prompt_text": text}))
    }

    /// The page that asks gets the agent's text, and shows it in its title.
    fn answer_reaches_the_page(&mut self, message: &str, text: &str) {
        let open = self.world.wait_for_dialogs(1);
        assert_eq!([&open[0]["message"], &open[0]["type"]], [message, "prompt"], "{text}");
        let looked = self.world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": "1"}}));
        assert_eq!(looked["error_code"], "dialog_open", "on this way the page is deaf meanwhile: {looked}");
        assert_eq!(self.answer(text)["ok"], true, "{text}");
        wait_until("the title tells", || self.world.line.js("document.title") == text);
    }

    /// The page that asks gets the backend's answer, and the agent learns whose it was.
    fn backend_answers(&mut self, count: usize) {
        let state = self.world.wait_for_state("the native dialog is over", |state| {
            state["recent_dialogs"].as_array().is_some_and(|recent| recent.len() == count)
        });
        assert_eq!(state["recent_dialogs"][count - 1]["closed_by"], "remote");
        assert_eq!(state["pending_dialogs"], json!([]));
        wait_until("the title tells", || self.world.line.js("document.title") == "null");
    }
}

#[test]
fn first_scripts_clicks_and_evaluates_get_the_agents_text() {
    let mut backend = Backend::start("always", &[("/first", ASKS)]);
    let secure = Site::secure(&[("/first", ASKS)]);
    let plain = backend.world.site.clone();
    let mut urls = vec![format!("data:text/html,{}", ASKS.replace('"', "%22"))];
    for site in [&plain, &secure] {
        for (path, header) in [
            (
                "/csp",
                "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; \
                style-src 'unsafe-inline'; connect-src 'none'",
            ),
            ("/trusted", "Content-Security-Policy: require-trusted-types-for 'script'; trusted-types 'none'"),
            ("/sandbox", "Content-Security-Policy: sandbox allow-scripts allow-modals"),
            ("/isolated", "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp"),
        ] {
            site.put_with(path, header, ASKS);
        }
        urls.extend(["/first", "/csp", "/trusted", "/sandbox", "/isolated"].map(|path| site.here(path)));
    }
    for url in &urls {
        backend.navigate(url);
        backend.answer_reaches_the_page("first?", url);
        let met = backend.world.click(50, 50);
        assert_eq!(met["error_code"], "dialog_open", "{url}: {met}");
        backend.answer_reaches_the_page("click?", &format!("clicked at {url}"));
        let expression = "document.title = String(prompt('evaluate?'))";
        let met = backend.world.line.ask(json!({"method": "Runtime.evaluate", "params": {"expression": expression}}));
        assert_eq!(met["error_code"], "dialog_open", "{url}: {met}");
        backend.answer_reaches_the_page("evaluate?", &format!("evaluated at {url}"));
    }
    let recent = backend.world.line.state()["recent_dialogs"].clone();
    assert!(recent.as_array().unwrap().iter().all(|dialog| dialog["closed_by"] == "agent"), "{recent}");
}

/// Frames whose first script asks and hands on what it got.
const FRAMES: [&str; 4] = [
    "<iframe src='/tell'></iframe>",
    "<iframe src='{there}/tell'></iframe>",
    "<iframe sandbox='allow-scripts allow-modals' src='/tell'></iframe>",
    "<iframe srcdoc='<script>parent.postMessage(prompt(`first?`), `*`)</script>'></iframe>",
];

#[test]
fn frames_and_popups_get_the_agents_text() {
    let tell = "<script>parent.postMessage(prompt('first?'), '*')</script>";
    let mut backend = Backend::start("always", &[("/tell", tell), ("/plain", "<p>x"), ("/first", ASKS)]);
    for (number, frame) in FRAMES.iter().enumerate() {
        let path = format!("/{number}");
        backend.world.site.put(&path, &format!("<script>onmessage = e => document.title = e.data</script>{frame}"));
        let url = backend.world.site.here(&path);
        backend.navigate(&url);
        let open = backend.world.wait_for_dialogs(1);
        assert_eq!(open[0]["message"], "first?", "{frame}");
        assert_eq!(backend.answer(frame)["ok"], true, "{frame}");
        wait_until(frame, || backend.world.line.js("document.title") == *frame);
    }
    backend.world.go("/plain");
    let there = backend.world.site.there("/first");
    for open in ["open('/first')", "open('/first', '', 'noopener')", &format!("open('{there}')")] {
        let gesture = json!({"expression": format!("{open}, 1"), "userGesture": true});
        let opened = backend.world.line.ask(json!({"method": "Runtime.evaluate", "params": gesture}));
        assert!(opened["error"].is_null() || opened["error_code"] == "dialog_open", "{open}: {opened}");
        backend.world.wait_for_dialogs(1);
        assert_eq!(backend.answer(open)["ok"], true);
        let mut title = Value::Null;
        wait_until("the popup shows what it got", || {
            let targets =
                backend.world.line.ask(json!({"method": "Target.getTargets"}))["result"]["targetInfos"].clone();
            title = targets.as_array().unwrap().iter().find(|info| info["title"] == open).cloned().into();
            !title.is_null()
        });
    }
}

#[test]
fn where_no_request_can_be_made_the_native_dialog_asks_and_whoever_closed_it_is_named() {
    let mut backend = Backend::start("always", &[]);
    let secure = Site::secure(&[]);
    for (count, site) in [(1, backend.world.site.clone()), (2, secure)] {
        site.put_with("/no-sync-xhr", "Permissions-Policy: sync-xhr=()", ASKS);
        backend.navigate(&site.here("/no-sync-xhr"));
        backend.backend_answers(count);
    }
    assert_eq!(backend.world.line.state()["policy"]["bridged"], true);
}

#[test]
fn under_auto_one_answer_that_nobody_gave_is_the_last() {
    let mut backend = Backend::start("auto", &[("/first", ASKS)]);
    assert_eq!(backend.world.line.state()["policy"]["bridged"], false);
    let url = backend.world.site.here("/first");
    backend.navigate(&url);
    backend.backend_answers(1);
    backend.world.wait_for_state("the bridge is on", |state| state["policy"]["bridged"] == true);
    // The document that is there already has it too.
    let met = backend.world.click(50, 50);
    assert_eq!(met["error_code"], "dialog_open", "{met}");
    backend.answer_reaches_the_page("click?", "clicked");
    backend.navigate(&url);
    backend.answer_reaches_the_page("first?", "first");
}
