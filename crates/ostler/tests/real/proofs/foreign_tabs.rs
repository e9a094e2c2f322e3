//! A person's browser with many tabs that open popups, while an agent's tab does the same and the daemon is stopped
//! or killed at moments that nobody chose: nobody else's page stays blank or frozen, and while the agent acts none of
//! its popups' first dialogs is missed (facts E1 to E11, consequences 24 to 28).

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::super::browser::Chromium;
use super::super::line::Line;
use super::super::sandbox::{Ran, Sandbox, kill, wait_until};
use super::super::world::World;
use super::popups::{self, Chance, KINDS};
use super::times;

struct Scene {
    world: World,
    chance: Chance,
    foreign: usize,
    round: usize,
}

impl Scene {
    fn new() -> Self {
        let pages: Vec<(&str, String)> = vec![
            ("/round", "0".to_owned()),
            ("/agents", popups::agents_page()),
            ("/asks", popups::asking_page()),
            ("/user", popups::foreign_page()),
            ("/theirs", popups::foreign_popup()),
        ];
        let pages: Vec<_> = pages.iter().map(|(path, page)| (*path, page.as_str())).collect();
        // Pages that open popups by themselves stand for a person who clicks.
        let chromium = Chromium::start_with(0, &["--disable-popup-blocking".to_owned()]);
        let mut world = World::in_browser(chromium, "", &pages);
        world.go("/agents");
        let foreign = times(KINDS, 50);
        for number in 0..foreign {
            world.chromium.open(&format!("{}?{number}", world.site.here("/user")));
        }
        let mut scene = Self { world, chance: Chance::new(), foreign, round: 0 };
        scene.wait_for_titles("every foreign tab is there", |titles| {
            titles.iter().filter(|title| *title == "foreign").count() == foreign
        });
        scene
    }

    /// Has every foreign tab open a popup.
    fn next_round(&mut self) {
        self.round += 1;
        self.world.site.put("/round", &self.round.to_string());
    }

    fn pages(&mut self) -> Vec<Value> {
        let answer = self.world.line.ask(json!({"method": "Target.getTargets"}));
        let infos = answer["result"]["targetInfos"].as_array().cloned().unwrap_or_default();
        infos.into_iter().filter(|info| info["type"] == "page").collect()
    }

    fn wait_for_titles(&mut self, what: &str, holds: impl Fn(&[String]) -> bool) {
        let mut titles = Vec::new();
        wait_until(what, || {
            titles = self.pages().iter().map(|info| info["title"].as_str().unwrap_or_default().to_owned()).collect();
            holds(&titles)
        });
    }

    /// Waits until every foreign tab has gone on from opening its popup of this round, and each popup has run; closes
    /// the popups.
    fn foreign_pages_went_on(&mut self) {
        let (round, foreign) = (self.round, self.foreign);
        for (what, start) in [("every opener went on", "went on "), ("every popup ran", "ran ")] {
            self.wait_for_titles(what, |titles| {
                let told: HashSet<_> = titles.iter().filter_map(|title| title.strip_prefix(start)).collect();
                // What a form sends has no query, and so no number.
                let numberless = titles.iter().filter(|title| *title == "ran by a form").count();
                let numbered = (0..foreign).filter(|number| {
                    let name = format!("{number}-{round}");
                    told.contains(name.as_str()) || told.contains(format!("?{name}").as_str())
                });
                numbered.count() + if start == "ran " { numberless } else { 0 } == foreign
            });
        }
        for page in
            self.pages().iter().filter(|page| page["title"].as_str().is_some_and(|title| title.starts_with("ran")))
        {
            self.world.line.ask(json!({"method": "Target.closeTarget", "params": {"targetId": page["targetId"]}}));
        }
    }

    fn some_time(&mut self, limit_ms: u64) -> Duration {
        Duration::from_millis(self.chance.below(limit_ms))
    }
}

fn opens(kind: usize, name: &str) -> Value {
    let params = json!({"expression": format!("openPopup({kind}, '/asks?{name}'); 1"), "userGesture": true});
    json!({"method": "Runtime.evaluate", "params": params})
}

/// The agent opens a popup of each kind, and its first script's question is answered each time.
fn act(line: &mut Line, round: usize) {
    for kind in 0..KINDS {
        let name = format!("{kind}-{round}");
        let opened = line.ask(opens(kind, &name));
        assert!(opened["error"].is_null() || opened["error_code"] == "dialog_open", "kind {kind}: {opened}");
        let mut open = Value::Null;
        wait_until(&format!("the popup of kind {kind} asks"), || {
            open = line.state()["pending_dialogs"][0].clone();
            open.is_object()
        });
        assert!(open["message"].as_str().unwrap().starts_with("who? "), "{open}");
        let answer = json!({"meta": "dialog", "action": "accept", "prompt_text": name, "dialog_id": open["id"]});
        assert_eq!(line.ask(answer)["ok"], true);
        let title = json!({"method": "Runtime.evaluate", "frame_id": open["frame_id"], "params": {"expression": "document.title"}});
        let got = line.ask(title);
        assert_eq!(got["result"]["result"]["value"], name, "kind {kind}: {got}");
        line.cdp("Target.closeTarget", json!({"targetId": open["frame_id"]}));
    }
}

