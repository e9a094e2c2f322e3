//! What the outside sees: the contract's section 3, to the letter.

use super::*;

/// The state that the contract's example shows, reached by events.
fn example() -> Bench {
    let mut bench = Bench::own();
    bench.target_created("FRAME_A", "page", "");
    bench.attached("", "FRAME_A", "SID", "page", false, "");
    bench.answer_set_up("SID", "FRAME_A", "P");
    let top = r#"{"id":"FRAME_A","url":"https://example.com/","securityOrigin":"https://example.com"}"#;
    bench.event("SID", "Page.frameNavigated", &format!(r#"{{"frame":{top},"type":"Navigation"}}"#));
    bench.frame_attached("SID", "FRAME_B", "FRAME_A");
    bench.navigated("SID", "FRAME_B", Some("FRAME_A"), "about:srcdoc");
    let info = r#"{"targetId":"FRAME_C","type":"iframe","title":"","url":"","parentFrameId":"FRAME_A"}"#;
    let attached = format!(r#"{{"sessionId":"SID_C","targetInfo":{info},"waitingForDebugger":true}}"#);
    bench.event("SID", "Target.attachedToTarget", &attached);
    bench.navigated("SID_C", "FRAME_C", Some("FRAME_A"), "https://ads.example.net/");
    bench.answer_set_up("SID_C", "FRAME_C", "PC");
    bench.answer_set_up("SID", "FRAME_A", "P");
    bench
}

#[test]
fn state_is_printed_as_the_contract_shows_it() {
    let mut bench = example();
    bench.opening("SID", "FRAME_A", "confirm", "...");
    bench.pass(ms(100));
    bench.closed("SID", "FRAME_A");
    bench.opening("SID", "FRAME_A", "alert", "Hello");
    let expected = concat!(
        r#"{"pending_dialogs":[{"id":"d-2","type":"alert","message":"Hello","default_prompt":"","#,
        r#""opened_at":1650000000.1,"session_id":"SID","frame_id":"FRAME_A"}],"#,
        r#""recent_dialogs":[{"id":"d-1","type":"confirm","message":"...","opened_at":1650000000.0,"#,
        r#""closed_at":1650000000.1,"closed_by":"remote"}],"#,
        r#""frame_tree":{"top":{"frame_id":"FRAME_A","url":"https://example.com/","origin":"https://example.com"},"#,
        r#""children":[{"frame_id":"FRAME_B","url":"about:srcdoc","is_oopif":false,"parent_frame_id":"FRAME_A"},"#,
        r#"{"frame_id":"FRAME_C","url":"https://ads.example.net/","is_oopif":true,"session_id":"SID_C","#,
        r#""parent_frame_id":"FRAME_A"}],"truncated":false},"#,
        r#""console":[],"policy":{"dialog_policy":"must_respond","dialog_timeout_s":300.0,"dialog_bridge":"auto","bridged":true},"#,
        r#""sessions":[{"session_id":"SID","target_id":"FRAME_A","type":"page"},"#,
        r#"{"session_id":"SID_C","target_id":"FRAME_C","type":"iframe"}],"active":true}"#,
    );
    assert_eq!(&*bench.view().state_json(), expected);
}

#[test]
fn what_belongs_to_the_supervisor_is_absent_while_none_is_attached() {
    let mut bench = Bench::unconnected();
    bench.input(Input::Tick);
    let expected = r#"{"console":[],"policy":{"dialog_policy":"must_respond","dialog_timeout_s":300.0,"dialog_bridge":"auto","bridged":false},"sessions":[],"active":false}"#;
    assert_eq!(&*bench.view().state_json(), expected);
    let mut bench = example();
    bench.lose_connection();
    assert_eq!(&*bench.view().state_json(), expected);
}

#[test]
fn two_reads_of_one_state_are_the_same_bytes() {
    let bench = example();
    let (first, second) = (bench.view().state_json(), bench.view().state_json());
    assert!(Arc::ptr_eq(&first, &second));
}

#[test]
fn reading_the_same_state_built_twice_gives_the_same_bytes() {
    let mut again = example();
    again.input(Input::StartTask {
        task: TaskId::default_task(),
        policy: DialogPolicy::MustRespond,
        dialog_timeout: DIALOG_TIMEOUT,
        quiet: false,
        dialog_bridge: DialogBridge::Auto,
        dialogs_before: 0,
    });
    assert_eq!(again.view().state_json(), example().view().state_json());
}

#[test]
fn a_view_once_published_never_changes() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "alert", "");
    let view = Arc::clone(&bench.views[&TaskId::default_task()]);
    bench.closed("S", "T");
    bench.lose_connection();
    assert_eq!(view.pending_dialogs.len(), 1);
    assert!(view.pending_dialogs[0].answerable);
}

#[test]
fn a_view_comes_before_the_outcome_that_it_explains() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "confirm", "");
    bench.accept();
    let sent = bench.expect("S", "Page.handleJavaScriptDialog");
    let reply = format!(r#"{{"id":{},"result":{{}}}}"#, sent.id);
    bench.core.handle_input(bench.now, Input::Message(Bytes::from(reply)));
    let Some(Effect::Publish(view)) = bench.core.poll_effect() else { unreachable!("the view comes first") };
    assert!(view.pending_dialogs.is_empty());
    assert!(matches!(bench.core.poll_effect(), Some(Effect::Finish(_, Ok(_)))));
}

