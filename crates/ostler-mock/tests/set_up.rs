//! What a supervisor does when it connects, and what it hears.

mod support;

use ostler_mock::{MockBrowser, Opener};
use serde_json::{Value, json};
use support::{Client, auto_attach, in_short, supervisor, text};

fn discover() -> Value {
    json!({"discover": true})
}

#[tokio::test]
async fn discovery_tells_of_what_is_there_and_of_what_comes_and_goes() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = Client::connect(&browser.ws_url()).await;
    client.call(None, "Target.setDiscoverTargets", discover()).await;
    let created = client.event("Target.targetCreated").await;
    assert_eq!(
        created["params"]["targetInfo"],
        json!({
            "targetId": page.id().as_str(), "type": "page", "title": "https://example.com/",
            "url": "https://example.com/", "attached": false, "canAccessOpener": false,
            "browserContextId": "C0000000000000000000000000000001",
        })
    );
    browser.add_page("about:blank");
    page.navigate("https://example.com/next");
    page.close();
    assert_eq!(client.story().await, ["Target.targetCreated", "Target.targetInfoChanged", "Target.targetDestroyed"]);
}

#[tokio::test]
async fn existing_pages_are_attached_without_waiting_and_new_ones_wait() {
    let browser = MockBrowser::start().await;
    browser.add_page("https://example.com/");
    let mut client = Client::connect(&browser.ws_url()).await;
    client.call(None, "Target.setAutoAttach", auto_attach()).await;
    let attached = client.event("Target.attachedToTarget").await;
    assert_eq!(attached["params"]["waitingForDebugger"], false);
    assert_eq!(attached["params"]["targetInfo"]["attached"], true);
    assert_eq!(attached.get("sessionId"), None);

    let asked = client.send(None, "Target.createTarget", json!({"url": "about:blank"})).await;
    let attached = client.event("Target.attachedToTarget").await;
    assert_eq!(attached["params"]["waitingForDebugger"], true);
    let created = client.reply_to(asked).await;
    assert_eq!(created["result"]["targetId"], attached["params"]["targetInfo"]["targetId"]);
}

#[tokio::test]
async fn a_filter_decides_what_is_attached() {
    let browser = MockBrowser::start().await;
    browser.add_page("https://example.com/");
    let mut client = Client::connect(&browser.ws_url()).await;
    for filter in [json!([]), json!([{"exclude": true}]), json!([{"type": "worker"}])] {
        let mut params = auto_attach();
        params["filter"] = filter;
        client.call(None, "Target.setAutoAttach", params).await;
        browser.add_page("https://example.org/");
        assert_eq!(client.story().await, [""; 0]);
    }
    let mut params = auto_attach();
    params["filter"] = json!([{"type": "page"}]);
    client.call(None, "Target.setAutoAttach", params).await;
    assert_eq!(client.story().await, ["Target.attachedToTarget"; 4]);
}

#[tokio::test]
async fn every_set_up_command_is_answered() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    let session = client.set_up_next().await;
    for method in [
        "Network.enable",
        "Emulation.setFocusEmulationEnabled",
        "Page.setInterceptFileChooserDialog",
        "Debugger.enable",
        "Runtime.runIfWaitingForDebugger",
    ] {
        client.call(Some(&session), method, json!({})).await;
    }
    let context = client.event("Runtime.executionContextCreated").await;
    let aux = json!({"isDefault": true, "type": "default", "frameId": page.id().as_str()});
    assert_eq!(context["params"]["context"]["auxData"], aux);
    assert_eq!(context["params"]["context"]["origin"], "https://example.com");

    let tree = client.call(Some(&session), "Page.getFrameTree", json!({})).await;
    assert_eq!(tree["frameTree"]["frame"]["url"], "https://example.com/");
    let history = client.call(Some(&session), "Page.getNavigationHistory", json!({})).await;
    assert_eq!(history["entries"][0]["url"], "https://example.com/");
    assert_eq!(client.evaluate(&session, "1+1").await["value"], 2);
    let targets = client.call(None, "Target.getTargets", json!({})).await;
    let info = client.call(None, "Target.getTargetInfo", json!({"targetId": page.id().as_str()})).await;
    assert_eq!(targets["targetInfos"], json!([info["targetInfo"]]));
}

#[tokio::test]
async fn errors_are_chromiums_own() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("about:blank");
    let mut client = Client::connect(&browser.ws_url()).await;
    let nobody = json!({"targetId": "nobody", "flatten": true});
    assert_eq!(
        client.refused(None, "Target.attachToTarget", nobody).await,
        (-32602, "No target with given id found".to_owned())
    );
    let reply = client.ask(Some("gone"), "Page.enable", json!({})).await;
    assert_eq!(reply, json!({"id": 2, "error": {"code": -32001, "message": "Session with given id not found."}}));
    let here = json!({"targetId": page.id().as_str(), "flatten": true});
    let attached = client.call(None, "Target.attachToTarget", here).await;
    let session = text(&attached["sessionId"]);
    assert_eq!(
        client.refused(Some(&session), "Nope.nope", json!({})).await,
        (-32601, "'Nope.nope' wasn't found".to_owned())
    );
    client.send_text("garbage").await;
    assert_eq!(client.event_of_error().await, -32700);

    // Another client's session is as unknown as none.
    let mut other = Client::connect(&browser.ws_url()).await;
    assert_eq!(other.refused(Some(&session), "Page.enable", json!({})).await.0, -32001);
}

impl Client {
    async fn event_of_error(&mut self) -> i64 {
        self.next_like(|message| message.get("error").is_some() && message.get("id").is_none()).await["error"]["code"]
            .as_i64()
            .expect("codes are numbers")
    }