#[test]
fn a_daemon_that_stands_still_for_two_seconds_holds_nobody_for_longer_and_misses_no_dialog_of_the_agents() {
    let mut scene = Scene::new();
    let pid = scene.world.sandbox.pid().unwrap();
    let rounds = times(1, 10);
    for _ in 0..rounds {
        scene.next_round();
        let (mut line, round, wait) = (scene.world.client(), scene.round, scene.some_time(1500));
        thread::scope(|threads| {
            threads.spawn(|| act(&mut line, round));
            thread::sleep(wait);
            kill(pid, Signal::STOP);
            thread::sleep(Duration::from_secs(2));
            kill(pid, Signal::CONT);
        });
        scene.foreign_pages_went_on();
    }
    println!("{rounds} rounds of {} foreign tabs and {KINDS} popups of the agent's", scene.foreign);
}

#[test]
fn a_daemon_that_is_killed_leaves_nobody_held_once_the_next_one_has_started() {
    let mut scene = Scene::new();
    let rounds = times(1, 10);
    for _ in 0..rounds {
        scene.next_round();
        let wait = scene.some_time(1500);
        let mut line = scene.world.client();
        for kind in 0..KINDS {
            line.send(&opens(kind, &format!("{kind}-{}", scene.round)));
        }
        thread::sleep(wait);
        scene.world.sandbox.kill();
        let mut command = scene.world.sandbox.ostler(&["--json", "cdp", "Browser.getVersion"]);
        command.env_remove("BU_CDP_WS").env("BU_CDP_URL", scene.world.chromium.url());
        let ran = Ran::of(&mut command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        scene.world.line = scene.world.client();
        scene.foreign_pages_went_on();
        // The agent's own popups that were left, asking or not, go; a page of its own is at hand again.
        let own = scene.pages();
        let is_own =
            |page: &&Value| page["url"].as_str().is_some_and(|url| url.contains("/asks") || url.contains("/agents"));
        for page in own.iter().filter(is_own) {
            scene.world.line.ask(json!({"method": "Target.closeTarget", "params": {"targetId": page["targetId"]}}));
        }
        let tab = scene.world.line.cdp("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        scene.world.line.ask(json!({"meta": "set_session", "target_id": tab}));
        scene.world.go("/agents");
    }
    println!("{rounds} kills with {} foreign tabs", scene.foreign);
}

#[test]
fn two_daemons_in_one_browser_hold_up_neither_each_other_nor_anybody_else() {
    /// The kinds whose document comes from an address with a name in it.
    const LOADED: [usize; 7] = [0, 1, 2, 3, 5, 6, 7];
    let mut scene = Scene::new();
    let other = Sandbox::new();
    let mut command = other.ostler(&["--json", "cdp", "Browser.getVersion"]);
    command.env_remove("BU_CDP_WS").env("BU_CDP_URL", scene.world.chromium.url());
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut theirs = Line::connect(&other.socket());
    let tab = theirs.cdp("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
    assert!(theirs.ask(json!({"meta": "set_session", "target_id": tab}))["error"].is_null());
    theirs.cdp("Page.navigate", json!({"url": scene.world.site.here("/agents")}));
    wait_until("its page is there", || theirs.js("typeof openPopup") == "function");
    let rounds = times(1, 10);
    for _ in 0..rounds {
        scene.next_round();
        let round = scene.round;
        // Each is wide around what it does, so that every popup comes to both, held (E15).
        for (who, line) in [("a", &mut scene.world.line), ("b", &mut theirs)] {
            for kind in LOADED {
                let params = json!({"expression": format!("openPopup({kind}, '/theirs?{who}-{kind}-{round}'); 1"),
                    "userGesture": true});
                line.send(&json!({"method": "Runtime.evaluate", "params": params}));
            }
        }
        for line in [&mut scene.world.line, &mut theirs] {
            for _ in LOADED {
                let answer = line.receive();
                assert_eq!(answer["result"]["result"]["value"], 1, "{answer}");
            }
        }
        scene.wait_for_titles("every popup of both ran", |titles| {
            let ran = |who: &str, kind: usize| titles.contains(&format!("ran ?{who}-{kind}-{round}"));
            ["a", "b"].iter().all(|who| LOADED.iter().all(|kind| ran(who, *kind)))
        });
        scene.foreign_pages_went_on();
    }
    println!("{rounds} rounds of {} foreign tabs and two daemons", scene.foreign);
}