#[test]
fn what_changes_nothing_that_is_shown_publishes_nothing() {
    let mut bench = Bench::with_tab();
    bench.views.clear();
    for method in ["Network.requestWillBeSent", "Some.event", "Runtime.executionContextsCleared"] {
        bench.event("S", method, "{}");
    }
    let call = bench.call("Runtime.evaluate");
    let sent = bench.expect("S", "Runtime.evaluate");
    bench.reply(&sent, "{}");
    assert_eq!(bench.result(call), "{}");
    assert!(bench.views.is_empty());
}

#[test]
fn unknown_events_fields_and_types_change_nothing() {
    let mut bench = example();
    let before = bench.view().state_json();
    for (session, method, params) in [
        ("SID", "Page.somethingNew", r#"{"frameId":"FRAME_A"}"#),
        ("", "Target.somethingNew", "[]"),
        ("NOBODY", "Page.frameNavigated", r#"{"frame":{"id":"FRAME_A","url":"https://evil/"}}"#),
        ("SID", "Page.frameNavigated", r#"{"frame":{"id":7}}"#),
        ("SID", "Page.frameNavigated", "null"),
        ("SID", "Page.frameAttached", r#"{"frameId":"X"}"#),
        ("SID", "Page.frameDetached", r#"{"frameId":"NOBODY","reason":"brand-new"}"#),
        ("SID", "Page.javascriptDialogOpening", r#"{"frameId":{}}"#),
        ("SID", "Page.javascriptDialogClosed", r#"{"frameId":"NOBODY"}"#),
        ("SID_C", "Page.javascriptDialogOpening", r#"{"frameId":"FRAME_C","type":"alert","message":""}"#),
        ("SID", "Runtime.executionContextCreated", r#"{"context":{"id":"text"}}"#),
        ("SID", "Runtime.consoleAPICalled", r#"{"type":"brand-new"}"#),
        ("", "Target.attachedToTarget", r#"{"targetInfo":{}}"#),
        ("", "Target.detachedFromTarget", r#"{"sessionId":"NOBODY"}"#),
        ("", "Target.targetDestroyed", r#"{"targetId":"NOBODY"}"#),
        ("", "Inspector.targetCrashed", "{}"),
    ] {
        bench.event(session, method, params);
        assert_eq!(bench.view().state_json(), before, "{method} {params}");
    }
    for garbage in ["", "null", "[]", "{}", r#"{"id":-1}"#, r#"{"method":7}"#, "\u{0}"] {
        bench.message(garbage);
    }
    bench.event(
        "SID",
        "Page.frameNavigated",
        r#"{"new":[1],"frame":{"id":"FRAME_B","parentId":"FRAME_A","url":"about:srcdoc","new":{}},"type":"BrandNew"}"#,
    );
    assert_eq!(bench.view().state_json(), before);
    bench.expect_nothing_sent();
}

#[test]
fn dialogs_are_named_as_one_says_it() {
    for (kind, words) in [("alert", "an alert dialog"), ("confirm", "a confirm dialog")] {
        let mut bench = Bench::with_tab();
        bench.opening("S", "T", kind, "");
        let blocked = bench.call("Runtime.evaluate");
        assert!(bench.error(blocked).to_string().starts_with(words));
    }
}

#[test]
fn a_dialog_of_a_new_type_is_shown_as_unknown_and_can_be_answered() {
    let mut bench = Bench::with_tab();
    bench.opening("S", "T", "brand-new", "?");
    let state = bench.view().state_json();
    assert!(state.contains(r#""id":"d-1","type":"unknown""#) && !state.contains("answerable"), "{state}");
    let blocked = bench.call("Runtime.evaluate");
    let told = bench.error(blocked).to_string();
    assert!(told.contains("a type that ostler does not know (d-1: \"?\")"), "{told}");
    bench.accept();
    bench.expect("S", "Page.handleJavaScriptDialog");
}

#[test]
fn the_raw_parameters_of_the_current_tabs_oldest_dialog_are_kept_as_they_came() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    bench.opening("S2", "T2", "alert", "elsewhere");
    assert_eq!(bench.view().current_dialog_params, None);
    let raw = r#"{ "frameId" : "T", "message":"\ud800", "type":"alert", "new":1 }"#;
    bench.event("S", "Page.javascriptDialogOpening", raw);
    assert_eq!(bench.view().current_dialog_params.as_deref(), Some(raw.as_bytes()));
}

#[test]
fn console_entries_name_their_frame_and_only_the_newest_stay() {
    let mut bench = Bench::with_oopif();
    bench.context_created("S", "T", "u-1");
    for number in 0..60 {
        let params = format!(
            r#"{{"type":"error","args":[{{"type":"string","value":"e{number}"}}],"executionContextId":1,"timestamp":1500.0}}"#
        );
        bench.event("S", "Runtime.consoleAPICalled", &params);
    }
    let entry = r#"{"entry":{"source":"network","level":"error","text":"404","timestamp":2500.0,"url":"https://a/x"}}"#;
    bench.event("SO", "Log.entryAdded", entry);
    let console = &bench.view().console;
    assert_eq!((console.len(), console[0].text.as_str()), (50, "e11"));
    assert_eq!(console[0].frame_id, Some(FrameId::from("T")));
    let last = console.last().expect("an entry");
    assert_eq!((last.text.as_str(), last.ts, last.frame_id.clone()), ("404", 2.5, Some(FrameId::from("O"))));
}

#[test]
fn titles_and_addresses_follow_the_tab() {
    let mut bench = Bench::with_tab();
    let info = r#"{"targetInfo":{"targetId":"T","type":"page","title":"a\ud800","url":"https://a/2"}}"#;
    bench.event("", "Target.targetInfoChanged", info);
    let tab = bench.view().current_tab().expect("a current tab");
    assert_eq!((tab.title.as_str(), tab.url.as_str()), ("a\u{fffd}", "https://a/2"));
}

#[test]
fn a_title_that_was_read_after_the_document_came_is_asked_for() {
    let mut bench = Bench::with_tab();
    bench.answer_set_up("S", "T", "P");
    let told = |title: &str, url: &str| {
        format!(r#"{{"targetInfo":{{"targetId":"T","type":"page","title":"{title}","url":"{url}"}}}}"#)
    };
    bench.event("", "Target.targetInfoChanged", &told("a/2", "https://a/2"));
    bench.event("S", "Page.domContentEventFired", r#"{"timestamp":1.0}"#);
    let asked = bench.expect("", "Target.getTargetInfo");
    assert_eq!(asked.param("targetId"), "T");
    bench.reply(&asked, &told("Second", "https://a/2"));
    assert_eq!(bench.view().current_tab().expect("a current tab").title, "Second");

    // An answer that was overtaken by the next document is about the one before.
    bench.event("S", "Page.loadEventFired", r#"{"timestamp":2.0}"#);
    let asked = bench.expect("", "Target.getTargetInfo");
    bench.event("", "Target.targetInfoChanged", &told("a/3", "https://a/3"));
    bench.reply(&asked, &told("Second", "https://a/2"));
    let tab = bench.view().current_tab().expect("a current tab").clone();
    assert_eq!((tab.title.as_str(), tab.url.as_str()), ("a/3", "https://a/3"));
}
