//! A mock browser as a program, for benchmarks: prints its WebSocket URL as the first line, and runs until it is ended.
//!
//! Beside CDP it knows `Mock.flood {sessionId, count, text?, perSecond?}`, sent to the browser itself: so many console
//! events come on that session, and the reply behind the last of them.

use std::io::Write;
use std::process::ExitCode;

use ostler_mock::MockBrowser;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("ostler-mock: {why}\nusage: ostler-mock [--pages N] [--port N] [--unknown-fields]");
            return ExitCode::from(2);
        }
    };
    let browser = MockBrowser::start_on(options.port).await;
    for number in 0..options.pages {
        browser.add_page(&format!("https://example.com/{number}"));
    }
    if options.unknown_fields {
        browser.script().add_unknown_fields();
    }
    let mut out = std::io::stdout();
    if writeln!(out, "{}", browser.ws_url()).and_then(|()| out.flush()).is_err() {
        // Whoever started us has gone already.
        return ExitCode::FAILURE;
    }
    std::future::pending().await
}

struct Options {
    pages: u32,
    port: u16,
    unknown_fields: bool,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { pages: 1, port: 0, unknown_fields: false };
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_default();
            match option.as_str() {
                "--pages" => options.pages = number(&option, &value())?,
                "--port" => options.port = number(&option, &value())?,
                "--unknown-fields" => options.unknown_fields = true,
                _ => return Err(format!("unknown option {option}")),
            }
        }
        Ok(options)
    }
}

fn number<N: std::str::FromStr>(option: &str, value: &str) -> Result<N, String> {
    value.parse().map_err(|_| format!("{option} wants a number that fits, not {value:?}"))
}
