//! The frame tree through every way that frames come, move and go: facts C13 to C25.

use super::*;

impl Bench {
    /// A frame in its parent's process.
    fn child(&mut self, session: &str, frame: &str, parent: &str) {
        self.frame_attached(session, frame, parent);
        self.navigated(session, frame, Some(parent), &format!("https://a/{frame}"));
    }

    fn url_of(&self, frame: &str) -> String {
        let tree = self.view().frame_tree.clone().expect("a tree");
        tree.children.iter().find(|child| child.frame_id.as_str() == frame).expect("a shown frame").url.clone()
    }
}

// --- event sequences, verbatim ---

#[test]
fn a_frame_that_moves_into_its_own_process_keeps_its_place() {
    let mut bench = Bench::with_tab();
    bench.child("S", "O", "T");
    bench.context_created("S", "O", "same-process");
    // C13
    bench.event("S", "Page.frameStartedNavigating", r#"{"frameId":"O","url":"https://b/"}"#);
    bench.target_created("O", "iframe", r#","parentFrameId":"T""#);
    let info = r#"{"targetId":"O","type":"iframe","title":"","url":"","parentId":"T","parentFrameId":"T"}"#;
    let attached = format!(r#"{{"sessionId":"SO","targetInfo":{info},"waitingForDebugger":true}}"#);
    bench.event("S", "Target.attachedToTarget", &attached);
    bench.event("SO", "Runtime.executionContextsCleared", "{}");
    bench.navigated("SO", "O", Some("T"), "https://b/");
    bench.context_created("SO", "O", "own-process");
    bench.frame_detached("S", "O", "swap");
    let destroyed = r#"{"executionContextId":1,"executionContextUniqueId":"same-process"}"#;
    bench.event("S", "Runtime.executionContextDestroyed", destroyed);
    assert_eq!(bench.frames(), ["O@SO<T"]);
    assert_eq!(bench.url_of("O"), "https://b/");
    bench.sent.clear();
    bench.call_in_frame("O", "DOM.getDocument", "{}");
    bench.expect("SO", "DOM.getDocument");
}

#[test]
fn an_oopif_that_navigates_stays_on_its_session() {
    let mut bench = Bench::with_oopif();
    // C14
    bench.child("SO", "INNER", "O");
    for _ in 0..2 {
        bench.event("SO", "Runtime.executionContextsCleared", "{}");
    }
    bench.navigated("SO", "O", Some("T"), "https://c/");
    bench.context_created("SO", "O", "another");
    assert_eq!(bench.frames(), ["O@SO<T"]);
    assert_eq!(bench.url_of("O"), "https://c/");
}

#[test]
fn an_oopif_that_returns_to_its_parents_process_loses_its_session_and_not_its_id() {
    let mut bench = Bench::with_oopif();
    bench.child("SO", "INNER", "O");
    let call = bench.call_on("SO", "Runtime.evaluate");
    // C15
    bench.detached("S", "O", "SO");
    assert_eq!(bench.code(call), "unknown_outcome");
    bench.target_destroyed("O");
    bench.frame_attached("S", "O", "T");
    bench.navigated("S", "O", Some("T"), "https://a/back");
    bench.context_created("S", "O", "u-1");
    assert_eq!(bench.frames(), ["O<T"]);
    bench.sent.clear();
    bench.call_in_frame("O", "Runtime.evaluate", "{}");
    assert_eq!(bench.expect("S", "Runtime.evaluate").param("uniqueContextId"), "u-1");
}

#[test]
fn a_removed_oopif_is_gone_whichever_event_comes_first() {
    for detached_first in [true, false] {
        let mut bench = Bench::with_oopif();
        // C16
        if detached_first {
            bench.detached("S", "O", "SO");
            bench.frame_detached("S", "O", "remove");
        } else {
            bench.frame_detached("S", "O", "remove");
            bench.detached("S", "O", "SO");
        }
        assert_eq!(bench.frames(), [""; 0]);
        assert_eq!(bench.view().sessions.len(), 1);
        bench.expect_nothing_sent();
    }
}

#[test]
fn a_root_that_navigates_away_leaves_no_frame_though_none_was_told_to_be_removed() {
    let mut bench = Bench::with_oopif();
    bench.child("S", "F", "T");
    bench.child("S", "G", "F");
    // C17
    bench.detached("S", "O", "SO");
    bench.event("S", "Runtime.executionContextsCleared", "{}");
    bench.navigated("S", "T", None, "https://b/");
    assert_eq!(bench.frames(), [""; 0]);
    assert_eq!(bench.view().frame_tree.as_ref().expect("a tree").top.url, "https://b/");
}

#[test]
fn a_page_restored_from_the_cache_keeps_the_oopifs_that_came_with_it() {
    let mut bench = Bench::with_oopif();
    // C18
    bench.event("S", "Page.frameStartedNavigating", r#"{"frameId":"T","url":"https://a/"}"#);
    bench.detached("S", "O", "SO");
    bench.attached("S", "R", "SR", "iframe", false, r#","parentFrameId":"T""#);
    bench.event("S", "Runtime.executionContextsCleared", "{}");
    let restored = r#"{"frame":{"id":"T","url":"https://a/"},"type":"BackForwardCacheRestore"}"#;
    bench.event("S", "Page.frameNavigated", restored);
    assert_eq!(bench.frames(), ["R@SR<T"]);
    let tree = bench.expect("S", "Page.getFrameTree");
    let children = r#"[{"frame":{"id":"F","parentId":"T","url":"https://a/f"}}]"#;
    let top = r#"{"id":"T","url":"https://a/"}"#;
    bench.reply(&tree, &format!(r#"{{"frameTree":{{"frame":{top},"childFrames":{children}}}}}"#));
    assert_eq!(bench.frames(), ["R@SR<T", "F<T"], "frames of the page's own process are not told again");
}

#[test]
fn a_crashed_oopif_takes_its_nested_frames_and_stays_itself() {
    let mut bench = Bench::with_oopif();
    bench.oopif("SO", "O", "N", "SN", "PN");
    // C19
    bench.event("SO", "Inspector.targetCrashed", "{}");
    bench.event("SN", "Inspector.targetCrashed", "{}");
    bench.event("", "Target.targetCrashed", r#"{"targetId":"O","status":"crashed","errorCode":133}"#);
    bench.frame_detached("SO", "N", "remove");
    bench.detached("SO", "N", "SN");
    assert_eq!(bench.frames(), ["O@SO<T"]);
    assert_eq!(bench.view().sessions.len(), 2);
}

#[test]
fn a_crashed_page_has_no_frames_and_gets_new_ones_when_it_is_reloaded() {
    let mut bench = Bench::with_oopif();
    // C20
    bench.frame_detached("S", "O", "remove");
    bench.detached("S", "O", "SO");
    bench.event("S", "Inspector.targetCrashed", "{}");
    assert_eq!(bench.frames(), [""; 0]);
    bench.event("S", "Inspector.targetReloadedAfterCrash", "{}");
    bench.navigated("S", "T", None, "https://a/");
    bench.oopif("S", "T", "O2", "SO2", "PO2");
    assert_eq!(bench.frames(), ["O2@SO2<T"]);
}

#[test]
fn a_workers_context_without_aux_data_changes_nothing() {
    let mut bench = Bench::with_tab();
    bench.attached("S", "W", "SW", "worker", true, "");
    bench.event(
        "SW",
        "Runtime.executionContextCreated",
        r#"{"context":{"id":1,"uniqueId":"w","origin":"","name":""}}"#,
    );
    assert_eq!(bench.frames(), [""; 0], "C21");
}

#[test]
fn an_explicitly_closed_session_ends_its_calls_and_is_gone() {
    let mut bench = Bench::with_oopif();
    let call = bench.call_on("SO", "Runtime.evaluate");
    // C22
    bench.event("SO", "Inspector.detached", r#"{"reason":"Render process gone."}"#);
    bench.detached("S", "O", "SO");
    assert_eq!(bench.code(call), "unknown_outcome");
    let later = bench.call_on("SO", "Runtime.evaluate");
    assert_eq!(bench.code(later), "session_gone");
}

// --- the tree across sessions ---

#[test]
fn the_tree_is_the_union_over_all_sessions() {
    let mut bench = Bench::with_oopif();
    bench.child("S", "F", "T");
    bench.child("SO", "INNER", "O");
    bench.oopif("SO", "INNER", "DEEP", "SD", "PD");
    // C23: an OOPIF is missing from its parent's tree, and its own names its parent.
    let restored = r#"{"frame":{"id":"T","url":"https://a/"},"type":"BackForwardCacheRestore"}"#;
    bench.event("S", "Page.frameStartedNavigating", r#"{"frameId":"NOBODY"}"#);
    assert_eq!(bench.frames(), ["O@SO<T", "F<T", "INNER<O", "DEEP@SD<INNER"]);
    bench.event("SO", "Page.frameNavigated", &restored.replace(r#""id":"T""#, r#""id":"O","parentId":"T""#));
    let tree = bench.expect("SO", "Page.getFrameTree");
    bench.reply(&tree, r#"{"frameTree":{"frame":{"id":"O","parentId":"T","url":"https://O/"}}}"#);
    assert_eq!(bench.frames(), ["O@SO<T", "F<T"]);
}

#[test]
fn reading_a_tree_drops_what_the_page_has_no_more_and_keeps_other_sessions_frames() {
    let mut bench = Bench::with_oopif();
    bench.child("S", "STALE", "T");
    bench.event("S", "Inspector.targetReloadedAfterCrash", "{}");
    let tree = bench.expect("S", "Page.getFrameTree");
    bench.reply(&tree, r##"{"frameTree":{"frame":{"id":"T","url":"https://a/","urlFragment":"#x"}}}"##);
    assert_eq!(bench.frames(), ["O@SO<T"]);
    assert_eq!(bench.view().frame_tree.as_ref().expect("a tree").top.url, "https://a/#x");
}

#[test]
fn a_frame_whose_parent_was_never_told_goes_with_the_document_too() {
    let mut bench = Bench::with_tab();
    bench.frame_attached("S", "LOST", "NEVER-SEEN");
    bench.navigated("S", "T", None, "https://b/");
    let call = bench.call_in_frame("LOST", "DOM.getDocument", "{}");
    assert_eq!(bench.error(call).known(), Some(&["T".to_owned()][..]));
}

#[test]
fn frames_are_not_taken_from_a_clients_own_session() {
    let mut bench = Bench::with_tab();
    bench.attached("", "T", "CLIENT", "page", false, "");
    bench.child("S", "F", "T");
    bench.child("CLIENT", "F", "T");
    bench.frame_detached("CLIENT", "F", "remove");
    assert_eq!(bench.frames(), ["F<T"]);
}

#[test]
fn a_navigation_within_the_document_changes_the_address_alone() {
    let mut bench = Bench::with_oopif();
    bench.event("S", "Page.navigatedWithinDocument", r##"{"frameId":"T","url":"https://a/#there"}"##);
    bench.event("SO", "Page.navigatedWithinDocument", r##"{"frameId":"O","url":"https://O/#here"}"##);
    assert_eq!(bench.url_of("O"), "https://O/#here");
    assert_eq!(bench.view().frame_tree.as_ref().expect("a tree").top.url, "https://a/#there");
}

#[test]
fn a_thousand_navigations_leave_nothing_behind() {
    let mut bench = Bench::with_tab();
    for round in 0..1000 {
        let (frame, session) = (format!("F{round}"), format!("S{round}"));
        bench.frame_attached("S", &format!("child-{round}"), "T");
        bench.context_created("S", &format!("child-{round}"), &format!("u-{round}"));
        bench.oopif("S", "T", &frame, &session, "PO");
        bench.detached("S", &frame, &session);
        bench.target_destroyed(&frame);
        bench.event("S", "Runtime.executionContextsCleared", "{}");
        bench.navigated("S", "T", None, "https://a/");
        bench.answer_set_up("S", "T", "P");
    }
    let known = bench.call_in_frame("NONE", "DOM.getDocument", "{}");
    assert_eq!(bench.error(known).known().map(<[String]>::len), Some(1));
    assert_eq!((bench.core.sessions.len(), bench.core.targets.len()), (1, 1));
    assert_eq!((bench.core.in_flight(), bench.core.poll_timeout()), (0, None));
}

// --- frame_id routing ---

#[test]
fn a_call_into_an_oopif_goes_to_its_session_and_one_to_the_top_to_the_tabs() {
    let mut bench = Bench::with_oopif();
    bench.call_in_frame("O", "Accessibility.getFullAXTree", "{}");
    bench.expect("SO", "Accessibility.getFullAXTree");
    bench.call_in_frame("T", "Page.captureScreenshot", "{}");
    bench.expect("S", "Page.captureScreenshot");
}

#[test]
fn an_evaluate_reaches_a_same_process_frame_by_its_context() {
    let mut bench = Bench::with_oopif();
    bench.child("SO", "INNER", "O");
    bench.context_created("SO", "INNER", "7.8");
    bench.call_in_frame("INNER", "Runtime.evaluate", r#"{"expression":"'\ud800'"}"#);
    let sent = bench.expect("SO", "Runtime.evaluate");
    assert_eq!(sent.params, r#"{"uniqueContextId":"7.8","expression":"'\ud800'"}"#, "C25");
}

#[test]
fn another_world_of_a_frame_does_not_take_its_main_ones_place() {
    let mut bench = Bench::with_tab();
    bench.child("S", "F", "T");
    bench.context_created("S", "F", "main");
    let isolated = r#"{"context":{"id":2,"uniqueId":"isolated","auxData":{"isDefault":false,"frameId":"F"}}}"#;
    bench.event("S", "Runtime.executionContextCreated", isolated);
    bench.call_in_frame("F", "Runtime.evaluate", "{}");
    assert_eq!(bench.expect("S", "Runtime.evaluate").param("uniqueContextId"), "main");
}

#[test]
fn what_cannot_be_routed_into_a_same_process_frame_is_frame_in_process() {
    let mut bench = Bench::with_tab();
    bench.child("S", "F", "T");
    let evaluate = bench.call_in_frame("F", "Runtime.evaluate", "{}");
    assert_eq!(bench.code(evaluate), "frame_in_process", "its context is not known yet");
    bench.context_created("S", "F", "u-1");
    let document = bench.call_in_frame("F", "DOM.getDocument", "{}");
    assert_eq!(bench.code(document), "frame_in_process");
    assert!(bench.error(document).to_string().contains("contentWindow / contentDocument"));
    bench.event("S", "Runtime.executionContextsCleared", "{}");
    let cleared = bench.call_in_frame("F", "Runtime.evaluate", "{}");
    assert_eq!(bench.code(cleared), "frame_in_process");
}

#[test]
fn an_unknown_frame_lists_the_known_ones() {
    let mut bench = Bench::with_oopif();
    bench.child("S", "F", "T");
    let call = bench.call_in_frame("X", "Runtime.evaluate", "{}");
    assert_eq!(bench.code(call), "unknown_frame");
    assert_eq!(bench.error(call).known(), Some(&["T".to_owned(), "O".to_owned(), "F".to_owned()][..]));
}

#[test]
fn a_frame_of_a_tab_behind_the_current_one_is_reached() {
    let mut bench = Bench::with_tab();
    bench.tab("T2", "S2", "P2");
    bench.oopif("S2", "T2", "O2", "SO2", "PO2");
    bench.call_in_frame("O2", "DOM.getDocument", "{}");
    bench.expect("SO2", "DOM.getDocument");
}
