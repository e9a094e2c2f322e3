//! A world whose pages ask over the bridge, by the one way or the other.

use ostler_mock::Proxy;
use serde_json::json;
use tokio::runtime::Runtime;

use super::browser::Chromium;
use super::world::World;

pub(crate) struct Bridged {
    pub(crate) world: World,
    /// Refuses the Debugger domain and dismisses native dialogs, so that what an agent answers came over the bridge.
    _proxy: Option<(Proxy, Runtime)>,
}

impl Bridged {
    /// With `bridge` for `browser.dialog_bridge`, by pauses where it is on.
    pub(crate) fn by_pauses(bridge: &str, pages: &[(&str, &str)]) -> Self {
        Self { world: World::in_browser(browser(), &config(bridge), pages), _proxy: None }
    }

    /// The same by requests, since the backend refuses the Debugger domain.
    pub(crate) fn by_requests(bridge: &str, pages: &[(&str, &str)]) -> Self {
        let chromium = browser();
        let runtime = Runtime::new().unwrap();
        let proxy = runtime.block_on(Proxy::start(&chromium.websocket_url()));
        proxy.refuse("Debugger");
        proxy.dismiss_dialogs();
        let world = World::by_way_of(&proxy.http_url(), chromium, &config(bridge), pages);
        Self { world, _proxy: Some((proxy, runtime)) }
    }

    /// Runs a test over both.
    pub(crate) fn both(pages: &[(&str, &str)], test: impl Fn(Self)) {
        test(Self::by_pauses("always", pages));
        test(Self::by_requests("always", pages));
    }

    /// Has the page ask in a moment: the question may be told of before this call's own answer is.
    #[track_caller]
    pub(crate) fn start(&mut self, expression: &str) {
        let call = json!({"method": "Runtime.evaluate", "params": {"expression": expression}});
        let answer = self.world.line.ask(call);
        assert!(answer["error"].is_null() || answer["error_code"] == "dialog_open", "{answer}");
    }
}

/// A browser whose pages may open popups without having been clicked.
fn browser() -> Chromium {
    Chromium::start_with(0, &["--disable-popup-blocking".to_owned()])
}

fn config(bridge: &str) -> String {
    format!("browser:\n  dialog_bridge: {bridge}\n")
}
