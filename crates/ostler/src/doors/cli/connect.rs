//! `ostler connect`: gives a task its browser.

use std::convert::Infallible;
use std::io::{self, Read};
use std::ops::Not;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::Context;
use super::failure::Failure;
use super::{reply, text};
use crate::config::ConfigError;
use crate::endpoint::cloud::Provider;
use crate::endpoint::{Given, Protocol};
use crate::exit_code::Exit;
use crate::secret::{Secret, SecretUrl};

/// Gives the task its browser: one that runs already, or a new one
///
///     ostler connect                          the one of BU_CDP_WS or BU_CDP_URL, else the one that the
///                                             task is in, else a running one
///     ostler connect http://127.0.0.1:9222    this one
///     ostler connect --browser edge           one that runs on this machine, by its name
///     ostler connect --launch                 a fresh headless Chromium, gone with the daemon
///     ostler connect --launch --headed        the same with a window
///     ostler connect --cloud browser-use      one that a cloud service runs, stopped with the daemon
///
/// A task that is moved to another browser forgets its tabs and dialogs; in the one that it is in
/// already it keeps them. --launch and --cloud keep the browser that the task got by them before if it
/// is what the options say; with other options the task gets another one, and the first one ends.
#[derive(Args, Debug)]
#[command(name = "connect", verbatim_doc_comment)]
pub(super) struct Connect {
    /// ws://, wss://, http:// or https:// of its DevTools; - reads it from standard input, which keeps a token out of
    /// the process list
    #[arg(conflicts_with_all = ["launch", "cloud"], value_parser = secret_url)]
    url: Option<SecretUrl>,

    /// One that runs on this machine: chrome, edge, brave, ... or an edition such as "Google Chrome Beta"
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "launch", "cloud"])]
    browser: Option<String>,

    /// The one that runs on this machine with this profile folder (its --user-data-dir)
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["url", "launch", "cloud", "browser"])]
    profile: Option<PathBuf>,

    /// Start a browser of our own in a fresh profile
    #[arg(long)]
    launch: bool,

    /// With a window
    #[arg(long, requires = "launch")]
    headed: bool,

    /// Keep the profile under this name, so that logins are there the next time; without it the profile is fresh
    #[arg(long, value_name = "NAME", requires = "launch")]
    profile_name: Option<String>,

    /// Pass this flag to the browser; may be repeated
    #[arg(long = "flag", value_name = "FLAG", requires = "launch", allow_hyphen_values = true)]
    flags: Vec<String>,

    /// The browser's program [default: browser.executable of config.yaml, else the first known one on PATH]
    #[arg(long, value_name = "PATH", requires = "launch")]
    executable: Option<PathBuf>,

    /// Rent a browser; its API key is taken from BROWSER_USE_API_KEY or BROWSERBASE_API_KEY
    #[arg(long, value_name = "SERVICE", conflicts_with = "launch", value_enum)]
    cloud: Option<Service>,

    /// Pass this on to the cloud service, as in timeout=30 or proxyCountryCode=de; may be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", requires = "cloud", value_parser = secret)]
    options: Vec<Secret>,

    /// Pass these on: a JSON object; - reads it from standard input, which keeps a password out of the process list
    #[arg(long = "options", value_name = "JSON", requires = "cloud", value_parser = secret)]
    all_options: Option<Secret>,

    /// What happens when a dialog opens in this task
    #[arg(long, value_enum)]
    policy: Option<Policy>,

    /// Dismiss a dialog that nobody answered for so long
    #[arg(long, value_name = "SECONDS", value_parser = text::seconds)]
    dialog_timeout: Option<Duration>,

    /// Leave off what a page's script could notice, or not, whatever browser.quiet of config.yaml says
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    quiet: Option<bool>,

    /// Whether dialogs come over the bridge, where nobody else can answer them and a waiting page can be looked at
    #[arg(long, value_enum)]
    dialog_bridge: Option<Bridge>,
}

/// The contract's settings of the dialog bridge.
#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
enum Bridge {
    /// Where the browser's host answers dialogs by itself
    Auto,
    /// In every document
    Always,
    /// Nowhere
    Never,
}

/// The contract's dialog policies.
#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
enum Policy {
    /// It waits for an answer
    MustRespond,
    /// It is dismissed at once
    AutoDismiss,
    /// It is accepted at once, a prompt with its default text
    AutoAccept,
}

/// The cloud services.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Service {
    /// Browser Use
    BrowserUse,
    /// Browserbase
    Browserbase,
}

impl From<Service> for Provider {
    fn from(service: Service) -> Self {
        match service {
            Service::BrowserUse => Self::BrowserUse,
            Service::Browserbase => Self::Browserbase,
        }
    }
}

/// The `connect` request.
#[derive(Serialize)]
struct Request<'a> {
    meta: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cdp_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    browser: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<Launch<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cloud: Option<Cloud>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog_policy: Option<Policy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog_timeout_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quiet: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog_bridge: Option<Bridge>,
}

#[derive(Serialize)]
struct Launch<'a> {
    /// Left out where it was not asked for: a browser that is there is then right with a window, too.
    #[serde(skip_serializing_if = "Not::not")]
    headed: bool,
    flags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    executable: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a str>,
}

/// Sent over the daemon's own socket, to nobody but the user who runs it.
#[derive(Serialize)]
struct Cloud {
    provider: Provider,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    options: Map<String, Value>,
}

/// Its reply.
#[derive(Deserialize)]
struct Reply {
    task: TaskSummary,
    cloud: Option<CloudReply>,
    left_behind: Option<String>,
}

#[derive(Deserialize)]
struct CloudReply {
    id: String,
    live_url: Option<String>,
}

