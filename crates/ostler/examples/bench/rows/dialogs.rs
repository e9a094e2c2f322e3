//! P3, P4: how quickly the state is read, and how quickly a dialog is in it, also while the page floods its console.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Result;
use crate::chromium::Chromium;
use crate::daemon::Daemon;
use crate::line::Line;
use crate::raw::Raw;
use crate::report::{Figure, Goal};
use crate::samples::{Pair, Samples};
use crate::setup::Setup;

const STATE: &str = "{\"meta\":\"state\"}\n";
const EVENTS: &str = r#"{"expression":"for (let i = 0; i < 50000; i++) console.error('line', i)"}"#;
/// Floods its console as long as the tab is there, and lets other things of the page in between.
const FLOOD: &str =
    r#"{"expression":"setInterval(() => { for (let i = 0; i < 200; i++) console.error('line', i) }, 1)"}"#;
const DIALOG: &str = r#"{"expression":"setTimeout(() => alert('now'))"}"#;
const DIALOGS: usize = 60;
const BUTTON: &str =
    r#"{"expression":"document.body.innerHTML = '<button style=\"position:fixed;inset:0\" onclick=\"confirm(1)\">'"}"#;
const PRESS: &str = r#"{"type":"mousePressed","x":50,"y":50,"button":"left","clickCount":1}"#;
const RELEASE: &str = "{\"method\":\"Input.dispatchMouseEvent\",\"params\":{\"type\":\"mouseReleased\",\"x\":50,\"y\":50,\"button\":\"left\",\"clickCount\":1}}\n";
const EVALUATE: &str = r#"{"expression":"1+1"}"#;
const CLICKS: usize = 60;

pub(super) fn state_in_a_storm(setup: &Setup) -> Result<Vec<Figure>> {
    let chromium = Chromium::start()?;
    let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
    setup.block_on(async {
        let (mut line, mut reader) = (daemon.connect().await?, daemon.connect().await?);
        line.current_tab().await?;
        let mut reads = Samples::default();
        let mut storm = std::pin::pin!(line.call("Runtime.evaluate", EVENTS));
        // Read for as long as the call takes that sends the events.
        let ended = loop {
            let started = Instant::now();
            tokio::select! {
                biased;
                ended = &mut storm => break ended,
                read = reader.ask(STATE) => read.map(drop)?,
            }
            reads.push(started.elapsed());
        };
        ended?;
        let figure = |what, percent, unit, scale: f64, most| Figure {
            what,
            value: reads.percentile(percent).as_secs_f64() * scale,
            unit,
            goal: Goal::AtMost(most),
            from: format!("{} reads", reads.len()),
        };
        Ok(vec![
            figure("`state` in a storm of 50,000 events, p50", 50, "µs", 1e6, 60.0),
            figure("the same, p99", 99, "ms", 1e3, 2.0),
        ])
    })
}

pub(super) fn time_until_seen(setup: &Setup) -> Result<Vec<Figure>> {
    let chromium = Chromium::start()?;
    let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
    setup.block_on(async {
        let mut line = daemon.connect().await?;
        let mut raw = Raw::connect(&chromium.url).await?;
        raw.attach(&line.current_tab().await?).await?;
        raw.call("Page.enable", "{}").await?;
        let at_rest = dialogs(&mut raw, &mut line).await?;

        // The flood comes from a tab of the same task, so that it meets the dialog in the daemon and not in the page.
        let other = line.open_tab().await?;
        let flood = format!("{{\"method\":\"Runtime.evaluate\",\"target_id\":\"{other}\",\"params\":{FLOOD}}}\n");
        line.ask(&flood).await?;
        let in_storm = dialogs(&mut raw, &mut line).await?;

        let figure = |what, samples: &Samples, most| Figure {
            what,
            value: samples.median().as_secs_f64() * 1e3,
            unit: "ms",
            goal: Goal::AtMost(most),
            from: format!("largest of {DIALOGS}: {:.2} ms", samples.percentile(100).as_secs_f64() * 1e3),
        };
        Ok(vec![
            figure("a raw client's dialog event to `state`, at rest", &at_rest, 1.0),
            figure("the same in a storm of console events", &in_storm, 20.0),
        ])
    })
}

/// What an agent waits for while a dialog is open: to be told of it, and for what the daemon answers by itself.
pub(super) fn while_one_is_open(setup: &Setup) -> Result<Vec<Figure>> {
    let chromium = Chromium::start()?;
    let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
    setup.block_on(async {
        let mut line = daemon.connect().await?;
        line.current_tab().await?;
        line.call("Runtime.evaluate", BUTTON).await?;
        let other = line.open_tab().await?;
        let elsewhere =
            format!("{{\"method\":\"Runtime.evaluate\",\"target_id\":\"{other}\",\"params\":{EVALUATE}}}\n");
        let (mut told, mut own, mut with, mut without) = <(Samples, Samples, Samples, Samples)>::default();
        for _ in 0..CLICKS {
            without.repeat(20, &mut async || line.ask(&elsewhere).await.map(drop)).await?;
            line.call("Input.dispatchMouseEvent", PRESS).await?;
            let clicked = Instant::now();
            if !line.fails_with(RELEASE, "dialog_open").await? {
                return Err("the click was not ended by the dialog".into());
            }
            told.push(clicked.elapsed());
            for request in [STATE, "{\"meta\":\"ping\"}\n", "{\"meta\":\"pending_dialog\"}\n"] {
                own.repeat(20, &mut async || line.ask(request).await.map(drop)).await?;
            }
            with.repeat(20, &mut async || line.ask(&elsewhere).await.map(drop)).await?;
            let answered = Instant::now();
            line.meta(r#""dialog","action":"accept""#).await?;
            own.push(answered.elapsed());
        }
        let elsewhere = Pair { raw: without, ostler: with };
        let millis = |what, samples: &Samples, most| Figure {
            what,
            value: samples.percentile(99).as_secs_f64() * 1e3,
            unit: "ms",
            goal: Goal::AtMost(most),
            from: format!("p99 of {}; median {samples}", samples.len()),
        };
        Ok(vec![
            millis("a click's reply that tells of the dialog it opened", &told, 100.0),
            millis("`state`, `ping`, `dialog` while it is open", &own, 5.0),
            Figure::ratio("a call on another tab meanwhile", 1.15, &elsewhere, "without a dialog"),
        ])
    })
}

/// Opens dialogs one by one; measures from the raw client's event to the first `state` that shows it.
async fn dialogs(raw: &mut Raw, line: &mut Line) -> Result<Samples> {
    let mut samples = Samples::default();
    for _ in 0..DIALOGS {
        raw.call("Runtime.evaluate", DIALOG).await?;
        raw.event("Page.javascriptDialogOpening").await?;
        let seen = Instant::now();
        let deadline = seen + Duration::from_secs(10);
        while !shows_a_dialog(line.ask(STATE).await?)? {
            if Instant::now() > deadline {
                return Err("a dialog was not in `state` within ten seconds".into());
            }
        }
        samples.push(seen.elapsed());
        line.meta(r#""dialog","action":"accept""#).await?;
        raw.event("Page.javascriptDialogClosed").await?;
    }
    Ok(samples)
}

fn shows_a_dialog(reply: &[u8]) -> Result<bool> {
    let reply: Value = serde_json::from_slice(reply)?;
    Ok(reply["state"]["pending_dialogs"].as_array().is_some_and(|open| !open.is_empty()))
}
