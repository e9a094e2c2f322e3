//! P11: a daemon that supervises a thousand tabs of a mock browser, which has none of a browser's own costs.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::memory::wait_for_tabs;
use crate::Result;
use crate::daemon::Daemon;
use crate::report::{Figure, Goal};
use crate::samples::{Blocks, in_turns};
use crate::setup::Setup;

const TABS: usize = 1000;
const CALLS: Blocks = Blocks { count: 40, length: 50 };

pub(super) fn a_thousand(setup: &Setup) -> Result<Vec<Figure>> {
    let (few, many) = (Mock::start(setup)?, Mock::start(setup)?);
    let with_one = Daemon::start(&setup.ostler, &few.url)?;
    let with_all = Daemon::start(&setup.ostler, &many.url)?;
    setup.block_on(async {
        let (mut one, mut all) = (with_one.connect().await?, with_all.connect().await?);
        one.current_tab().await?;
        all.current_tab().await?;
        for _ in 1..TABS {
            all.open_tab().await?;
        }
        wait_for_tabs(&mut all, TABS).await?;
        let pair = in_turns(
            CALLS,
            async || one.call("Runtime.evaluate", r#"{"expression":"1+1"}"#).await,
            async || all.call("Runtime.evaluate", r#"{"expression":"1+1"}"#).await,
        )
        .await?;
        let megabytes = with_all.resident()? / 1e6;
        Ok(vec![
            Figure {
                what: "resident with 1,000 supervised tabs",
                value: megabytes,
                unit: "MB",
                goal: Goal::AtMost(100.0),
                from: String::new(),
            },
            Figure::ratio("call with 1,000 supervised tabs, against one", 1.5, &pair, "with one"),
        ])
    })
}

/// A mock browser as a process of its own, gone when dropped.
struct Mock {
    child: Child,
    url: String,
}

impl Mock {
    fn start(setup: &Setup) -> Result<Self> {
        let mut command = Command::new(setup.mock()?);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut mock = Self { child, url: String::new() };
        let stdout = mock.child.stdout.take().ok_or("its output is a pipe of ours")?;
        BufReader::new(stdout).read_line(&mut mock.url)?;
        mock.url.truncate(mock.url.trim_end().len());
        if mock.url.is_empty() { Err("the mock browser gave no URL".into()) } else { Ok(mock) }
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
