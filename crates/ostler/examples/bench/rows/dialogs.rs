//! P3, P4: how quickly the state is read, and how quickly a dialog is in it, also while the page floods its console.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Result;
use crate::chromium::Chromium;
use crate::daemon::Daemon;
use crate::line::Line;
use crate::raw::Raw;
use crate::report::{Figure, Goal};
use crate::samples::Samples;
use crate::setup::Setup;

const STATE: &str = "{\"meta\":\"state\"}\n";
const EVENTS: &str = r#"{"expression":"for (let i = 0; i < 50000; i++) console.error('line', i)"}"#;
/// Floods its console as long as the tab is there, and lets other things of the page in between.
const FLOOD: &str =
    r#"{"expression":"setInterval(() => { for (let i = 0; i < 200; i++) console.error('line', i) }, 1)"}"#;
const DIALOG: &str = r#"{"expression":"setTimeout(() => alert('now'))"}"#;
const DIALOGS: usize = 60;

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
