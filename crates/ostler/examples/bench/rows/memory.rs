//! P7: how much memory the daemon holds.

use std::time::{Duration, Instant};

use super::snapshot;
use crate::Result;
use crate::chromium::Chromium;
use crate::daemon::Daemon;
use crate::line::Line;
use crate::report::{Figure, Goal};
use crate::setup::Setup;

const MORE_TABS: usize = 20;
/// What fills every buffer; then the same again, which must not add to it.
const HUNDRED_THOUSAND: &str = r#"{"expression":"for (let i = 0; i < 100000; i++) console.log('line', i)"}"#;
/// How much "flat" may be, since no allocator is exact.
const FLAT: f64 = 0.5;

const MB: f64 = 1e6;
const KB: f64 = 1e3;

pub(super) fn resident(setup: &Setup) -> Result<Vec<Figure>> {
    let mut figures = of_tabs_and_events(setup)?;
    figures.push(snapshot::memory_after_ten(setup)?);
    Ok(figures)
}

fn of_tabs_and_events(setup: &Setup) -> Result<Vec<Figure>> {
    let chromium = Chromium::start()?;
    let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
    setup.block_on(async {
        let mut line = daemon.connect().await?;
        line.current_tab().await?;
        let at_rest = daemon.resident()?;

        for _ in 0..MORE_TABS {
            line.open_tab().await?;
        }
        wait_for_tabs(&mut line, MORE_TABS + 1).await?;
        let with_tabs = daemon.resident()?;

        // The reply comes behind the events, so they are all in when it is there.
        line.call("Runtime.evaluate", HUNDRED_THOUSAND).await?;
        let full = daemon.resident()?;
        line.call("Runtime.evaluate", HUNDRED_THOUSAND).await?;
        let twice = daemon.resident()?;

        let figure = |what, value, unit, most, from| Figure { what, value, unit, goal: Goal::AtMost(most), from };
        let each = (with_tabs - at_rest) / MORE_TABS as f64;
        Ok(vec![
            figure("resident, one tab at rest", at_rest / MB, "MB", 10.0, String::new()),
            figure(
                "each further tab",
                each / KB,
                "kB",
                60.0,
                format!("{MORE_TABS} tabs more: {:.2} MB", with_tabs / MB),
            ),
            figure(
                "growth with 100,000 events more",
                (twice - full) / MB,
                "MB",
                FLAT,
                format!("{:.2} MB after 100,000, {:.2} MB after 200,000", full / MB, twice / MB),
            ),
        ])
    })
}

/// Waits until as many tabs of the task are attached.
pub(super) async fn wait_for_tabs(line: &mut Line, count: usize) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        let reply = line.meta("\"state\"").await?;
        if reply["state"]["sessions"].as_array().is_some_and(|sessions| sessions.len() >= count) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err(format!("{count} tabs were opened and not attached within a minute").into())
}
