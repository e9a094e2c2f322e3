//! A browser that is not ours: its person's tabs are as if we were not there, and ours as if we had never been once we
//! have left (facts E7, E9, E13 and E17).

use std::thread;

use serde_json::{Value, json};

use super::sandbox::{Ran, wait_until};
use super::world::World;

fn titles(world: &mut World) -> Vec<String> {
    let answer = world.line.ask(json!({"method": "Target.getTargets"}));
    let infos = answer["result"]["targetInfos"].as_array().cloned().unwrap_or_default();
    infos.iter().filter_map(|info| info["title"].as_str()).map(str::to_owned).collect()
}

fn wait_for_title(world: &mut World, title: &str) {
    wait_until(title, || titles(world).iter().any(|other| other == title));
}

/// Makes the next page ready, goes there once it is, and has that say how it came.
const PREDICTS: &str = r#"<script type=speculationrules>{"prerender": [{"urls": ["/next"]}]}</script>
    <script>onstorage = () => { location.href = '/next' }</script>"#;
const NEXT: &str = "<script>
    const tell = () => {
        document.title = performance.getEntriesByType('navigation')[0].activationStart > 0 ? 'prerendered' : 'loaded';
    };
    if (document.prerendering) {
        document.addEventListener('prerenderingchange', tell);
        localStorage.ready = Date.now();
    } else {
        tell();
    }
</script>";

#[test]
fn a_persons_pages_are_made_ready_in_advance_as_ever_while_the_agent_works_beside_them() {
    let mut world = World::with(&[("/", "<p>x"), ("/predicts", PREDICTS), ("/next", NEXT)]);
    world.go("/");
    world.click(10, 10);
    // Any session on the tab, even a bare one, would have kept the browser from it (E7).
    world.chromium.open(&world.site.here("/predicts"));
    wait_for_title(&mut world, "prerendered");
}

#[test]
fn tabs_that_another_client_opens_with_an_address_all_run_while_auto_attach_is_wide() {
    const TABS: usize = 40;
    let page = "<script>document.title = 'ran ' + location.search</script>";
    let mut world = World::with(&[("/", "<p>x"), ("/theirs", page)]);
    world.go("/");
    world.click(10, 10);
    let (chromium, site) = (&world.chromium, &world.site);
    thread::scope(|threads| {
        for number in 0..TABS {
            threads.spawn(move || chromium.open(&format!("{}?{number}", site.here("/theirs"))));
        }
    });
    wait_until("all of them ran", || {
        let titles = titles(&mut world);
        (0..TABS).all(|number| titles.contains(&format!("ran ?{number}")))
    });
    assert_eq!(world.line.js("1 + 1"), 2, "and the browser lives (E9)");
}

#[test]
fn a_frozen_tab_that_a_task_works_in_keeps_time() {
    let page = "<script>let n = 0; setInterval(() => n++, 1)</script>";
    let mut world = World::with(&[("/", page)]);
    world.go("/");
    world.line.cdp("Page.setWebLifecycleState", json!({"state": "frozen"}));
    // It stays frozen when everybody has left (E13), and the next daemon finds it so.
    world.sandbox.kill();
    let mut command = world.sandbox.ostler(&["--json", "cdp", "Browser.getVersion"]);
    command.env_remove("BU_CDP_WS").env("BU_CDP_URL", world.chromium.url());
    assert_eq!(Ran::of(&mut command).code, Some(0));
    world.line = world.client();
    let before = world.line.js("n");
    world.wait_for(&format!("n > {before}"));
}

#[test]
fn a_tab_in_the_background_is_in_the_background_again_when_its_task_has_ended() {
    let page = "<title>starts</title><script>
        const tell = () => { document.title = location.search + document.visibilityState };
        document.addEventListener('visibilitychange', tell);
        tell();
    </script>";
    let mut world = World::with(&[("/", page)]);
    for name in ["behind-", "in-front-"] {
        world.chromium.open(&format!("{}?{name}", world.site.here("/")));
        wait_for_title(&mut world, &format!("?{name}visible"));
    }
    wait_for_title(&mut world, "?behind-hidden");
    let infos = world.line.cdp("Target.getTargets", json!({}))["targetInfos"].clone();
    let behind = infos.as_array().unwrap().iter().find(|info| info["title"] == "?behind-hidden").unwrap().clone();
    assert_eq!(world.line.ask(json!({"meta": "connect", "task": "t"}))["ok"], true);
    let chosen = world.line.ask(json!({"meta": "set_session", "task": "t", "target_id": behind["targetId"]}));
    assert_eq!(chosen["error"], Value::Null, "{chosen}");
    wait_for_title(&mut world, "?behind-visible");
    assert_eq!(world.line.ask(json!({"meta": "disconnect", "task": "t"}))["ok"], true);
    wait_for_title(&mut world, "?behind-hidden");
}
