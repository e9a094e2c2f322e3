//! The daemon against a browser that does what no Chromium does on demand: answers dialogs by itself, refuses, never
//! answers, tells things in the wrong order, or sends what is no message at all.

#[path = "real/line.rs"]
mod line;
mod sandbox;

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use ostler_core::supervisor::BridgeSecret;
use ostler_mock::{Dialog, MockBrowser, Opener, Page};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use line::Line;
use sandbox::{Ran, Sandbox, wait_until};

struct Scene {
    line: Line,
    page: Page,
    browser: MockBrowser,
    sandbox: Sandbox,
}

impl Scene {
    /// Starts a daemon on the browser once `bend` has made it strange; its one tab is the current one.
    async fn with(bend: impl FnOnce(&MockBrowser)) -> Self {
        let browser = MockBrowser::start().await;
        let page = browser.add_page("https://example.com/");
        bend(&browser);
        let sandbox = Sandbox::new();
        let line = block_in_place(|| {
            let mut command = sandbox.ostler(&["--json", "cdp", "Browser.getVersion"]);
            let ran = Ran::of(command.env("BU_CDP_WS", browser.ws_url()).env("OSTLER_LOG", "trace"));
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let mut line = Line::connect(&sandbox.socket());
            assert_eq!(line.js("7"), 7);
            line
        });
        Self { line, page, browser, sandbox }
    }

    fn wait_for_state(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let mut state = Value::Null;
        block_in_place(|| {
            wait_until(what, || {
                state = self.line.state();
                holds(&state)
            });
        });
        state
    }

    /// The page asks, and gets the agent's answer.
    async fn ask_and_answer(&mut self) {
        let asked = self.page.main_frame().open_dialog(Dialog::confirm("well?"));
        self.wait_for_state("the dialog is seen", |state| state["pending_dialogs"][0]["message"] == "well?");
        let answered = block_in_place(|| self.line.ask(json!({"meta": "dialog", "action": "accept"})));
        assert_eq!(answered["ok"], true, "{answered}");
        assert!(asked.answer().await.accepted);
    }

    fn ask(&mut self, request: Value) -> Value {
        block_in_place(|| self.line.ask(request))
    }

    /// The log of all that was sent and received shows neither.
    #[track_caller]
    fn has_not_logged(&self, secrets: &[&str]) {
        let log = std::fs::read_to_string(self.sandbox.log()).expect("a log");
        assert!(log.contains("Page.addScriptToEvaluateOnNewDocument") && log.contains("key"), "{log}");
        for secret in secrets {
            assert!(!log.contains(secret), "{secret} is in the log");
        }
    }

