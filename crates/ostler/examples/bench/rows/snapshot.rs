//! P8 and the last figure of P7: what an outline of a large page costs.

use serde_json::{Value, json};

use crate::Result;
use crate::chromium::Chromium;
use crate::daemon::Daemon;
use crate::line::Line;
use crate::raw::Raw;
use crate::report::{Figure, Goal};
use crate::samples::{Blocks, in_turns};
use crate::setup::Setup;

/// 5,000 rows of a table, 25,000 elements in all beside the rows themselves.
const PAGE: &str = "document.body.innerHTML = '<table><tbody>' + Array.from({length: 5000}, (_, i) => \
    `<tr><td>${i}</td><td>Customer ${i}</td><td>${3 * i} €</td><td><button>Cancel ${i}</button></td></tr>`).join('') \
    + '</table>'; document.body.offsetHeight";
/// What is worth comparing with: role, name and place of what is visible, up to a length, in an isolated world.
const BARE: &str = "(most => { const lines = []; let length = 0; \
    for (const element of document.body.querySelectorAll('*')) { \
      const box = element.getBoundingClientRect(); \
      if (!box.width || !element.checkVisibility()) continue; \
      const name = element.getAttribute('aria-label') ?? (element.childElementCount ? '' : element.textContent); \
      const line = `${element.getAttribute('role') ?? element.localName} ${name.trim()} ${Math.round(box.x)} ${Math.round(box.y)}`; \
      if ((length += line.length + 1) > most) break; \
      lines.push(line); \
    } return lines.join('\\n') })";
const DEFAULT: usize = 20_000;
const WHOLE: usize = 10_000_000;
const MB: f64 = 1e6;

pub(super) fn of_a_large_page(setup: &Setup) -> Result<Vec<Figure>> {
    let chromium = Chromium::start()?;
    let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
    setup.block_on(async {
        let mut line = daemon.connect().await?;
        let target = open_page(&mut line).await?;
        let mut raw = Raw::connect(&chromium.url).await?;
        raw.attach(&target).await?;
        let world = raw.call("Page.createIsolatedWorld", &json!({"frameId": target}).to_string()).await?;
        let world: Value = serde_json::from_slice(&world)?;
        let context = world["result"]["executionContextId"].clone();
        let mut figures = Vec::new();
        for (what, most, blocks) in [
            ("outline of 5,000 rows, default limit", DEFAULT, Blocks { count: 6, length: 10 }),
            ("outline of 5,000 rows, all of it", WHOLE, Blocks { count: 4, length: 2 }),
        ] {
            let bare = json!({"expression": format!("{BARE}({most})"), "contextId": context, "returnByValue": true});
            let (bare, asked) = (bare.to_string(), request(most));
            let pair =
                in_turns(blocks, async || raw.call("Runtime.evaluate", &bare).await, async || line.tool(&asked).await)
                    .await?;
            figures.push(Figure::ratio(what, 3.0, &pair, "bare walker"));
        }
        Ok(figures)
    })
}

/// Returns how much memory the daemon holds after ten outlines of all of the page.
pub(super) fn memory_after_ten(setup: &Setup) -> Result<Figure> {
    let chromium = Chromium::start()?;
    let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
    setup.block_on(async {
        let mut line = daemon.connect().await?;
        open_page(&mut line).await?;
        let asked = request(WHOLE);
        for _ in 0..10 {
            line.tool(&asked).await?;
        }
        let value = daemon.resident()? / MB;
        let what = "resident after ten outlines of 5,000 rows";
        Ok(Figure { what, value, unit: "MB", goal: Goal::AtMost(25.0), from: String::new() })
    })
}

fn request(most: usize) -> String {
    let args = json!({"max_chars": most});
    format!("{}\n", json!({"meta": "tool", "name": "browser_snapshot", "args": args}))
}

/// Fills the current tab with the page; returns the tab.
async fn open_page(line: &mut Line) -> Result<String> {
    let target = line.current_tab().await?;
    line.call("Runtime.evaluate", &json!({"expression": PAGE}).to_string()).await?;
    Ok(target)
}
