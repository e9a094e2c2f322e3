//! Scripts that ask in a loop: how they are told from pages that ask often, and what is told of them.

use super::*;

const PROBE: &str = "Runtime.evaluate";

impl Bench {
    /// The page asks, and the policy's answer arrives.
    #[track_caller]
    fn asks_and_is_answered(&mut self) {
        self.opening("S", "T", "alert", "again");
        self.answer_arrives("S");
        self.pass(ms(10));
    }

    /// The same again and again, for so long.
    fn asks_for(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.asks_and_is_answered();
        }
    }

    fn under(policy: DialogPolicy) -> Self {
        let mut bench = Self::with_tab();
        bench.start_task("default", policy);
        bench
    }
}

#[test]
fn calls_behind_a_script_that_asks_on_and_on_under_a_policy_end_soon_and_say_so() {
    for policy in [DialogPolicy::AutoAccept, DialogPolicy::AutoDismiss] {
        let mut bench = Bench::under(policy);
        let call = bench.call("DOM.getDocument");
        bench.asks_for(ms(4900));
        assert!(bench.is_waiting(call), "it may still end");
        bench.asks_for(ms(200));
        assert_eq!(bench.code(call), "dialog_open");
        let said = bench.error(call).sentence(crate::Words::Tools);
        assert!(said.contains("a script asks again and again without ending: "), "{said}");
        assert!(said.contains("dialogs in a row were answered by the dialog policy"), "{said}");
        assert!(said.contains("stop the script with browser_cdp and Runtime.terminateExecution"), "{said}");

        let late = bench.call("Input.dispatchMouseEvent");
        assert_eq!(bench.code(late), "dialog_open", "nothing waits for what is known never to come");
        assert!(bench.error(late).to_string().contains("so the call was not sent"));
        let tab = bench.call("Page.getNavigationHistory");
        bench.expect("S", "Page.getNavigationHistory");
        let stop = bench.call("Runtime.terminateExecution");
        bench.expect("S", "Runtime.terminateExecution");
        assert!(
            bench.is_waiting(tab) && bench.is_waiting(stop),
            "what the browser answers, and what helps, goes through"
        );
    }
}

#[test]
fn a_script_that_has_asked_a_lot_and_works_on_is_waited_for_as_any_other() {
    for asked_for in [ms(300), ms(6000)] {
        let mut bench = Bench::under(DialogPolicy::AutoAccept);
        bench.asks_for(asked_for);
        bench.pass(ms(1100));
        let call = bench.client_call("DOM.getDocument");
        let call = bench.make(ClientCall { timeout: ms(3000), ..call });
        bench.expect("S", "DOM.getDocument");
        bench.pass(ms(2800));
        let standing = bench.expect("S", "Page.getNavigationHistory");
        bench.reply(&standing, "{}");
        bench.pass(ms(200));
        assert_eq!(bench.code(call), "timeout", "{asked_for:?}");
        let said = bench.error(call).to_string();
        assert!(!said.contains("asks again and again"), "{said}");
        assert!(said.contains("a script has kept the page busy for at least 3"), "{said}");
        assert_eq!(bench.tab_state("T"), TabState::Hung, "{asked_for:?}");
    }
}

#[test]
fn a_page_that_asks_often_and_answers_in_between_is_not_taken_for_one_that_asks_in_a_loop() {
    let mut bench = Bench::under(DialogPolicy::AutoAccept);
    let call = bench.call("DOM.getDocument");
    for _ in 0..200 {
        bench.opening("S", "T", "alert", "again");
        bench.answer_arrives("S");
        if bench.was_sent("S", PROBE) {
            let probe = bench.expect("S", PROBE);
            bench.reply(&probe, "{}");
        }
        bench.pass(ms(100));
    }
    assert!(bench.is_waiting(call), "something else keeps it from being answered");
}

#[test]
fn a_call_whose_time_is_over_while_a_script_asks_blames_that_and_not_a_busy_script() {
    let mut bench = Bench::under(DialogPolicy::AutoAccept);
    let call = bench.client_call("DOM.getDocument");
    let call = bench.make(ClientCall { timeout: ms(500), ..call });
    bench.asks_for(ms(600));
    let said = bench.error(call).to_string();
    assert!(said.contains("asks again and again") && !said.contains("kept the page busy"), "{said}");
}

#[test]
fn an_agent_that_answers_a_script_again_and_again_is_told_how_often_and_of_the_way_out() {
    let mut bench = Bench::under(DialogPolicy::MustRespond);
    let asks = |bench: &mut Bench| {
        bench.opening("S", "T", "alert", "again");
        let said = bench.view().pending_dialogs[0].way_out(crate::Words::Tools);
        bench.accept();
        bench.answer_arrives("S");
        said
    };
    for _ in 0..5 {
        assert!(!asks(&mut bench).contains("close the tab"));
    }
    let said = asks(&mut bench);
    assert!(
        said.contains("or close the tab with browser_tabs: one script has asked at least 4 times in a row"),
        "{said}"
    );
    // Then the script ends, and another one asks.
    let probe = bench.expect("S", PROBE);
    bench.reply(&probe, "{}");
    assert!(!asks(&mut bench).contains("close the tab"));
}

#[test]
fn a_row_ends_with_its_session_and_with_the_connection() {
    let mut bench = Bench::under(DialogPolicy::AutoAccept);
    bench.asks_for(ms(5500));
    bench.input(Input::Gone { why: "lost".to_owned(), retry_after: None });
    bench.connect("BROWSER", Scope::Own);
    bench.tab("T", "S2", "P");
    let call = bench.call("DOM.getDocument");
    bench.expect("S2", "DOM.getDocument");
    assert!(bench.is_waiting(call));
}

#[test]
fn a_script_of_a_frame_in_another_process_is_named_with_its_frame_since_it_stops_only_there() {
    let mut bench = Bench::with_oopif();
    bench.start_task("default", DialogPolicy::AutoAccept);
    let call = bench.call_on("SO", "DOM.getDocument");
    for _ in 0..550 {
        bench.opening("S", "O", "alert", "again");
        bench.answer_arrives("S");
        bench.pass(ms(10));
    }
    let said = bench.error(call).sentence(crate::Words::Tools);
    assert!(said.contains("Runtime.terminateExecution and frame_id O"), "{said}");
    let root = bench.call("DOM.getDocument");
    bench.expect("S", "DOM.getDocument");
    assert!(bench.is_waiting(root), "the page around it answers");
    let input = bench.call("Input.dispatchMouseEvent");
    assert_eq!(bench.code(input), "dialog_open", "what is clicked reaches nobody (F19)");
}
