//! Each `meta` request: its reply to the byte, and what it asked of the tasks.

use bytes::Bytes;
use ostler_core::view::{Arrival, TabState, TabView};
use ostler_core::{SessionId, TargetId};

use super::fake_tasks::Script;
use super::{Client, assert_error};

const SUMMARY: &str = r#""browser_kind":"local","browser":"found","active":true,"tabs":2,"pending_dialogs":1}"#;

/// Publishes a view in which the current tab is `T1`, attached or not.
fn publish_tab(script: &Script, session: Option<&str>) {
    script.publish(|view| {
        view.current = Some(TargetId::from("T1"));
        view.current_session = session.map(SessionId::from);
        view.tabs = [TabView {
            number: 1,
            target_id: TargetId::from("T1"),
            session_id: view.current_session.clone(),
            url: "https://example.com/".to_owned(),
            title: "An \"example\"".to_owned(),
            state: TabState::Ready,
            arrival: Arrival::None,
        }]
        .into();
    });
}

const TAB: &str = r#"{"targetId":"T1","url":"https://example.com/","title":"An \"example\""}"#;

#[tokio::test]
async fn ping_says_which_daemon_is_there() {
    let (mut client, _script) = Client::connect();
    let expected = format!(
        r#"{{"id":1,"pong":true,"pid":{},"browser_kind":"local","version":"{}"}}"#,
        std::process::id(),
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(client.ask(r#"{"id":1,"meta":"ping","token":"old"}"#).await, expected);
}

#[tokio::test]
async fn session_is_the_current_tabs_and_attaches_only_when_there_is_none() {
    let (mut client, script) = Client::connect();
    assert_eq!(client.ask(r#"{"meta":"session"}"#).await, r#"{"session_id":"attached"}"#);
    assert_eq!(script.asked(), ["current_session"]);
    publish_tab(&script, Some("S1"));
    assert_eq!(client.ask(r#"{"meta":"session"}"#).await, r#"{"session_id":"S1"}"#);
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn set_session_takes_a_session_or_a_target() {
    let (mut client, script) = Client::connect();
    assert_eq!(client.ask(r#"{"meta":"set_session","session_id":"S"}"#).await, r#"{"session_id":"S9"}"#);
    assert_eq!(client.ask(r#"{"meta":"set_session","target_id":"T","task":"a"}"#).await, r#"{"session_id":"S9"}"#);
    assert_eq!(script.asked(), ["set_session default Some(SessionId(S)) None", "set_session a None Some(TargetId(T))"]);
    assert_error(&client.ask(r#"{"meta":"set_session","session_id":null}"#).await, "bad_request", "`session_id`");
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn current_tab_is_asked_of_the_browser_and_else_answered_from_what_is_known() {
    let (mut client, mut script) = Client::connect();
    publish_tab(&script, Some("S1"));
    client.send(r#"{"meta":"current_tab"}"#).await;
    let call = script.call().await;
    assert_eq!((call.request.method.as_str(), call.params()), ("Target.getTargetInfo", r#"{"targetId":"T1"}"#));
    call.succeed(r#"{"targetInfo":{"targetId":"T1","url":"https://example.com/new","title":"\ud800"}}"#);
    let fresh = "{\"targetId\":\"T1\",\"url\":\"https://example.com/new\",\"title\":\"\u{fffd}\"}";
    assert_eq!(client.line().await, fresh);

    client.send(r#"{"meta":"current_tab"}"#).await;
    script.call().await.succeed("{}");
    assert_eq!(client.line().await, TAB);
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn current_tab_attaches_when_there_is_none_and_says_when_it_went_away() {
    let (mut client, mut script) = Client::connect();
    client.send(r#"{"meta":"current_tab"}"#).await;
    script.call().await.succeed("{}");
    assert_error(&client.line().await, "session_gone", "tab T1");
    assert_eq!(script.asked(), ["current_session"]);
}

#[tokio::test]
async fn connection_status_never_attaches() {
    let (mut client, mut script) = Client::connect();
    let ask = r#"{"meta":"connection_status"}"#;
    assert_eq!(client.ask(ask).await, r#"{"target_id":null,"session_id":null,"page":null}"#);
    publish_tab(&script, None);
    assert_eq!(client.ask(ask).await, r#"{"target_id":"T1","session_id":null,"page":null}"#);
    publish_tab(&script, Some("S1"));
    client.send(ask).await;
    script.call().await.succeed("{}");
    assert_eq!(client.line().await, format!(r#"{{"target_id":"T1","session_id":"S1","page":{TAB}}}"#));
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn connection_status_that_need_not_be_fresh_asks_no_browser() {
    let (mut client, mut script) = Client::connect();
    publish_tab(&script, Some("S1"));
    let reply = client.ask(r#"{"meta":"connection_status","fresh":false}"#).await;
    assert_eq!(reply, format!(r#"{{"target_id":"T1","session_id":"S1","page":{TAB}}}"#));
    assert!(script.call_now().is_none());
    let error = client.ask(r#"{"meta":"connection_status","fresh":"no"}"#).await;
    assert_error(&error, "bad_request", "`fresh`");
}

#[tokio::test]
async fn pending_dialog_is_the_browsers_own_words_on_one_line() {
    let (mut client, script) = Client::connect();
    assert_eq!(client.ask(r#"{"meta":"pending_dialog"}"#).await, r#"{"dialog":null}"#);
    script.publish(|view| {
        view.current_dialog_params = Some(Bytes::from_static(b"{\"message\":\"\\ud800\",\n\"type\":\"alert\"}"));
    });
    assert_eq!(
        client.ask(r#"{"id":2,"meta":"pending_dialog"}"#).await,
        r#"{"id":2,"dialog":{"message":"\ud800","type":"alert"}}"#
    );
}

#[tokio::test]
async fn state_is_byte_for_byte_the_same_twice() {
    let (mut client, script) = Client::connect();
    script.publish(|view| view.active = true);
    let first = client.ask(r#"{"meta":"state"}"#).await;
    assert!(first.starts_with(r#"{"state":{"pending_dialogs":[],"#), "{first}");
    assert!(first.ends_with(r#""active":true}}"#), "{first}");
    assert_eq!(client.ask(r#"{"meta":"state","task":"default"}"#).await, first);
}

#[tokio::test]
async fn an_unknown_task_is_named_with_the_known_ones() {
    let (mut client, _script) = Client::connect();
    for meta in ["state", "session", "pending_dialog", "events", "subscribe", "disconnect"] {
        let error = client.ask(&format!(r#"{{"meta":"{meta}","task":"b"}}"#)).await;
        assert_error(&error, "unknown_task", "no task b");
        assert!(error.contains(r#""known":["default"]"#), "{error}");
    }
}

#[tokio::test]
async fn dialog_passes_its_answer_on_with_the_text_as_it_was_written() {
    let (mut client, script) = Client::connect();
    let closed = concat!(
        r#"{"ok":true,"dialog":{"id":"d-3","type":"confirm","message":"Sure?","#,
        r#""opened_at":1.5,"closed_at":2.5,"closed_by":"agent"}}"#
    );
    let accept = r#"{"meta":"dialog","action":"accept","prompt_text":"a\ud800","dialog_id":"d-3","task":"t"}"#;
    assert_eq!(client.ask(accept).await, closed);
    assert_eq!(client.ask(r#"{"meta":"dialog","action":"dismiss"}"#).await, closed);
    assert_eq!(client.ask(r#"{"meta":"dialog","action":"accept","prompt_text":""}"#).await, closed);
    assert_eq!(
        script.asked(),
        [
            r#"answer_dialog t true Some(b"\"a\\ud800\"") Some("d-3")"#,
            "answer_dialog default false None None",
            r#"answer_dialog default true Some(b"\"\"") None"#,
        ]
    );
    for (rest, field) in [
        ("", "`action`: is missing"),
        (r#","action":"ok""#, "`action`"),
        (r#","action":"accept","prompt_text":5"#, "`prompt_text`"),
        (r#","action":"accept","dialog_id":3"#, "`dialog_id`"),
    ] {
        assert_error(&client.ask(&format!(r#"{{"meta":"dialog"{rest}}}"#)).await, "bad_request", field);
    }
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn connect_names_a_browser_launches_one_or_takes_the_default() {
    let (mut client, script) = Client::connect();
    let bound = |task| format!(r#"{{"ok":true,"task":{{"task":"{task}",{SUMMARY}}}"#);
    assert_eq!(client.ask(r#"{"meta":"connect"}"#).await, bound("default"));
    let url = r#"{"meta":"connect","task":"a","cdp_url":"WSS://h/?k=v","dialog_policy":"auto_accept","dialog_timeout_s":0.5,"dialog_bridge":"always"}"#;
    assert_eq!(client.ask(url).await, bound("a"));
    let launch = r#"{"meta":"connect","launch":{"headed":true,"flags":["--x"],"executable":"/bin/c"}}"#;
    assert_eq!(client.ask(launch).await, bound("default"));
    assert_eq!(client.ask(r#"{"meta":"connect","launch":{},"quiet":true}"#).await, bound("default"));
    let cloud = r#"{"meta":"connect","cloud":{"provider":"browserbase","api_key":"k","options":{"timeout":60}}}"#;
    assert_eq!(client.ask(cloud).await, bound("default"));
    assert_eq!(client.ask(r#"{"meta":"connect","browser":" Edge "}"#).await, bound("default"));
    assert_eq!(client.ask(r#"{"meta":"connect","profile":"/no/such"}"#).await, bound("default"));
    assert_eq!(
        script.asked(),
        [
            "connect default default None None",
            "connect a wss://h/?k=v Some(AutoAccept) Some(0.5) Always",
            r#"connect default launch Some(true) ["--x"] Some("/bin/c") None None"#,
            "connect default launch None [] None None None quiet true",
            r#"connect default cloud browserbase Some("k") None {"timeout": Number(60)} None None"#,
            r#"connect default Browser("Edge") None None"#,
            r#"connect default Profile("/no/such") None None"#,
        ]
    );
}

#[tokio::test]
async fn connect_names_what_is_wrong_and_never_repeats_a_url() {
    let (mut client, script) = Client::connect();
    for (rest, field) in [
        (r#""cdp_url":"ftp://SECRET""#, "`cdp_url`: must be a ws://"),
        (r#""cdp_url":"SECRET""#, "`cdp_url`"),
        (r#""cdp_url":"éééSECRET""#, "`cdp_url`"),
        (r#""cdp_url":"ws://""#, "`cdp_url`"),
        (r#""cdp_url":["SECRET"]"#, "`cdp_url`"),
        (r#""cdp_url":"ws://SECRET","launch":{}"#, "`launch`: cannot stand beside"),
        (r#""cdp_url":"ws://SECRET","cloud":{}"#, "`cloud`: cannot stand beside"),
        (r#""launch":{},"cloud":{"api_key":"SECRET"}"#, "`cloud`: cannot stand beside"),
        (r#""cloud":{"api_key":"SECRET"}"#, "`cloud.provider`: is missing"),
        (r#""cloud":{"provider":"x","api_key":"SECRET"}"#, "`cloud.provider`: must be"),
        (r#""cloud":{"provider":"browserbase","api_key":["SECRET"]}"#, "`cloud.api_key`: must be a string"),
        (r#""cloud":{"provider":"browserbase","options":"SECRET"}"#, "`cloud.options`: must be an object"),
        (r#""cdp_url":"ws://SECRET","browser":"edge""#, "`browser`: cannot stand beside `cdp_url`"),
        (r#""launch":{},"profile":"/x""#, "`profile`: cannot stand beside `launch`"),
        (r#""browser":"edge","profile":"/x""#, "`profile`: cannot stand beside `browser`"),
        (r#""browser":"firefox""#, "`browser`: \"firefox\" is no browser that ostler knows; there are: chrome, "),
        (r#""profile":"Default""#, "`profile`: must be an absolute path"),
        (r#""launch":true"#, "`launch`: must be an object"),
        (r#""launch":{"headed":1}"#, "`launch.headed`"),
        (r#""launch":{"flags":"--x"}"#, "`launch.flags`"),
        (r#""launch":{"executable":""}"#, "`launch.executable`"),
        (r#""launch":{"profile":"../x"}"#, "`launch.profile`"),
        (r#""cdp_url":"ws://SECRET","dialog_policy":"sometimes""#, "`dialog_policy`"),
        (r#""cdp_url":"ws://SECRET","dialog_timeout_s":0"#, "`dialog_timeout_s`"),
        (r#""quiet":"yes""#, "`quiet`"),
        (r#""cdp_url":"ws://SECRET","dialog_bridge":true"#, "`dialog_bridge`: must be \"auto\""),
        (r#""dialog_timeout_s":86401"#, "`dialog_timeout_s`"),
        (r#""dialog_timeout_s":1e999"#, "`dialog_timeout_s`"),
        (r#""cdp_url":"ws://SECRET","cdp_url":"ws://SECRET""#, "duplicate field `cdp_url`"),
    ] {
        let error = client.ask(&format!(r#"{{"meta":"connect",{rest}}}"#)).await;
        assert_error(&error, "bad_request", field);
        assert!(!error.contains("SECRET"), "{error}");
    }
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn the_console_is_fetched_before_it_is_told() {
    let (mut client, script) = Client::connect();
    assert_eq!(client.ask(r#"{"meta":"console"}"#).await, r#"{"console":[]}"#);
    assert_eq!(script.asked(), ["fetch_console default"]);
    assert_error(&client.ask(r#"{"meta":"console","task":"a"}"#).await, "unknown_task", "default");
}

#[tokio::test]
async fn disconnect_interrupt_and_tasks_reply_as_promised() {
    let (mut client, script) = Client::connect();
    let task = format!(r#"{{"task":"default",{SUMMARY}"#);
    assert_eq!(client.ask(r#"{"meta":"disconnect"}"#).await, format!(r#"{{"ok":true,"task":{task}}}"#));
    assert_eq!(client.ask(r#"{"meta":"interrupt","task":"a"}"#).await, r#"{"ok":true}"#);
    assert_eq!(client.ask(r#"{"meta":"tasks"}"#).await, format!(r#"{{"tasks":[{task}]}}"#));
    assert_eq!(script.asked(), ["disconnect default", "interrupt a"]);
}

#[tokio::test]
async fn an_overview_shows_all_of_a_task_and_waits_for_news_when_told_what_was_seen() {
    let (mut client, script) = Client::connect();
    script.publish(|view| view.active = true);
    script.events().happen("Page.a", "{}", None);
    script.events().overflow();
    script.events().happen("Page.b", "{}", None);
    let first = client.ask(r#"{"meta":"overview"}"#).await;
    let read = |reply: &str| serde_json::from_str::<serde_json::Value>(reply).expect("JSON");
    let task = &read(&first)["tasks"][0];
    assert!(script.asked().is_empty() && task.get("answers").is_none(), "no browser is asked unbidden");
    client.ask(r#"{"meta":"overview","ask_browser_ms":20}"#).await;
    assert_eq!(script.asked(), ["answers default 20ms"]);
    assert_error(&client.ask(r#"{"meta":"overview","ask_browser_ms":0}"#).await, "bad_request", "ask_browser_ms");
    assert_eq!((&task["task"], &task["events"], &task["lost"]), (&"default".into(), &2.into(), &1.into()));
    assert_eq!((&task["frames"], &task["state"]["active"]), (&0.into(), &true.into()));
    assert_eq!(read(&first)["next"], 2);

    // What is old already is answered at once, and what is new as soon as it is there.
    let at_once = client.ask(r#"{"meta":"overview","seen":1,"wait_ms":60000}"#).await;
    assert_eq!(read(&at_once), read(&first));
    client.send(r#"{"meta":"overview","seen":2,"wait_ms":60000}"#).await;
    script.events().waited_for().await;
    script.events().happen("Page.c", "{}", None);
    assert_eq!(read(&client.line().await)["next"], 3);
    // Without news the answer comes when the time is over.
    assert_eq!(read(&client.ask(r#"{"meta":"overview","seen":3,"wait_ms":1}"#).await)["next"], 3);
    assert_error(&client.ask(r#"{"meta":"overview","wait_ms":60001}"#).await, "bad_request", "wait_ms");
}

#[tokio::test]
async fn shutdown_is_asked_for_once_its_reply_is_written() {
    let (mut client, script) = Client::connect();
    assert!(!script.is_shutdown_requested());
    assert_eq!(client.ask(r#"{"id":1,"meta":"shutdown"}"#).await, r#"{"id":1,"ok":true}"#);
    script.shutdown_requested().await;
    client.closed().await;
}

#[tokio::test]
async fn shutdown_holds_for_a_client_that_does_not_wait_for_the_reply() {
    let (mut client, script) = Client::connect();
    client.send(r#"{"meta":"shutdown"}"#).await;
    client.vanish().await;
    script.shutdown_requested().await;
}

#[tokio::test]
async fn a_meta_request_has_at_most_64_fields() {
    let (mut client, _script) = Client::connect();
    let extra = |count: usize| (0..count).map(|n| format!(r#","x{n}":0"#)).collect::<String>();
    assert!(client.ask(&format!(r#"{{"meta":"ping"{}}}"#, extra(63))).await.contains("pong"));
    let error = client.ask(&format!(r#"{{"meta":"ping"{}}}"#, extra(64))).await;
    assert_error(&error, "bad_request", "more than 64 fields");
}

#[tokio::test]
async fn endpoint_says_whether_the_browser_can_be_reached_or_when_that_changed() {
    let (mut client, script) = Client::connect();
    assert_eq!(client.ask(r#"{"meta":"endpoint"}"#).await, r#"{"reachable":true}"#);
    assert_eq!(client.ask(r#"{"meta":"endpoint","task":"a","unlike":true}"#).await, r#"{"reachable":false}"#);
    assert_eq!(script.asked(), ["reachable default None", "reachable a Some(true)"]);
    assert_error(&client.ask(r#"{"meta":"endpoint","unlike":1}"#).await, "bad_request", "`unlike`");
}
