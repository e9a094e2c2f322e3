//! What an open dialog blocks.
//!
//! A dialog blocks its *process*: every session whose renderer runs in the same V8 isolate, and
//! there every method that the renderer answers. What the browser process answers goes on (facts
//! A15 to A18).

/// Methods that answer although the page's renderer is blocked (fact A15), beside whole domains.
const ANSWERED_BY_THE_BROWSER: &[&str] = &[
    "Emulation.setGeolocationOverride",
    "Fetch.enable",
    "IO.read",
    "Network.getCookies",
    "Network.setCookie",
    "Page.bringToFront",
    "Page.close",
    super::closing::HISTORY,
    "Page.handleJavaScriptDialog",
    "Page.navigate",
    "Page.navigateToHistoryEntry",
    "Page.reload",
    "Page.removeScriptToEvaluateOnNewDocument",
    "Page.setDownloadBehavior",
    "Page.setWebLifecycleState",
    "Page.startScreencast",
    "Page.stopLoading",
    "Page.stopScreencast",
    "Security.enable",
    "Tracing.getCategories",
    "WebAuthn.enable",
];

/// Domains of which every method answers although the renderer is blocked.
const DOMAINS_OF_THE_BROWSER: &[&str] = &["Target.", "Browser.", "Storage."];

/// Returns whether the method can finish while its page's renderer is blocked by a dialog.
///
/// `Input.dispatchMouseEvent` and `dispatchKeyEvent` do answer then, but the browser swallows the
/// event (A15): counted as blocked, since a click that is told to have worked did nothing.
pub(crate) fn finishes_despite_dialog(method: &str) -> bool {
    DOMAINS_OF_THE_BROWSER.iter().any(|domain| method.starts_with(domain))
        || ANSWERED_BY_THE_BROWSER.binary_search(&method).is_ok()
}

/// Returns whether the method, sent to a tab's root, needs every frame's process (fact A16).
pub(crate) fn needs_every_frame(method: &str) -> bool {
    matches!(method, "Page.printToPDF" | "Page.captureSnapshot")
}

/// Returns whether the method, sent to a tab in which a frame below the top one shows a native dialog, ends the whole
/// browser instead of only the page (facts F36, F40).
pub(crate) fn ends_the_browser_under_a_dialog(method: &str) -> bool {
    matches!(method, "Page.crash" | "Page.close")
}

/// Returns whether a call ends the renderer of its page.
pub(crate) fn crashes(method: &str, params: Option<&[u8]>) -> bool {
    let leads_to =
        |address: &str| params.is_some_and(|params| memchr::memmem::find(params, address.as_bytes()).is_some());
    method == "Page.crash" || method == "Page.navigate" && ["chrome://crash", "chrome://kill"].into_iter().any(leads_to)
}

/// Returns whether the browser takes the method for any page of a tab that shows a native dialog, whichever of its
/// processes asks, and does nothing with it (facts A15, F19).
pub(crate) fn is_swallowed_in_tab(method: &str) -> bool {
    method.starts_with("Input.dispatch")
}

/// Returns whether the method gets no answer from a page that our script has paused, or, as input, an answer and no
/// effect (fact B5). Whatever waits for a promise is silent too: see [`awaits_promise`].
pub(crate) fn stops_in_pause(method: &str) -> bool {
    const SILENT: [&str; 4] =
        ["CSS.enable", "Page.captureSnapshot", "Runtime.awaitPromise", "Runtime.terminateExecution"];
    method.starts_with("Input.") || SILENT.contains(&method)
}

/// Returns whether the method ends the script that runs: nothing else gets to a page whose script asks on and on.
pub(crate) fn ends_scripts(method: &str) -> bool {
    method == "Runtime.terminateExecution"
}

/// Returns whether a call is answered only when a promise is settled.
pub(crate) fn awaits_promise(method: &str, params: Option<&[u8]>) -> bool {
    let says_so = |params: &[u8]| memchr::memmem::find(params, b"awaitPromise").is_some();
    let read = |params| super::wire::read::<super::wire::AwaitsPromise>(str::from_utf8(params).ok()?);
    let params = params.filter(|params| method.starts_with("Runtime.") && says_so(params));
    method == "Runtime.awaitPromise" || params.and_then(read).is_some_and(|params| params.await_promise)
}

/// Returns whether a page does the method at once and in the order of arrival, so that one that came before another and
/// is answered after it can only be what runs a script meanwhile.
pub(crate) fn is_done_in_order(method: &str) -> bool {
    ["Runtime.", "DOM.", "Debugger."].iter().any(|domain| method.starts_with(domain))
        || method == "Page.setDocumentContent"
}

/// Returns whether the method can be what made a page open a dialog while it is in flight: it then
/// gets no answer until the dialog is over, even from a process that is not blocked (fact A18).
pub(crate) fn can_trigger_dialog(method: &str) -> bool {
    method.starts_with("Input.")
}

/// Returns whether the method makes the browser itself replace the tab's document.
pub(crate) fn navigates(method: &str) -> bool {
    matches!(method, "Page.navigate" | "Page.navigateToHistoryEntry" | "Page.reload")
}

/// Returns whether the method is answered by the browser for a tab whose renderer crashed (fact C20).
pub(crate) fn survives_crash(method: &str) -> bool {
    finishes_despite_dialog(method)
}

/// Returns what a supervised session may not be told, and why; `None` for all else.
pub(crate) fn blinds_the_supervisor(method: &str) -> Option<&'static str> {
    match method {
        "Page.disable" => Some("it would lose this tab's dialogs and frames"),
        "Runtime.disable" => Some("it would lose this tab's console and script contexts"),
        "Log.disable" => Some("it would lose this tab's console"),
        "Inspector.disable" => Some("it would lose the news of a crash"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_its_search() {
        assert!(ANSWERED_BY_THE_BROWSER.is_sorted());
    }

    #[test]
    fn a_promise_is_awaited_only_where_the_call_says_so() {
        let awaits = |params: &str| awaits_promise("Runtime.evaluate", Some(params.as_bytes()));
        assert!(awaits(r#"{"expression":"1","awaitPromise":true}"#));
        assert!(!awaits(r#"{"expression":"1","awaitPromise":false}"#));
        assert!(!awaits(r#"{"expression":"'awaitPromise'"}"#));
        assert!(awaits_promise("Runtime.awaitPromise", None));
    }

    #[test]
    fn what_the_browser_answers_goes_on_and_what_the_renderer_answers_does_not() {
        for method in ["Target.getTargets", "Browser.getVersion", "Page.navigate", "Network.getCookies"] {
            assert!(finishes_despite_dialog(method), "{method}");
        }
        for method in ["Runtime.evaluate", "Page.captureScreenshot", "DOM.getDocument", "Input.dispatchMouseEvent"] {
            assert!(!finishes_despite_dialog(method), "{method}");
        }
    }
}
