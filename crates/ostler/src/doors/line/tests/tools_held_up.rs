//! Tools whose page does not answer: what they blame for it, and when, on a simulated clock.

use std::time::Duration;

use ostler_core::CallError;
use ostler_core::view::Arrival;
use serde_json::{Value, json};
use tokio::time::{pause, sleep};

use super::Client;
use super::fake_tasks::{ArrivedCall, Script};
use super::tools::{publish_tab, read};

impl Script {
    /// Returns the next call that a tool makes of its page; the browser itself is there and says so.
    async fn tool_call(&mut self) -> ArrivedCall {
        loop {
            let call = self.call().await;
            if call.request.method != "Browser.getVersion" {
                return call;
            }
            call.succeed("{}");
        }
    }

    /// Lets so much time go by, in which no tool asks its page for anything.
    async fn silent_for(&mut self, time: Duration) {
        tokio::select! {
            call = self.tool_call() => panic!("{} was called", call.request.method),
            () = sleep(time) => {}
        }
    }
}

async fn navigates(client: &mut Client, script: &mut Script) -> ArrivedCall {
    publish_tab(script, Arrival::None);
    let navigate = json!({"meta": "tool", "name": "browser_navigate", "args": {"url": "http://a/next"}});
    client.send(&navigate.to_string()).await;
    script.tool_call().await.succeed(r#"{"result":{"value":"complete"}}"#);
    let call = script.tool_call().await;
    assert_eq!(call.request.method, "Page.navigate");
    call
}

#[tokio::test]
async fn a_navigation_that_waits_to_be_sent_is_not_blamed_on_the_page_that_it_would_leave() {
    let (mut client, mut script) = Client::connect();
    pause();
    let navigation = navigates(&mut client, &mut script).await;
    script.silent_for(Duration::from_secs(10)).await;
    // It is sent at last, and the page is asked whether it may be left.
    publish_tab(&script, Arrival::Begun);
    script.silent_for(Duration::from_millis(1500)).await;
    publish_tab(&script, Arrival::Requested);
    script.silent_for(Duration::from_secs(3)).await;
    navigation.succeed(r#"{"frameId":"T1"}"#);
    let about = script.tool_call().await;
    assert_eq!(about.request.method, "Page.createIsolatedWorld");
}

#[tokio::test]
async fn a_page_that_is_asked_for_long_whether_it_may_be_left_has_its_handler_stopped() {
    let (mut client, mut script) = Client::connect();
    pause();
    let navigation = navigates(&mut client, &mut script).await;
    publish_tab(&script, Arrival::Begun);
    script.silent_for(Duration::from_millis(2500)).await;
    let stop = script.tool_call().await;
    assert_eq!(stop.request.method, "Runtime.terminateExecution");
    stop.succeed("{}");
    navigation.succeed(r#"{"frameId":"T1"}"#);
    // Its title is of no concern here.
    script.tool_call().await.end(Err(CallError::TargetCrashed { what: "tab T1".to_owned() }));
    let opened: Value = read(&client.line().await);
    let text = opened["result"]["text"].as_str().expect("a text");
    assert!(text.ends_with("its beforeunload handler never ended, and was stopped."), "{text}");
}