    async fn next_like(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await;
            if wanted(&message) {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn explicit_sessions_are_announced_and_detached_on_request() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("about:blank");
    let mut client = Client::connect(&browser.ws_url()).await;
    let here = json!({"targetId": page.id().as_str(), "flatten": true});
    let first = client.call(None, "Target.attachToTarget", here.clone()).await;
    let second = client.call(None, "Target.attachToTarget", here).await;
    assert_ne!(first["sessionId"], second["sessionId"]);
    assert_eq!(client.story().await, ["Target.attachedToTarget"; 2]);
    client.call(None, "Target.detachFromTarget", first.clone()).await;
    let detached = client.event("Target.detachedFromTarget").await;
    assert_eq!(detached["params"]["sessionId"], first["sessionId"]);
    let gone = client.refused(Some(&text(&first["sessionId"])), "Page.enable", json!({})).await;
    assert_eq!(gone.0, -32001);
    client.call(Some(&text(&second["sessionId"])), "Page.enable", json!({})).await;
}

#[tokio::test]
async fn a_closed_tab_detaches_its_sessions() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("about:blank");
    let mut client = supervisor(&browser.ws_url()).await;
    let session = client.set_up_next().await;
    client.catch_up().await;
    let params = json!({"targetId": page.id().as_str()});
    let closed = client.call(None, "Target.closeTarget", params).await;
    assert_eq!(closed, json!({"success": true}));
    assert_eq!(
        client.story().await,
        ["Inspector.detached", "Target.targetInfoChanged", "Target.detachedFromTarget", "Target.targetDestroyed",]
    );
    assert_eq!(client.refused(Some(&session), "Page.enable", json!({})).await.0, -32001);
    assert!(!page.exists());
}

#[tokio::test]
async fn a_popup_with_opener_runs_after_one_resume_and_keeps_its_commands_waiting_for_nothing() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    client.set_up_next().await;
    let mut other = supervisor(&browser.ws_url()).await;
    let popup = page.open_popup("https://example.com/popup", Opener::Kept).expect("the page is there");
    let attached = client.event("Target.attachedToTarget").await;
    let info = &attached["params"]["targetInfo"];
    assert_eq!((&info["openerId"], &info["canAccessOpener"]), (&json!(page.id().as_str()), &json!(true)));
    assert_eq!(attached["params"]["waitingForDebugger"], true);
    let session = text(&attached["params"]["sessionId"]);
    client.set_up(&session).await;
    assert_eq!(popup.url(), "");
    client.call(Some(&session), "Runtime.runIfWaitingForDebugger", json!({})).await;
    assert_eq!(popup.url(), "https://example.com/popup");
    other.event("Target.attachedToTarget").await;
}

#[tokio::test]
async fn a_noopener_popup_answers_nothing_before_everyone_resumed_it() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = supervisor(&browser.ws_url()).await;
    client.set_up_next().await;
    let other = supervisor(&browser.ws_url()).await;
    let popup = page.open_popup("https://example.com/popup", Opener::Cut).expect("the page is there");
    let attached = client.event("Target.attachedToTarget").await;
    assert_eq!(attached["params"]["targetInfo"]["canAccessOpener"], false);
    let session = text(&attached["params"]["sessionId"]);
    client.catch_up().await;

    let enable = client.send(Some(&session), "Page.enable", json!({})).await;
    let auto = client.send(Some(&session), "Target.setAutoAttach", auto_attach()).await;
    let resume = client.send(Some(&session), "Runtime.runIfWaitingForDebugger", json!({})).await;
    assert_eq!(client.story().await, [format!("reply {auto}"), format!("reply {resume}")]);
    assert_eq!(popup.url(), "");

    // The other client leaves without resuming: that ends its hold, and what was sent before is carried out first.
    drop(other);
    let first = client.next().await;
    assert_eq!(in_short(&first), format!("reply {enable}"));
    client.event("Page.frameNavigated").await;
    assert_eq!(popup.url(), "https://example.com/popup");
}

#[tokio::test]
async fn narrow_auto_attach_holds_opener_popups_that_it_does_not_attach() {
    let browser = MockBrowser::start().await;
    let page = browser.add_page("https://example.com/");
    let mut client = Client::connect(&browser.ws_url()).await;
    let mut narrow = auto_attach();
    narrow["filter"] = json!([]);
    client.call(None, "Target.setAutoAttach", narrow).await;
    let here = json!({"targetId": page.id().as_str(), "flatten": true});
    client.call(None, "Target.attachToTarget", here).await;

    let popup = page.open_popup("https://example.com/popup", Opener::Kept).expect("the page is there");
    let cut = page.open_popup("https://example.com/cut", Opener::Cut).expect("the page is there");
    assert_eq!((popup.url().as_str(), cut.url().as_str()), ("", "https://example.com/cut"));
    let here = json!({"targetId": popup.id().as_str(), "flatten": true});
    let attached = client.call(None, "Target.attachToTarget", here).await;
    let session = text(&attached["sessionId"]);
    client.call(Some(&session), "Runtime.runIfWaitingForDebugger", json!({})).await;
    assert_eq!(popup.url(), "https://example.com/popup");
}

#[tokio::test]
async fn a_thousand_pages_are_attached_in_order() {
    let browser = MockBrowser::start().await;
    for number in 0..1000 {
        browser.add_page(&format!("https://example.com/{number}"));
    }
    let mut client = supervisor(&browser.ws_url()).await;
    for number in 0..1000 {
        let attached = client.event("Target.attachedToTarget").await;
        let url = format!("https://example.com/{number}");
        assert_eq!(attached["params"]["targetInfo"]["url"], url);
    }
    assert_eq!(browser.pages().len(), 1000);
}