    fn still_works(&mut self) {
        block_in_place(|| assert_eq!(self.line.js("7"), 7));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_dismisses_dialogs_is_recorded_as_remote_and_holds_nothing_up() {
    let dismisses = |browser: &MockBrowser| drop(browser.script().dismiss_dialogs_after(Duration::from_millis(10)));
    let mut scene = Scene::with(dismisses).await;
    for number in 1..=3 {
        let asked = scene.page.main_frame().open_dialog(Dialog::confirm("well?"));
        assert!(!asked.answer().await.accepted);
        let state = scene.wait_for_state("the dialog is over", |state| {
            state["recent_dialogs"].as_array().is_some_and(|recent| recent.len() == number)
        });
        assert_eq!(state["recent_dialogs"][number - 1]["closed_by"], "remote");
        assert_eq!(state["pending_dialogs"], json!([]));
        scene.still_works();
    }
}

/// Returns what stands between two texts.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).expect("the first text");
    rest.split_once(after).expect("the second text").0
}

/// What the script in a page asks over the bridge.
fn question(number: u64) -> Value {
    let url = "https://example.com/";
    json!({"number": number, "type": "prompt", "message": "who?", "defaultPrompt": "", "url": url})
}

#[tokio::test(flavor = "multi_thread")]
async fn one_dialog_that_a_proxy_dismissed_brings_the_bridge_on() {
    let dismisses = |browser: &MockBrowser| drop(browser.script().dismiss_dialogs_after(Duration::from_millis(10)));
    let mut scene = Scene::with(dismisses).await;
    assert_eq!(scene.ask(json!({"meta": "state"}))["state"]["policy"]["bridged"], false);
    assert!(!scene.page.main_frame().open_dialog(Dialog::confirm("well?")).answer().await.accepted);
    let state = scene.wait_for_state("the bridge is on", |state| state["policy"]["bridged"] == true);
    assert_eq!(state["recent_dialogs"][0]["closed_by"], "remote");
    let script = scene.browser.expect("Page.addScriptToEvaluateOnNewDocument").await.params();
    let source = script["source"].as_str().expect("a script");
    assert_eq!(script["runImmediately"], true, "the document that is there has it too");

    // Over it the page gets the agent's answer and no other.
    let result = |value: Value| json!({"result": {"type": "object", "value": value}});
    let key = between(source, "const key = \"", "\"");
    let shown = json!({"proof": key, "question": question(1)});
    drop(scene.browser.script().answer("Debugger.evaluateOnCallFrame", result(shown)));
    let frame = json!({"callFrameId": "1.1.0", "functionName": "ostlerBridgeAsk", "location": {"scriptId": "5"}});
    let session = scene.page.sessions()[0].to_string();
    let aux = json!({"isDefault": true, "frameId": scene.page.main_frame().id().to_string()});
    let world = json!({"context": {"id": 77, "uniqueId": "77", "origin": "", "auxData": aux}});
    scene.browser.emit(&*session, "Runtime.executionContextCreated", world);
    let name = between(source, "//# sourceURL=", "\n");
    let parsed = json!({"scriptId": "5", "url": name, "executionContextId": 77});
    scene.browser.emit(&*session, "Debugger.scriptParsed", parsed);
    scene.browser.emit(&*session, "Debugger.paused", json!({"callFrames": [frame], "reason": "other"}));
    scene.wait_for_state("it asks over the bridge", |state| state["pending_dialogs"][0]["message"] == "who?");
    scene.browser.expect("Debugger.evaluateOnCallFrame").await;
    drop(scene.browser.script().answer("Debugger.evaluateOnCallFrame", result(json!(true))));
    let answer = json!({"meta": "dialog", "action": "accept", "prompt_text": "Ada"});
    assert_eq!(scene.ask(answer)["dialog"]["closed_by"], "agent");
    let told = scene.browser.expect("Debugger.evaluateOnCallFrame").await.params();
    assert!(told["expression"].as_str().is_some_and(|told| told.contains("\"Ada\"")), "{told}");
    scene.browser.expect("Debugger.resume").await;
    scene.has_not_logged(&[key]);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_debugger_is_refused_the_bridge_holds_a_request_of_the_page_until_the_answer() {
    let mut scene = Scene::with(|browser| drop(browser.script().refuse("Debugger"))).await;
    assert_eq!(scene.ask(json!({"meta": "connect", "dialog_bridge": "always"}))["ok"], true);
    let held = scene.browser.expect("Fetch.enable").await.params()["patterns"][0]["urlPattern"].clone();
    let address = held.as_str().unwrap_or_default();
    assert!(address.starts_with("https://") && address.contains(".invalid/") && !address.contains('*'), "{held}");
    scene.browser.expect("Page.setBypassCSP").await;
    let script = scene.browser.expect("Page.addScriptToEvaluateOnNewDocument").await.params();
    let source = script["source"].as_str().expect("a script");
    let [first, second] = ["const key0 = 0x", "const key1 = 0x"].map(|key| between(source, key, "n;"));
    let keys = [first, second];
    let [first, second] = keys.map(|key| u64::from_str_radix(key, 16).expect("a number"));
    let asked = question(1).to_string();
    let signed = format!("{:x}{asked}", BridgeSecret::new([first, second, 0]).sign(&asked));

    let session = scene.page.sessions()[0].to_string();
    let request = json!({"url": address, "method": "POST", "headers": {}, "postData": signed});
    let frame = scene.page.main_frame().id().to_string();
    let paused = json!({"requestId": "interception-7", "request": request, "frameId": frame, "resourceType": "XHR"});
    scene.browser.emit(&*session, "Fetch.requestPaused", paused);
    scene.wait_for_state("it asks over the bridge", |state| state["pending_dialogs"][0]["message"] == "who?");
    let answered = scene.ask(json!({"meta": "dialog", "action": "accept", "prompt_text": "Ada"}));
    assert_eq!(answered["dialog"]["closed_by"], "agent", "{answered}");
    let told = scene.browser.expect("Fetch.fulfillRequest").await.params();
    let body = BASE64.decode(told["body"].as_str().unwrap_or_default()).expect("base64");
    let body: Value = serde_json::from_slice(&body).expect("an answer");
    assert_eq!([&told["requestId"], &body], [&json!("interception-7"), &json!({"accept": true, "text": "Ada"})]);
    assert_eq!(
        scene.browser.commands().iter().filter(|sent| sent.method == "Debugger.enable").count(),
        1,
        "asked once"
    );
    scene.has_not_logged(&keys);
    scene.still_works();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_domain_is_the_callers_to_know_and_changes_nothing_else() {
    let mut scene = Scene::with(|browser| drop(browser.script().refuse("Debugger").refuse("Log"))).await;
    let refused = scene.ask(json!({"method": "Debugger.enable"}));
    assert_eq!([&refused["error_code"], &refused["cdp_code"]], [&json!("cdp"), &json!(-32601)], "{refused}");
    scene.ask_and_answer().await;
    scene.still_works();
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_and_methods_that_nobody_knows_yet_change_nothing() {
    let mut scene = Scene::with(|browser| drop(browser.script().add_unknown_fields())).await;
    let session = scene.page.sessions()[0].to_string();
    scene.browser.emit(None, "Quantum.entangled", json!({"targetId": 7, "frameId": ["x"]}));
    scene.browser.emit(&*session, "Page.frameEntangled", json!({"frameId": {"id": 1}}));
    scene.browser.emit(&*session, "Page.frameNavigated", json!({"frame": "none"}));
    scene.page.main_frame().add_frame("https://example.com/in");
    let state = scene.wait_for_state("the frame is there", |state| state["frame_tree"]["children"][0].is_object());
    assert_eq!(state["frame_tree"]["children"][0]["url"], "https://example.com/in");
    scene.ask_and_answer().await;
    scene.still_works();
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_that_never_come_end_with_their_own_time_and_nobody_elses() {
    // Those of ours as well, that a tab does not need in order to be worked in.
    let mute = |browser: &MockBrowser| {
        let script = browser.script().mute("Page.getFrameTree").mute("Runtime.getIsolateId").mute("Network.enable");
        drop(script.mute("DOM.getDocument"));
    };
    let mut scene = Scene::with(mute).await;
    let slow = json!({"id": "slow", "method": "DOM.getDocument", "timeout_ms": 500});
    let quick = json!({"id": "quick", "method": "Runtime.evaluate", "params": {"expression": "7"}});
    let (first, second) = block_in_place(|| {
        scene.line.send(&slow);
        (scene.line.ask(quick), scene.line.receive())
    });
    assert_eq!([&first["id"], &second["id"]], ["quick", "slow"]);
    assert_eq!([&second["error_code"], &second["timeout_ms"]], [&json!("timeout"), &json!(500)], "{second}");
    scene.ask_and_answer().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_the_connection_and_speaks_no_cdp_is_told_as_that_and_soon() {
    let browser = MockBrowser::start().await;
    drop(browser.script().mute("Target.setDiscoverTargets").mute("Target.setAutoAttach"));
    let sandbox = Sandbox::new();
    let began = Instant::now();
    let ran = block_in_place(|| sandbox.run(&["connect", &browser.ws_url()]));
    ran.assert_failed(1, &["takes the connection and speaks no CDP", "host and port"]);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn attaching_and_detaching_may_be_told_late() {
    let mut scene = Scene::with(|_| ()).await;
    drop(scene.browser.script().hold("Target.attachedToTarget"));
    let popup = scene.page.open_popup("https://example.com/popup", Opener::Kept).expect("a page that may open one");
    // What attaches is answered before its event comes, and until then the popup is the task's in name alone.
    let tabs = |scene: &mut Scene| scene.ask(json!({"meta": "tasks"}))["tasks"][0]["tabs"].clone();
    block_in_place(|| wait_until("the popup is the task's", || tabs(&mut scene) == 2));
    drop(scene.browser.script().release("Target.attachedToTarget"));
    let in_popup =
        json!({"method": "Runtime.evaluate", "target_id": popup.id().as_str(), "params": {"expression": "7"}});
    assert_eq!(scene.ask(in_popup)["result"]["result"]["value"], 7, "it is set up, and calls go through");
    let asked = popup.main_frame().open_dialog(Dialog::confirm("from the popup"));
    scene.wait_for_state("its dialog is seen", |state| state["pending_dialogs"][0]["message"] == "from the popup");
    assert_eq!(scene.ask(json!({"meta": "dialog", "action": "accept"}))["ok"], true);
    assert!(asked.answer().await.accepted);

    drop(scene.browser.script().hold("Target.detachedFromTarget"));
    popup.close();
    block_in_place(|| wait_until("the popup is gone", || tabs(&mut scene) == 1));
    drop(scene.browser.script().release("Target.detachedFromTarget"));
    scene.still_works();
    scene.ask_and_answer().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_passed_over_and_a_broken_frame_costs_one_connection() {
    let mut scene = Scene::with(|_| ()).await;
    for text in ["", "{", "[]", "null", "7", r#"{"id":999999,"result":{}}"#, r#"{"id":-1}"#, r#"{"method":5}"#, "{}{}"]
    {
        scene.browser.send_text(text);
    }
    scene.browser.send_binary(b"\xff\xfe\x00");
    scene.ask_and_answer().await;
    scene.still_works();
    assert_eq!(scene.browser.connections(), 1, "all on the one connection");

    scene.browser.send_unframed(b"\xff\xff\xff\xff no frame of any kind");
    block_in_place(|| {
        let evaluate = json!({"method": "Runtime.evaluate", "params": {"expression": "7"}});
        let line = &mut scene.line;
        wait_until("it is connected again", || line.ask(evaluate.clone())["result"]["result"]["value"] == 7);
    });
    scene.ask_and_answer().await;
}

// --- leaving ---

const ANSWER: &str = "Page.handleJavaScriptDialog";
/// What Chromium says while a document is being replaced (fact A19).
const NOT_READY: &str = "Not attached to an active page";

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_answers_nothing_any_more_does_not_keep_the_daemon_from_ending() {
    let mut scene = Scene::with(|_| ()).await;
    let asked = scene.page.main_frame().open_dialog(Dialog::confirm("well?"));
    scene.wait_for_state("the dialog is seen", |state| state["pending_dialogs"][0]["message"] == "well?");
    drop(scene.browser.script().mute(ANSWER).mute("Browser.getVersion"));
    let stopped = block_in_place(|| scene.sandbox.run(&["stop"]));
    stopped.assert_done();
    let dismissals = scene.browser.commands().iter().filter(|command| command.method == ANSWER).count();
    assert_eq!(dismissals, 1, "it was told to");
    drop(asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_was_not_ready_to_end_its_dialog_is_asked_again_when_its_daemon_or_its_task_ends() {
    for request in [json!({"meta": "shutdown"}), json!({"meta": "disconnect", "task": "default"})] {
        let mut scene = Scene::with(|_| ()).await;
        let asked = scene.page.main_frame().open_dialog(Dialog::confirm("well?"));
        scene.wait_for_state("the dialog is seen", |state| state["pending_dialogs"][0]["message"] == "well?");
        drop(scene.browser.script().fail(ANSWER, -32000, NOT_READY));
        let mut line = block_in_place(|| Line::connect(&scene.sandbox.socket()));
        let left = tokio::task::spawn_blocking(move || line.ask(request));
        scene.browser.expect(ANSWER).await;
        drop(scene.browser.script().behave(ANSWER));
        assert!(!asked.answer().await.accepted);
        let left = left.await.expect("it was asked");
        assert_eq!(left["ok"], true, "{left}");
    }
}
