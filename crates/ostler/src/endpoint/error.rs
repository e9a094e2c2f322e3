//! Says why no browser was found, and what to do about it.

use std::fmt;
use std::path::PathBuf;

use super::cloud::CloudError;

/// Why there is no endpoint. What happened and what to do next are kept apart; a door joins them into one sentence.
///
/// No variant holds a URL, only labels (`ws://host:port`): an error can be shown to anyone.
#[derive(Debug)]
pub(crate) enum EndpointError {
    /// The URL that was given has the wrong scheme or shape.
    BadUrl { given_by: &'static str, problem: &'static str, expected: &'static str },
    /// Nobody answers at that host and port.
    Unreachable { at: String, cause: String },
    /// Somebody took the connection and then said nothing.
    Silent { at: String },
    /// A TLS peer that did not prove who it is.
    Untrusted { at: String, cause: String },
    /// The browser asks the person in front of it whether we may connect.
    ConsentPending { at: String },
    /// A remote service refused us.
    Denied { at: String, status: u16 },
    /// Something answers, but no DevTools server; `passing` if it may be one again soon (a gateway's 502).
    NotDevTools { at: String, answer: String, passing: bool },
    /// A browser that has no `/json/version` (Chrome 144 and later), and whose profile we do not know.
    NoVersionPage { at: String },
    /// A backend that is driven over REST and knows no CDP.
    RestOnly { at: String, backend: &'static str },
    /// No running browser was found, or none that was `wanted`; `others` run.
    NothingFound { wanted: String, looked_at: String, others: Vec<String> },
    /// A browser runs, and lets nobody debug it.
    DebuggingOff { browser: &'static str, pid: u32 },
    /// The same of a Flatpak or a Snap, for which less can be done from outside.
    DebuggingOffConfined { browser: &'static str, pid: u32, folder: PathBuf },
    /// A browser has been started just now, and does not listen yet.
    Starting { browser: &'static str, pid: u32 },
    /// A browser runs and says where it listens, and that cannot be reached from here.
    PortBlocked { browser: &'static str, pid: u32, port: u16, cause: String },
    /// A profile folder is there and cannot be looked into.
    Unreadable { folder: PathBuf, cause: String },
    /// The system has no root certificates, so no `https` or `wss` peer can be trusted.
    NoRootCertificates,
    /// No browser to launch is installed.
    NoExecutable { looked_for: String },
    /// No browser was started: there is no place for its profile, another one has that open, or the program is none.
    NotStarted { happened: String, next_step: String },
    /// The browser ended before it could be reached; `stderr` is the end of what it said.
    LaunchFailed { program: PathBuf, how: String, stderr: String, in_order: bool },
    /// The browser started and could not be reached in time.
    LaunchTimedOut { program: PathBuf, seconds: u64 },
    /// The process that was to guard the browser did not do its work.
    GuardFailed { cause: String },
    /// A cloud service gave no browser.
    Cloud(CloudError),
}

/// What helps where a window was wanted and there is no display for it.
pub(super) const NO_DISPLAY: &str = "leave --headed off, or end the daemon with `ostler stop` and run the command where DISPLAY or WAYLAND_DISPLAY names a \
     display, since the daemon keeps the environment that it was started with; on a machine without one a virtual display \
     does, as `xvfb-run ostler connect --launch --headed`";

/// Says whether a browser complains that it has no display to open its window on.
fn says_no_display(stderr: &str) -> bool {
    ["Missing X server or $DISPLAY", "open X display", "cannot open display", "platform failed to initialize"]
        .iter()
        .any(|words| stderr.contains(words))
}

/// What helps where a service wants another key.
pub(crate) const DENIED: &str = "check the token or key in the URL: one that has expired needs a fresh URL, given with `ostler connect -`; a key that \
     belongs into a header stands under browser.headers of config.yaml, beside browser.cdp_url";

/// What the person in front of a browser can do.
const ALLOW: &str = "open chrome://inspect/#remote-debugging in it and allow remote debugging for this browser";

impl EndpointError {
    /// Returns what happened.
    pub(crate) fn happened(&self) -> String {
        match self {
            Self::BadUrl { given_by, problem, .. } => format!("{given_by} {problem}"),
            Self::Unreachable { at, cause } => format!("no browser answers at {at} ({cause})"),
            Self::Silent { at } => format!("{at} took the connection but did not answer in time"),
            Self::Untrusted { at, cause } => {
                format!("no TLS connection to {at} can be trusted ({cause})")
            }
            Self::ConsentPending { at } => {
                format!("the browser at {at} asks whether it may be debugged")
            }
            Self::Denied { at, status } => format!("{at} refused access with status {status}"),
            Self::NotDevTools { at, answer, .. } => {
                format!("{at} is no DevTools endpoint: {answer}")
            }
            Self::NoVersionPage { at } => {
                format!("{at} has no /json/version, and no known profile folder records that port")
            }
            Self::RestOnly { at, backend } => {
                format!("{at} is {backend}, which is driven over REST and speaks no CDP")
            }
            Self::NothingFound { wanted, looked_at, .. } => {
                format!("no running {wanted} to connect to; looked at {looked_at}")
            }
            Self::DebuggingOff { browser, pid } => {
                format!("{browser} runs (pid {pid}), and its remote debugging is off")
            }
            Self::DebuggingOffConfined { browser, pid, .. } => {
                format!("{browser} runs (pid {pid}) shut in with its own folders, and its remote debugging is off")
            }
            Self::Starting { browser, pid } => {
                format!("{browser} (pid {pid}) has been started just now, and does not listen for debugging yet")
            }
            Self::PortBlocked { browser, pid, port, cause } => {
                format!(
                    "{browser} (pid {pid}) says that it listens on port {port}, and nothing is reached there ({cause})"
                )
            }
            Self::Unreadable { folder, cause } => {
                format!("the browser profile {} cannot be looked into ({cause})", folder.display())
            }
            Self::NoRootCertificates => "the system has no root certificates".to_owned(),
            Self::NoExecutable { looked_for } => {
                format!("no browser to launch; looked for {looked_for}")
            }
            Self::NotStarted { happened, .. } => happened.clone(),
            Self::LaunchFailed { program, how, stderr, .. } if stderr.is_empty() => {
                format!("{} {how}", program.display())
            }
            Self::LaunchFailed { program, how, stderr, .. } => {
                format!("{} {how}; it said: {stderr}", program.display())
            }
            Self::LaunchTimedOut { program, seconds } => {
                format!("{} started but opened no debugging port within {seconds} s", program.display())
            }
            Self::GuardFailed { cause } => {
                format!("the process that guards the browser failed: {cause}")
            }
            Self::Cloud(error) => error.happened(),
        }
    }

    /// Returns what to do next.
    pub(crate) fn next_step(&self) -> String {
        match self {
            Self::BadUrl { given_by, expected, .. } => format!("set {given_by} to {expected}"),
            Self::Unreachable { .. } => "check that the browser runs with remote debugging on and that host and \
                                         port are right, or start one with `ostler connect --launch`"
                .to_owned(),
            Self::Silent { .. } => "restart the browser, or check that host and port are right".to_owned(),
            Self::Untrusted { .. } => {
                "check the host name in the URL, and that the system's root certificates (or SSL_CERT_FILE) \
                 cover it"
                    .to_owned()
            }
            Self::ConsentPending { .. } => {
                "click Allow in the browser's window; the connection then goes on by itself".to_owned()
            }
            Self::Denied { .. } => {
                DENIED.to_owned()
            }
            Self::NotDevTools { .. } => "give the host and port of a browser's remote debugging".to_owned(),
            Self::NoVersionPage { .. } => {
                "name the browser's profile folder with `ostler connect --profile`, or set BU_CDP_WS to ws://, the host \
                 and port, then the second line of DevToolsActivePort in that folder"
                    .to_owned()
            }
            Self::NothingFound { others, .. } if !others.is_empty() => {
                format!("start it with remote debugging on, or choose one that runs: {}", others.join(", "))
            }
            Self::DebuggingOff { .. } => format!("{ALLOW}, or start a browser of ostler's own with `ostler connect --launch`"),
            Self::DebuggingOffConfined { folder, .. } => format!(
                "{ALLOW}; started with --remote-debugging-port it needs a --user-data-dir below {}, since it reaches no other",
                folder.display()
            ),
            Self::Starting { .. } => format!("try again in some seconds; if it still does not listen then, {ALLOW}"),
            Self::PortBlocked { .. } => {
                "switch its remote debugging off and on again; if that changes nothing, look for a firewall, or for a \
                 container or sandbox around one of the two, and run ostler where the browser runs"
                    .to_owned()
            }
            Self::Unreadable { .. } => "run ostler as the user that the browser belongs to".to_owned(),
            Self::RestOnly { .. } => {
                "use that backend's own tools, or give ostler a Chromium-based browser".to_owned()
            }
            Self::NothingFound { .. } => "run `ostler connect --launch`, start Chrome with \
                                          --remote-debugging-port=9222 and a --user-data-dir of its own, or set \
                                          BU_CDP_URL"
                .to_owned(),
            Self::NoRootCertificates => "install them (on Debian: the package ca-certificates)".to_owned(),
            Self::NoExecutable { .. } => {
                "install Chromium or Chrome, or name the browser's program (--executable of `ostler connect --launch`, \
                 browser.executable of config.yaml)"
                    .to_owned()
            }
            Self::NotStarted { next_step, .. } => next_step.clone(),
            Self::LaunchFailed { in_order: true, .. } => {
                "it seems to start the browser and go, where ostler has to see it end: name the browser's own program \
                 (--executable of `ostler connect --launch`, browser.executable of config.yaml), or have the script `exec` it"
                    .to_owned()
            }
            Self::LaunchFailed { stderr, .. } if says_no_display(stderr) => {
                format!("no display can be reached for its window: {NO_DISPLAY}")
            }
            Self::LaunchFailed { .. } => {
                "install what it misses, or name another browser's executable; in a container without user \
                 namespaces add the flag --no-sandbox"
                    .to_owned()
            }
            Self::LaunchTimedOut { .. } => {
                "try again, or name a browser that is no Snap or Flatpak (those keep their profile out of reach)"
                    .to_owned()
            }
            Self::GuardFailed { .. } => "check the daemon's log and try again".to_owned(),
            Self::Cloud(error) => error.next_step(),
        }
    }

    /// Says whether it ends by itself, so that whoever asks again after a moment may be better off. All else takes
    /// somebody who does what [`next_step`] says.
    ///
    /// [`next_step`]: Self::next_step
    pub(crate) fn passes(&self) -> bool {
        matches!(
            self,
            Self::Silent { .. }
                | Self::Starting { .. }
                | Self::ConsentPending { .. }
                | Self::NotDevTools { passing: true, .. }
        )
    }

    /// Says whether the same attempt may succeed later without anyone changing what was asked for.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Silent { .. }
            | Self::ConsentPending { .. }
            | Self::NothingFound { .. }
            | Self::PortBlocked { .. }
            | Self::Starting { .. }
            | Self::LaunchTimedOut { .. }
            | Self::GuardFailed { .. } => true,
            Self::NotDevTools { passing, .. } => *passing,
            Self::BadUrl { .. }
            | Self::Untrusted { .. }
            | Self::Denied { .. }
            | Self::NoVersionPage { .. }
            | Self::DebuggingOff { .. }
            | Self::DebuggingOffConfined { .. }
            | Self::Unreadable { .. }
            | Self::RestOnly { .. }
            | Self::NoRootCertificates
            | Self::NoExecutable { .. }
            | Self::NotStarted { .. }
            | Self::LaunchFailed { .. }
            // Asking again may cost money, so nobody does it unasked.
            | Self::Cloud(_) => false,
        }
    }
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.happened(), self.next_step())
    }
}

impl std::error::Error for EndpointError {}
