//! P1, P2, P5: one CDP call through the daemon, against the same call from a raw client to the same page.

use crate::Result;
use crate::chromium::Chromium;
use crate::daemon::Daemon;
use crate::line::Line;
use crate::raw::Raw;
use crate::relay::Relay;
use crate::report::Figure;
use crate::samples::{Blocks, Pair, Samples, in_turns};
use crate::setup::Setup;

const EVALUATE: &str = r#"{"expression":"1+1"}"#;
const SMALL_CALLS: Blocks = Blocks { count: 80, length: 50 };
/// Blocks that are taken before the relay has its turn.
const ROUND: Blocks = Blocks { count: 8, length: 50 };
const SCREENSHOTS: Blocks = Blocks { count: 16, length: 1 };

/// Fills the window with noise, which no PNG makes smaller: about 3 bytes for each of its pixels.
const NOISE: &str = r#"{"expression":"(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [innerWidth, innerHeight];
    const context = canvas.getContext('2d');
    const image = context.createImageData(canvas.width, canvas.height);
    let seed = 1;
    for (let i = 0; i < image.data.length; i++) {
        seed = Math.imul(seed, 1664525) + 1013904223 | 0;
        image.data[i] = i % 4 === 3 ? 255 : seed >>> 24;
    }
    context.putImageData(image, 0, 0);
    document.body.style.margin = 0;
    document.body.replaceChildren(canvas);
})()"}"#;

/// A browser, a daemon in it, and a client of each kind on the same page.
struct Scene {
    raw: Raw,
    line: Line,
    daemon: Daemon,
    chromium: Chromium,
}

impl Scene {
    async fn new(setup: &Setup) -> Result<Self> {
        let chromium = Chromium::start()?;
        let daemon = Daemon::start(&setup.ostler, &chromium.url)?;
        let mut line = daemon.connect().await?;
        let mut raw = Raw::connect(&chromium.url).await?;
        raw.attach(&line.current_tab().await?).await?;
        Ok(Self { raw, line, daemon, chromium })
    }
}

pub(super) fn kept_connection(setup: &Setup) -> Result<Vec<Figure>> {
    setup.block_on(async {
        let Scene { raw, line, chromium, .. } = &mut Scene::new(setup).await?;
        let relay = Relay::start(&chromium.url)?;
        let mut relayed = Raw::connect(&relay.url).await?;
        relayed.attach(&line.current_tab().await?).await?;
        let mut pair = Pair::default();
        let mut through_relay = Samples::default();
        for _ in 0..SMALL_CALLS.count / ROUND.count {
            let round = in_turns(
                ROUND,
                async || raw.call("Runtime.evaluate", EVALUATE).await.map(drop),
                async || line.call("Runtime.evaluate", EVALUATE).await.map(drop),
            )
            .await?;
            pair.add(round);
            let mut relayed = async || relayed.call("Runtime.evaluate", EVALUATE).await.map(drop);
            through_relay.repeat(ROUND.count * ROUND.length, &mut relayed).await?;
        }
        let floor = through_relay.median().as_secs_f64() / pair.raw.median().as_secs_f64();
        let mut figure = Figure::ratio("call on a kept connection", 1.15, &pair, "raw");
        figure.from = format!("{}; through a bare relay {through_relay}, {floor:.2} x", figure.from);
        Ok(vec![figure])
    })
}

pub(super) fn fresh_connections(setup: &Setup) -> Result<Vec<Figure>> {
    setup.block_on(async {
        let Scene { raw, daemon, .. } = &mut Scene::new(setup).await?;
        let pair = in_turns(
            SMALL_CALLS,
            async || raw.call("Runtime.evaluate", EVALUATE).await.map(drop),
            async || daemon.connect().await?.call("Runtime.evaluate", EVALUATE).await.map(drop),
        )
        .await?;
        Ok(vec![Figure::ratio("call with a socket connection of its own", 1.35, &pair, "raw, kept")])
    })
}

pub(super) fn large_screenshot(setup: &Setup) -> Result<Vec<Figure>> {
    setup.block_on(async {
        let Scene { raw, line, .. } = &mut Scene::new(setup).await?;
        raw.call("Runtime.evaluate", &NOISE.replace('\n', " ")).await?;
        let mut size = 0;
        let pair = in_turns(
            SCREENSHOTS,
            async || raw.call("Page.captureScreenshot", "{}").await.map(drop),
            async || {
                size = line.call("Page.captureScreenshot", "{}").await?;
                Ok(())
            },
        )
        .await?;
        let mut figure = Figure::ratio("screenshot of noise", 1.10, &pair, "raw");
        // Base64 writes three bytes as four letters.
        figure.from.push_str(&format!("; the PNG has {:.1} MB", size as f64 * 0.75 / 1e6));
        Ok(vec![figure])
    })
}
