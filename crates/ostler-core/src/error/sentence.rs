//! What an error says: what happened and what to do next, kept apart. A door joins them into the one sentence of the
//! contract's `error`, beside `error_code` and its data, and names steps that the one who reads it can take.

use std::fmt;

use super::{CallError, TimeoutHint};
use crate::shown::{shown, shown_up_to};

/// How much of a message of the browser's is repeated: it can hold what a client sent, whatever that was.
const MESSAGE: usize = 1_000;

/// Whose words name the next step: an error is of use only to one who has what it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Words {
    /// The line protocol's: CDP methods, `meta` requests and their fields.
    #[default]
    Protocol,
    /// The tools' that a model has.
    Tools,
    /// The command's verbs and flags.
    CommandLine,
    /// The Python helpers'.
    Helpers,
}

impl CallError {
    /// Returns what happened, without a full stop.
    pub fn happened(&self) -> String {
        match self {
            Self::Cdp { message, .. } => shown_up_to(message, MESSAGE).to_string(),
            Self::DialogOpen { dialog, sent } => {
                let verb = if *sent { "blocks this call" } else { "is open on the page, so the call was not sent" };
                format!("{} {verb}", dialog.describe())
            }
            Self::AsksOn { dialog, sent, .. } => {
                let effect = if *sent { "and this call waits for its end" } else { "so the call was not sent" };
                format!(
                    "a script asks again and again without ending: at least {} dialogs in a row were answered by the dialog policy, \
                     the newest {}, {effect}",
                    dialog.in_a_row,
                    dialog.describe()
                )
            }
            Self::Timeout { timeout_ms, hint: TimeoutHint::StillBusy, .. } => {
                format!("the script that keeps the page busy could not be stopped within {timeout_ms} ms")
            }
            Self::Timeout { method, timeout_ms, hint } => {
                let busy = match hint {
                    TimeoutHint::PageBusy { for_ms, frame } => {
                        let what =
                            frame.as_ref().map_or_else(|| "the page".to_owned(), |frame| format!("frame {frame}"));
                        format!("; a script has kept {what} busy for at least {}", in_words(*for_ms))
                    }
                    TimeoutHint::BrowserSilent => {
                        "; the browser itself answers nothing either, so its process is stopped or overloaded"
                            .to_owned()
                    }
                    TimeoutHint::Leaving => {
                        "; the page is being left, and a script that never ends holds that up".to_owned()
                    }
                    TimeoutHint::Arriving => {
                        "; the page goes to another one, whose server has not answered yet".to_owned()
                    }
                    TimeoutHint::MidFrame => {
                        "; the page waits for the answer to its dialog in the middle of drawing".to_owned()
                    }
                    TimeoutHint::StillBusy | TimeoutHint::None => String::new(),
                };
                format!("{} gave no answer within {timeout_ms} ms{busy}", shown(method))
            }
            Self::NotCome { what, timeout_ms, instead } => {
                format!("{what} within {}; {instead}", in_words(*timeout_ms))
            }
            Self::SessionGone { what } => format!("{} does not exist any more", shown(what)),
            Self::TargetCrashed { what } => format!("the renderer of {what} crashed"),
            Self::FrameInProcess { frame_id, method } => {
                let method = shown(method);
                format!(
                    "frame {frame_id} shares its parent's process and has no session, so {method} cannot be sent to it"
                )
            }
            Self::UnknownOutcome { method, why } => {
                format!("{why} after {} was sent, so whether it took effect is not known", shown(method))
            }
            Self::UnknownFrame { frame_id, .. } => format!("no frame {} in this task", shown(frame_id)),
            Self::UnknownTask { task, .. } => format!("no task {task}"),
            Self::UnknownDialog { dialog_id, .. } => format!("no open dialog {}", shown(dialog_id)),
            Self::NoDialog { why } => why.unwrap_or("no dialog is open").to_owned(),
            Self::AmbiguousDialog { known } => format!("{} dialogs are open", known.len()),
            Self::BrowserGone { why, .. } => why.clone(),
            Self::StaleRef { reference, why } => format!("{} {why}", shown_up_to(reference, MESSAGE)),
            Self::NotActionable { what, why, .. } => format!("{what} {why}"),
            Self::BadRequest { field, why } => format!("`{field}`: {why}"),
        }
    }