#[derive(Deserialize)]
struct TaskSummary {
    task: String,
    browser_kind: String,
    browser: String,
    tabs: u64,
}

impl Connect {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        let settings = context.settings()?;
        let cdp_url = match self.url {
            Some(url) if url.expose() == "-" => Some(url_from_stdin()?),
            Some(url) => Some(url),
            // The environment of this command, which need not be the daemon's.
            None if !self.launch && self.cloud.is_none() && self.browser.is_none() && self.profile.is_none() => {
                if let Some(named) = &settings.browser {
                    named.check().map_err(ConfigError::Browser)?;
                }
                settings.browser.map(|named| named.given().url.clone())
            }
            None => None,
        };
        if let Some(url) = &cdp_url {
            check_url(url)?;
        }
        let cloud = match self.cloud {
            Some(service) => Some(cloud(service.into(), &self.options, self.all_options.as_ref(), context)?),
            None => None,
        };
        let executable = self.executable.as_deref().map(program).transpose()?;
        let profile = self.profile.as_deref().map(|folder| absolute("--profile", folder)).transpose()?;
        let launch = Launch {
            headed: self.headed,
            flags: &self.flags,
            executable: executable.as_deref(),
            profile: self.profile_name.as_deref(),
        };
        let request = Request {
            meta: "connect",
            task: context.task.as_deref(),
            cdp_url: cdp_url.as_ref().map(SecretUrl::expose),
            browser: self.browser.as_deref(),
            profile: profile.as_deref(),
            launch: self.launch.then_some(launch),
            cloud,
            dialog_policy: self.policy,
            dialog_timeout_s: self.dialog_timeout.map(|time| time.as_secs_f64()),
            quiet: self.quiet,
            dialog_bridge: self.dialog_bridge,
        };
        // Whatever browser the daemon has: this request says which one it shall have.
        let mut client = context.connect()?.with_any_browser();
        let reply = context.ask_for_one(&mut client, &request, PATIENCE)?;
        let Reply { task, cloud, left_behind } = reply::read(&reply)?;
        let tabs = if task.tabs == 1 { "1 tab".to_owned() } else { format!("{} tabs", task.tabs) };
        let mut words = format!("task {} has a {} browser, {tabs}: {}", task.task, task.browser_kind, task.browser);
        if let Some(CloudReply { id, live_url }) = cloud {
            words.push_str(&format!("\ncloud browser {id}, stopped when the daemon ends or the task leaves it"));
            if let Some(url) = live_url {
                words.push_str(&format!("\nwatch it (whoever has this link can drive it): {url}"));
            }
        }
        context.print(&reply, &words)?;
        Ok(context.mind_what_is_left(left_behind.as_deref()))
    }
}

/// Puts together what is asked of a cloud service. No error repeats a value: it may be a password.
fn cloud(provider: Provider, single: &[Secret], all: Option<&Secret>, context: &Context) -> Result<Cloud, Failure> {
    let wrong = |why: &str| Failure::WrongCall(why.to_owned());
    let mut options: Map<String, Value> = match all {
        Some(all) => {
            let text = if all.expose() == "-" { stdin()? } else { all.expose().to_owned() };
            serde_json::from_str(&text)
                .map_err(|_| wrong("--options is no JSON object; give one such as {\"timeout\": 30}"))?
        }
        None => Map::new(),
    };
    for option in single {
        let (name, value) = option
            .expose()
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| wrong("--option needs a name and a value, as in --option timeout=30"))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        options.insert(name.to_owned(), value);
    }
    let keys = context.environment.cloud_keys()?;
    let project = match provider {
        Provider::BrowserUse => None,
        Provider::Browserbase => context.environment.browserbase_project()?,
    };
    // The environment of this command, which need not be the daemon's.
    let api_key = keys.of(provider).map(|key| key.expose().to_owned());
    Ok(Cloud { provider, api_key, project, options })
}

/// How long a browser may take to start, or a person to allow the connection, and the one before it to end.
const PATIENCE: Duration = Duration::from_secs(140);

/// Takes the URL out of the arguments, which are printed when they are debugged.
fn secret_url(given: &str) -> Result<SecretUrl, Infallible> {
    Ok(SecretUrl::new(given))
}

/// Says what is wrong with a URL, in the words of the command and without repeating any of it.
fn check_url(url: &SecretUrl) -> Result<(), Failure> {
    let wrong = |problem: &str| Failure::WrongCall(format!("the URL {problem}"));
    let protocol = Protocol::of(url).ok_or_else(|| wrong(Protocol::EITHER))?;
    Given::new(url.clone(), Given::BY_COMMAND).check(protocol).map_err(wrong)
}

fn secret(given: &str) -> Result<Secret, Infallible> {
    Ok(Secret::new(given))
}

fn url_from_stdin() -> Result<SecretUrl, Failure> {
    Ok(SecretUrl::new(stdin()?.trim()))
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = io::stdin().lock().read_to_string(&mut text);
    read.map_err(|error| Failure::WrongCall(format!("standard input cannot be read: {error}")))?;
    Ok(text)
}

/// Returns the program as the daemon can use it; a bare name is left to PATH.
fn program(program: &Path) -> Result<String, Failure> {
    match (program.components().count(), program.to_str()) {
        (1, Some(name)) => Ok(name.to_owned()),
        _ => absolute("--executable", program),
    }
}

/// Returns the path as the daemon, which has another working directory, can use it.
fn absolute(argument: &str, path: &Path) -> Result<String, Failure> {
    let wrong = |why: String| Failure::WrongCall(format!("{argument} {}: {why}", path.display()));
    let absolute = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
    absolute.into_os_string().into_string().map_err(|_| wrong("the path is not UTF-8".to_owned()))
}
