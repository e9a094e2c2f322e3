//! Documents that may show no dialogs get none over the bridge either (fact B10): whatever forbids it, each way of the
//! bridge asks where the native dialog opens, and nowhere else.

use serde_json::{Value, json};

use super::bridged::Bridged;
use super::sandbox::wait_until;

/// Asks in its first script, and shows what it got in its own title and in that of the tab.
const ASKS: &str =
    "<script>const got = 'got ' + confirm('may I?'); document.title = got; top.postMessage(got, '*')</script>";

/// Frames and popups, and whether they may ask.
const PAGES: [(&str, bool); 12] = [
    (ASKS, true),
    ("<iframe src='/asks'></iframe>", true),
    ("<iframe sandbox='allow-scripts allow-modals' src='/asks'></iframe>", true),
    ("<iframe sandbox='allow-scripts' src='/asks'></iframe>", false),
    // In the process of the page around it, which is as deaf as itself.
    ("<iframe sandbox='allow-scripts allow-same-origin' src='/asks'></iframe>", false),
    ("<iframe sandbox='allow-scripts' src='{there}/asks'></iframe>", false),
    ("<iframe sandbox='allow-scripts' src='/holds'></iframe>", false),
    ("<iframe src='/policy'></iframe>", false),
    ("<iframe src='{there}/policy'></iframe>", false),
    ("<iframe sandbox='allow-scripts allow-popups' src='/opens'></iframe>", false),
    ("<iframe sandbox='allow-scripts allow-same-origin allow-popups' src='/opens'></iframe>", false),
    ("<iframe sandbox='allow-scripts allow-popups allow-popups-to-escape-sandbox' src='/opens'></iframe>", true),
];

/// Policies of the page's own, and whether it may ask.
const POLICIES: [(&str, bool); 4] = [
    ("sandbox allow-scripts allow-modals", true),
    ("sandbox allow-scripts", false),
    ("default-src *; Sandbox allow-scripts allow-same-origin; script-src 'unsafe-inline'", false),
    ("sandbox allow-scripts allow-modals\r\nContent-Security-Policy: sandbox allow-scripts", false),
];

type Start = fn(&[(&str, &str)]) -> Bridged;

impl Bridged {
    /// Goes to a page, accepts whatever asks, and returns whether something did and what the page then shows.
    fn asks(&mut self, path: &str) -> (bool, Value) {
        let url = self.world.site.here(path);
        self.world.line.cdp("Page.navigate", json!({"url": url}));
        let (mut asked, mut shown) = (false, Value::Null);
        wait_until("it asks, or goes on without", || {
            if self.world.line.state()["pending_dialogs"][0]["answerable"] != false
                && self.world.line.ask(json!({"meta": "dialog", "action": "accept"}))["ok"] == true
            {
                asked = true;
            }
            shown = self.shows_its_answer();
            !shown.is_null()
        });
        // The next page must not be taken for this one.
        self.world.line.cdp("Page.navigate", json!({"url": "about:blank"}));
        let current = self.world.line.ask(json!({"meta": "current_tab"}))["targetId"].clone();
        if current != shown["targetId"] {
            self.world.line.cdp("Target.closeTarget", json!({"targetId": shown["targetId"]}));
        }
        wait_until("it is gone", || self.shows_its_answer().is_null());
        (asked, shown["title"].clone())
    }

    /// Returns the tab that shows what it got. The browser's own side tells, also where the page is deaf.
    fn shows_its_answer(&mut self) -> Value {
        let targets = self.world.line.cdp("Target.getTargets", json!({}))["targetInfos"].clone();
        let tells = |title: &Value| title.as_str().is_some_and(|title| title.starts_with("got "));
        let shows = |info: &&Value| info["type"] == "page" && tells(&info["title"]);
        targets.as_array().unwrap().iter().find(shows).cloned().unwrap_or_default()
    }
}

#[test]
fn a_document_that_may_show_no_dialogs_gets_none_whoever_forbids_it() {
    let shows = "<script>onmessage = event => { document.title = event.data }</script>";
    let holds = "<iframe src='{there}/asks'></iframe>";
    let opens = "<script>open('/asks')</script>";
    let pages = [("/asks", ASKS), ("/holds", holds), ("/opens", opens)];
    let ways: [Start; 3] = [
        |pages| Bridged::by_pauses("never", pages),
        |pages| Bridged::by_pauses("always", pages),
        |pages| Bridged::by_requests("always", pages),
    ];
    for (way, start) in ["natively", "by pauses", "by requests"].iter().zip(ways) {
        let mut bridged = start(&pages);
        let site = bridged.world.site.clone();
        site.put_with("/policy", "Content-Security-Policy: sandbox allow-scripts", ASKS);
        for (page, may_ask) in PAGES {
            site.put("/", &format!("{shows}{page}"));
            assert_eq!(bridged.asks("/"), (may_ask, json!(format!("got {may_ask}"))), "{way}: {page}");
        }
        for (policy, may_ask) in POLICIES {
            site.put_with("/", &format!("Content-Security-Policy: {policy}"), ASKS);
            assert_eq!(bridged.asks("/"), (may_ask, json!(format!("got {may_ask}"))), "{way}: {policy}");
        }
    }
}