    /// Returns what the caller can do next, if there is anything beyond reading what happened.
    pub fn next_step(&self, words: Words) -> Option<String> {
        // One line for each who may read it, in the order of the words.
        let [protocol, tools, command_line, helpers] = match self {
            Self::Cdp { .. } | Self::BadRequest { .. } => return None,
            Self::DialogOpen { dialog, .. } => return Some(dialog.way_out(words)),
            Self::UnknownFrame { known, .. } => return Some(known_ones("frames", known)),
            Self::UnknownTask { known, .. } => return Some(known_ones("tasks", known)),
            Self::UnknownDialog { known, .. } => return Some(known_ones("open dialogs", known)),
            Self::NoDialog { .. } => return Some("go on without answering".to_owned()),
            Self::NotActionable { next, .. } => return Some(next.clone()),
            Self::BrowserGone { retry_after_ms, .. } => {
                return retry_after_ms.map(|ms| format!("try again in {ms} ms"));
            }
            Self::AmbiguousDialog { known } => {
                let argument = match words {
                    Words::Protocol | Words::Tools => "dialog_id",
                    Words::CommandLine => "--id",
                    Words::Helpers => "id=...",
                };
                return Some(format!("name one with {argument}: {}", known.join(", ")));
            }
            // The others stop whichever document of the tab is busy.
            Self::AsksOn { frame: Some(frame), .. }
            | Self::Timeout { hint: TimeoutHint::PageBusy { frame: Some(frame), .. }, .. }
                if words == Words::Tools =>
            {
                return Some(format!(
                    "stop the script with browser_cdp, Runtime.terminateExecution and frame_id {frame}, or close the tab \
                     with browser_tabs"
                ));
            }
            Self::AsksOn { .. } | Self::Timeout { hint: TimeoutHint::PageBusy { .. }, .. } => [
                r#"stop the script with {"meta": "interrupt"}, or close the tab with Target.closeTarget"#,
                "stop the script with browser_cdp and Runtime.terminateExecution, or close the tab with browser_tabs",
                "stop the script with `ostler interrupt`, or close the tab with `ostler tool tabs '{\"action\": \"close\"}'`",
                "stop the script with `ostler interrupt` in a shell, or close the tab with close_tab()",
            ],
            Self::Timeout { hint: TimeoutHint::BrowserSilent, .. } => [
                r#"let the process go on and ask again, or let go of the browser with {"meta": "disconnect"}, which also ends one that ostler launched"#,
                "tell the user of it: no tool can change that",
                "let the process go on and try again, or let go of the browser with `ostler disconnect`, which also ends one that ostler launched",
                "let the process go on and try again, or let go of the browser with `ostler disconnect` in a shell, which also ends one that ostler launched",
            ],
            // A navigation or a reload would wait for the script like everything else.
            Self::Timeout { hint: TimeoutHint::StillBusy | TimeoutHint::Leaving, .. } => [
                "close the tab with Target.closeTarget, which alone frees it, and open the address in a new one",
                "close the tab with browser_tabs, which alone frees it, and open the address in a new one",
                "close the tab with `ostler tool tabs '{\"action\": \"close\"}'`, which alone frees it, and open the address in a new one",
                "close the tab with close_tab(), which alone frees it, and open the address with new_tab(...)",
            ],
            Self::Timeout { hint: TimeoutHint::Arriving, .. } => [
                "wait and try again, or give the navigation up with Page.stopLoading",
                "wait and try again, or give the navigation up with browser_cdp and Page.stopLoading",
                "wait and try again, or give the navigation up with `ostler cdp Page.stopLoading`",
                "wait and try again, or give the navigation up with cdp(\"Page.stopLoading\")",
            ],
            Self::Timeout { hint: TimeoutHint::MidFrame, .. } => [
                r#"answer the dialog with {"meta": "dialog"}, and ask again then"#,
                "answer the dialog with browser_dialog, and take the picture then",
                "answer the dialog with `ostler dialog`, and take the picture then",
                "answer the dialog with dialog(\"accept\") or dialog(\"dismiss\"), and take the picture then",
            ],
            Self::Timeout { .. } => [
                "raise `timeout_ms`, or look at the page before trying again",
                "look at the page with browser_snapshot before trying again",
                "look at the page with `ostler snapshot` before trying again, or give it longer with --timeout (timeout_s of a tool)",
                "give it longer with timeout=SECONDS, or look at the page with snapshot() before trying again",
            ],
            Self::NotCome { .. } => [
                "look at the page before waiting again",
                "look at the page with browser_snapshot, or wait longer with timeout_s",
                "look at the page with `ostler snapshot`, or wait longer with timeout_s",
                "look at the page with snapshot() before waiting again",
            ],
            Self::SessionGone { .. } => [
                "leave `session_id` out to use the task's current tab, or list the tabs with Target.getTargets",
                "list the tabs with browser_tabs and switch to one that is there",
                "leave `--session` out to use the task's current tab, or list the tabs with `ostler status`",
                "leave session_id out to use the current tab, or list the tabs with list_tabs()",
            ],
            Self::TargetCrashed { .. } => [
                "send Page.reload to start it again",
                "open an address in it with browser_navigate to start it again",
                "start it again with `ostler cdp Page.reload`",
                "start it again with cdp(\"Page.reload\") or goto_url(...)",
            ],
            Self::FrameInProcess { .. } => [
                "use Runtime.evaluate with this frame_id, or reach it from the top-level page through the iframe element's contentWindow / contentDocument",
                "use Runtime.evaluate with this frame_id, or reach it from the top-level page through the iframe element's contentWindow / contentDocument",
                "use `ostler js --frame`, or reach it from the top-level page through the iframe element's contentWindow / contentDocument",
                "use js(..., frame_id=...), or reach it from the top-level page through the iframe element's contentWindow / contentDocument",
            ],
            Self::UnknownOutcome { .. } => [
                "look at the page before doing it again",
                "look at the page with browser_snapshot before doing it again",
                "look at the page with `ostler snapshot` before doing it again",
                "look at the page with page_info() or snapshot() before doing it again",
            ],
            Self::StaleRef { .. } => [
                "take a new browser_snapshot and use a ref from it",
                "take a new browser_snapshot and use a ref from it",
                "take a new `ostler snapshot` and use a ref from it",
                "take a new snapshot() and use a ref from it",
            ],
        };
        let step = match words {
            Words::Protocol => protocol,
            Words::Tools => tools,
            Words::CommandLine => command_line,
            Words::Helpers => helpers,
        };
        Some(step.to_owned())
    }

    /// Returns the one sentence of the contract's `error`.
    pub fn sentence(&self, words: Words) -> String {
        match self.next_step(words) {
            Some(step) => format!("{}; {step}", self.happened()),
            None => self.happened(),
        }
    }
}

/// Returns a time as one says it.
fn in_words(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { format!("{} s", ms / 1000) }
}

/// Lists what there is instead of what was asked for.
fn known_ones(what: &str, known: &[String]) -> String {
    match known {
        [] => format!("there are no {what}"),
        known => format!("the {what} are: {}", known.join(", ")),
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(Words::default()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::{DialogId, FrameId, SessionId, TaskId};
    use crate::view::{DialogKind, DialogView};

    fn dialog(kind: DialogKind, answerable: bool) -> CallError {
        let view = DialogView {
            id: DialogId(1),
            kind,
            message: "well?".to_owned(),
            default_prompt: String::new(),
            opened_at: 0.0,
            session_id: SessionId::from("S"),
            frame_id: FrameId::from("F"),
            answerable,
            in_a_row: 1,
        };
        CallError::DialogOpen { dialog: Arc::new(view), sent: false }
    }

    /// Returns the error of a call that waits for a script which asks again and again: for an agent, or for a policy.
    fn asks_in_a_loop(policy: bool) -> CallError {
        let CallError::DialogOpen { dialog, sent } = dialog(DialogKind::Alert, true) else { unreachable!() };
        let dialog = Arc::new(DialogView { in_a_row: 12, ..DialogView::clone(&dialog) });
        if policy { CallError::AsksOn { dialog, sent, frame: None } } else { CallError::DialogOpen { dialog, sent } }
    }

    /// Returns one of each error, and of each that says different things more.
    fn errors() -> Vec<CallError> {
        let timeout = |hint| CallError::Timeout { method: "Runtime.evaluate".to_owned(), timeout_ms: 5, hint };
        let gone =
            |retry_after_ms| CallError::BrowserGone { why: "the connection was lost".to_owned(), retry_after_ms };
        let known = vec!["one".to_owned(), "two".to_owned()];
        vec![
            CallError::Cdp { code: -32000, message: "no".to_owned() },
            dialog(DialogKind::Confirm, true),
            dialog(DialogKind::Prompt, true),
            dialog(DialogKind::Unknown, false),
            asks_in_a_loop(false),
            asks_in_a_loop(true),
            timeout(TimeoutHint::PageBusy { for_ms: 12_000, frame: None }),
            timeout(TimeoutHint::PageBusy { for_ms: 12_000, frame: Some(FrameId::from("F")) }),
            timeout(TimeoutHint::BrowserSilent),
            timeout(TimeoutHint::StillBusy),
            timeout(TimeoutHint::Leaving),
            timeout(TimeoutHint::Arriving),
            timeout(TimeoutHint::None),
            timeout(TimeoutHint::MidFrame),
            CallError::NotCome { what: "it".to_owned(), timeout_ms: 5, instead: "there is nothing".to_owned() },
            CallError::SessionGone { what: "tab T".to_owned() },
            CallError::TargetCrashed { what: "tab T".to_owned() },
            CallError::FrameInProcess { frame_id: FrameId::from("F"), method: "Page.enable".to_owned() },
            CallError::UnknownOutcome { method: "Input.insertText".to_owned(), why: "the page went away" },
            CallError::UnknownFrame { frame_id: "F".to_owned(), known: known.clone() },
            CallError::UnknownTask { task: TaskId::default_task(), known: known.clone() },
            CallError::UnknownDialog { dialog_id: "d-9".to_owned(), known: known.clone() },
            CallError::NoDialog { why: None },
            CallError::AmbiguousDialog { known },
            gone(Some(5)),
            gone(None),
            CallError::StaleRef { reference: "e1".to_owned(), why: "is gone".to_owned() },
            CallError::NotActionable { what: "e1".to_owned(), why: "is hidden".to_owned(), next: "wait".to_owned() },
            CallError::BadRequest { field: "params", why: "must be an object".to_owned() },
        ]
    }

    /// Returns what a reader does not have, as it is written for those who do.
    fn foreign(words: Words) -> &'static [&'static str] {
        match words {
            Words::Protocol => &["`ostler", "--", "timeout_s", "()", "(...)", "cdp(", "js("],
            Words::Tools => &["`ostler", "--", "timeout_ms", "\"meta\"", "`session_id`", "()", "(...)", "cdp(", "js("],
            Words::CommandLine => {
                &["browser_", "\"meta\"", "timeout_ms", "_id", "`session_id`", "()", "(...)", "cdp(", "js("]
            }
            // There is a shell where there is Python.
            Words::Helpers => &["browser_", "\"meta\"", "timeout_ms", "timeout_s", "dialog_id", "`session_id`", "--"],
        }
    }

    #[test]
    fn what_a_client_wrote_is_repeated_in_part_however_long_it_is() {
        let long = || "x".repeat(100_000);
        for error in [
            CallError::Cdp { code: -32601, message: format!("'{}' wasn't found", long()) },
            CallError::Timeout { method: long(), timeout_ms: 5, hint: TimeoutHint::None },
            CallError::SessionGone { what: format!("session {}", long()) },
            CallError::FrameInProcess { frame_id: FrameId::from("F"), method: long() },
            CallError::UnknownOutcome { method: long(), why: "the page went away" },
            CallError::UnknownFrame { frame_id: long(), known: Vec::new() },
            CallError::UnknownDialog { dialog_id: long(), known: Vec::new() },
        ] {
            let sentence = error.sentence(Words::Tools);
            assert!(sentence.len() < 1_500, "{} characters: {}", sentence.len(), error.code());
            assert!(sentence.contains("… (1000"), "says how long it was: {sentence}");
        }
    }

    #[test]
    fn how_many_dialogs_there_were_is_told_as_what_is_certain() {
        for error in [asks_in_a_loop(true), asks_in_a_loop(false)] {
            let sentence = error.sentence(Words::Tools);
            assert!(sentence.contains("at least 12 "), "{sentence}");
        }
    }

    #[test]
    fn each_who_reads_an_error_is_told_of_steps_that_it_has() {
        for words in [Words::Protocol, Words::Tools, Words::CommandLine, Words::Helpers] {
            for step in errors().iter().filter_map(|error| error.next_step(words)) {
                for foreign in foreign(words) {
                    assert!(!step.contains(foreign), "{words:?} are told {foreign}: {step}");
                }
            }
        }
    }
}
