//! What the user set, from every place where it can be set: the only reader of the environment.
//!
//! A command reads no more than it needs: a client that finds a daemon looks at a handful of variables
//! and never opens `config.yaml`; the daemon reads everything once, before it takes its name.

mod document;
mod fault;
mod file;
mod key;
mod keys;
mod schema;
mod show;
mod yaml;

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use etcetera::BaseStrategy;
use ostler_core::view::{DialogBridge, DialogPolicy};
use serde_json::{Value, json};

use crate::endpoint::cloud::{self, CloudSettings, Keys, Provider, ServiceSettings};
use crate::endpoint::{EndpointError, Given, Headers, Machine, Protocol};
use crate::paths::{Paths, PathsError};
use crate::secret::{Secret, SecretUrl};
use crate::times;

pub(crate) use file::FileError;
pub(crate) use keys::flag;
pub(crate) use schema::schema;
pub(crate) use show::{Setting, effective};

/// What holds where a variable is not set; for the daemon's name and for the task alike.
const NAME: &str = "default";
const RUNTIME_DIR: &str = "/tmp";
const LOG: &str = "info";
const PYTHON: &str = "python3";

/// The variables that hold secrets: no process that we start for a browser gets to see them.
pub(crate) const SECRET_VARIABLES: [&str; 5] =
    ["BU_CDP_WS", "BU_CDP_URL", "BROWSER_USE_API_KEY", "BROWSERBASE_API_KEY", "OSTLER_MCP_TOKEN"];

/// The variables by which programs are told of a proxy. ostler goes by none of them.
const PROXY_VARIABLES: [&str; 8] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"];

/// The environment variables that mean something to ostler, as they were when the process started.
/// A variable that is set to nothing counts as not set.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    name: Option<OsString>,
    runtime_dir: Option<OsString>,
    home: Option<OsString>,
    cdp_ws: Option<Result<SecretUrl, NotText>>,
    cdp_url: Option<Result<SecretUrl, NotText>>,
    log: Option<OsString>,
    task: Option<OsString>,
    mcp_token: Option<Result<Secret, NotText>>,
    machine: Machine,
    python: Option<OsString>,
    browser_id: Option<OsString>,
    browser_use_key: Option<Result<Secret, NotText>>,
    browserbase_key: Option<Result<Secret, NotText>>,
    browserbase_project: Option<OsString>,
    /// Which of the proxy variables are set; their values may hold passwords.
    proxies: Vec<&'static str>,
}

impl Environment {
    /// Reads the variables of this process.
    pub(crate) fn of_this_process() -> Self {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let secret = |name: &str| variable(name).map(|url| url.into_string().map(SecretUrl::new).map_err(|_| NotText));
        let key = |name: &str| variable(name).map(|key| key.into_string().map(Secret::new).map_err(|_| NotText));
        Self {
            name: variable("BU_NAME"),
            runtime_dir: variable("BH_RUNTIME_DIR"),
            home: variable("OSTLER_HOME"),
            cdp_ws: secret("BU_CDP_WS"),
            cdp_url: secret("BU_CDP_URL"),
            log: variable("OSTLER_LOG"),
            task: variable("OSTLER_TASK"),
            mcp_token: key("OSTLER_MCP_TOKEN"),
            machine: Machine {
                home: variable("HOME").map_or_else(|| "/".into(), PathBuf::from),
                config_home: variable("XDG_CONFIG_HOME").map(PathBuf::from),
                search_path: variable("PATH").unwrap_or_default(),
                temp: env::temp_dir(),
                host: host_name(),
                // Elsewhere a window needs no variable.
                has_display: !cfg!(target_os = "linux")
                    || variable("DISPLAY").is_some()
                    || variable("WAYLAND_DISPLAY").is_some(),
            },
            python: variable("OSTLER_PYTHON"),
            browser_id: variable("BU_BROWSER_ID"),
            browser_use_key: key("BROWSER_USE_API_KEY"),
            browserbase_key: key("BROWSERBASE_API_KEY"),
            browserbase_project: variable("BROWSERBASE_PROJECT_ID"),
            proxies: PROXY_VARIABLES.into_iter().filter(|name| variable(name).is_some()).collect(),
        }
    }

    /// Returns where the daemon's files are.
    pub(crate) fn paths(&self) -> Result<Paths, ConfigError> {
        let name = match &self.name {
            // A name that is no UTF-8 is no name either; its lossy form shows what was meant.
            Some(name) => name.to_string_lossy(),
            None => NAME.into(),
        };
        let folder = self.runtime_dir.clone().unwrap_or_else(|| RUNTIME_DIR.into());
        Paths::new(&name, &absolute("BH_RUNTIME_DIR", folder)?).map_err(ConfigError::Paths)
    }

    /// Returns the folder of the configuration and of the scripts' helpers.
    pub(crate) fn home(&self) -> Result<PathBuf, ConfigError> {
        if let Some(home) = &self.home {
            return absolute("OSTLER_HOME", home.clone());
        }
        let base = etcetera::base_strategy::Xdg::new().map_err(|_| ConfigError::NoHome)?;
        Ok(base.config_dir().join("ostler"))
    }

    /// Returns where `config.yaml` is, whether it exists or not.
    pub(crate) fn file(&self) -> Result<PathBuf, ConfigError> {
        Ok(self.home()?.join("config.yaml"))
    }

    /// Returns the browser that the environment names, if it names one.
    pub(crate) fn browser(&self) -> Result<Option<NamedBrowser>, ConfigError> {
        let given = |by, value: &Option<Result<SecretUrl, NotText>>| match value {
            Some(Ok(url)) => Ok(Some(Given::new(url.clone(), by))),
            Some(Err(NotText)) => Err(ConfigError::NotUtf8 { variable: by }),
            None => Ok(None),
        };
        if let Some(given) = given("BU_CDP_WS", &self.cdp_ws)? {
            return Ok(Some(NamedBrowser::WebSocket(given)));
        }
        Ok(given("BU_CDP_URL", &self.cdp_url)?.map(NamedBrowser::Http))
    }

    /// Returns the task of `OSTLER_TASK`.
    pub(crate) fn task(&self) -> Result<Option<String>, ConfigError> {
        self.task.as_ref().map(|task| utf8("OSTLER_TASK", task)).transpose()
    }

    /// Returns the token of `OSTLER_MCP_TOKEN`, that hosts over HTTP must send.
    pub(crate) fn mcp_token(&self) -> Result<Option<Secret>, ConfigError> {
        let variable = "OSTLER_MCP_TOKEN";
        self.mcp_token.clone().transpose().map_err(|NotText| ConfigError::NotUtf8 { variable })
    }

    /// Returns the interpreter that scripts shall run under.
    pub(crate) fn python(&self) -> Option<PathBuf> {
        self.python.as_ref().map(PathBuf::from)
    }

    /// Returns what the machine looks like from here.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the names of the proxy variables that are set.
    pub(crate) fn proxies(&self) -> &[&'static str] {
        &self.proxies
    }

    /// Returns the keys for cloud services.
    pub(crate) fn cloud_keys(&self) -> Result<Keys, ConfigError> {
        let key = |variable, key: &Option<Result<Secret, NotText>>| match key {
            Some(Ok(key)) => Ok(Some(key.clone())),
            Some(Err(NotText)) => Err(ConfigError::NotUtf8 { variable }),
            None => Ok(None),
        };
        Ok(Keys {
            browser_use: key(Provider::BrowserUse.key_variable(), &self.browser_use_key)?,
            browserbase: key(Provider::Browserbase.key_variable(), &self.browserbase_key)?,
        })
    }

    /// Returns the folder in which cloud browsers are written down.
    pub(crate) fn cloud_folder(&self) -> Result<PathBuf, ConfigError> {
        Ok(self.home()?.join("cloud"))
    }

    /// Returns the folder in which launched browsers are noted.
    pub(crate) fn launched_folder(&self) -> Result<PathBuf, ConfigError> {
        Ok(self.home()?.join("launched"))
    }

    /// Returns the project at Browserbase.
    pub(crate) fn browserbase_project(&self) -> Result<Option<String>, ConfigError> {
        self.browserbase_project.as_ref().map(|id| utf8("BROWSERBASE_PROJECT_ID", id)).transpose()
    }

    /// Returns the Browser Use browser that the daemon shall stop when it ends, started by somebody else.
    fn browser_id(&self) -> Result<Option<String>, ConfigError> {
        let Some(id) = &self.browser_id else { return Ok(None) };
        if self.browser_use_key.is_none() {
            return Err(ConfigError::NoKeyForBrowser);
        }
        let id = utf8("BU_BROWSER_ID", id)?;
        if cloud::is_id(&id) { Ok(Some(id)) } else { Err(ConfigError::BadBrowserId) }
    }

    /// Returns the variables that have no key in `config.yaml`: name, whether it is set, and what holds.
    fn variables(&self) -> Result<[(&'static str, bool, Value); 6], ConfigError> {
        let text = |value: &Option<OsString>| value.as_ref().map(|value| value.to_string_lossy().into_owned());
        let runtime_dir = text(&self.runtime_dir).unwrap_or_else(|| RUNTIME_DIR.to_owned());
        Ok([
            ("BU_NAME", self.name.is_some(), json!(self.paths()?.name)),
            ("BH_RUNTIME_DIR", self.runtime_dir.is_some(), json!(runtime_dir)),
            ("OSTLER_HOME", self.home.is_some(), json!(self.home()?)),
            ("OSTLER_TASK", self.task.is_some(), json!(text(&self.task).unwrap_or_else(|| NAME.to_owned()))),
            ("OSTLER_LOG", self.log.is_some(), json!(text(&self.log).unwrap_or_else(|| LOG.to_owned()))),
            ("OSTLER_PYTHON", self.python.is_some(), json!(text(&self.python).unwrap_or_else(|| PYTHON.to_owned()))),
        ])
    }

    /// Returns what a client needs to reach the daemon that this environment means.
    pub(crate) fn client_settings(&self) -> Result<ClientSettings, ConfigError> {
        Ok(ClientSettings { paths: self.paths()?, browser: self.browser()? })
    }

    /// Returns all that a daemon is told, `config.yaml` included: defaults, then the file, then the environment.
    pub(crate) fn daemon_settings(&self) -> Result<Settings, ConfigError> {
        let path = self.file()?;
        // The environment comes first: what is wrong with it is told where there can be no file, too.
        let (paths, browser, browser_id) = (self.paths()?, self.browser()?, self.browser_id()?);
        browser.as_ref().map_or(Ok(()), NamedBrowser::check).map_err(ConfigError::Browser)?;
        let (cloud_keys, browserbase_project) = (self.cloud_keys()?, self.browserbase_project()?);
        let log_filter = match &self.log {
            Some(filter) => utf8("OSTLER_LOG", filter)?,
            None => LOG.to_owned(),
        };
        let file = file::read(&path).map_err(ConfigError::File)?;
        // Every key is judged, used here or not: a wrong value never lies in wait.
        let wrong = |fault| ConfigError::File(FileError::wrong(&path, fault));
        keys::check_all(&file).map_err(wrong)?;
        // The headers go with the URL beside them: another one of the environment's must not get them.
        let headers = keys::HEADERS.of(&file).map_err(wrong)?.unwrap_or_default().into();
        let browser_of_file = keys::CDP_URL.of(&file).map_err(wrong)?.map(|browser| browser.with_headers(headers));
        Ok(Settings {
            browser: browser.or(browser_of_file),
            executable: keys::EXECUTABLE.of(&file).map_err(wrong)?,
            flags: keys::FLAGS.of(&file).map_err(wrong)?.unwrap_or_default(),
            dialog_policy: keys::DIALOG_POLICY.of(&file).map_err(wrong)?.unwrap_or_default(),
            idle_timeout: keys::IDLE_TIMEOUT.of(&file).map_err(wrong)?,
            dialog_timeout: keys::DIALOG_TIMEOUT.of(&file).map_err(wrong)?.unwrap_or(times::DIALOG_DEFAULT),
            quiet: keys::QUIET.of(&file).map_err(wrong)?.unwrap_or_default(),
            profiles: self.home()?.join("profiles"),
            launched: self.launched_folder()?,
            browser_id,
            cloud: CloudSettings {
                folder: self.cloud_folder()?,
                keys: cloud_keys,
                browser_use: ServiceSettings {
                    api_base: keys::BROWSER_USE_API_BASE.of(&file).map_err(wrong)?,
                    project: None,
                    options: keys::BROWSER_USE_OPTIONS.of(&file).map_err(wrong)?.unwrap_or_default().0,
                },
                browserbase: ServiceSettings {
                    api_base: keys::BROWSERBASE_API_BASE.of(&file).map_err(wrong)?,
                    project: match browserbase_project {
                        Some(project) => Some(project),
                        None => keys::BROWSERBASE_PROJECT.of(&file).map_err(wrong)?,
                    },
                    options: keys::BROWSERBASE_OPTIONS.of(&file).map_err(wrong)?.unwrap_or_default().0,
                },
                daemon: paths.name.clone(),
            },
            paths,
            dialog_bridge: keys::DIALOG_BRIDGE.of(&file).map_err(wrong)?.unwrap_or_default(),
            machine: self.machine.clone(),
            log_filter,
        })
    }
}

/// Stands for a value that is no UTF-8, and keeps nothing of it: it may hold a secret.
#[derive(Clone, Copy, Debug)]
struct NotText;

/// What a client needs to reach its daemon.
#[derive(Clone, Debug)]
pub(crate) struct ClientSettings {
    /// Where the daemon's files are.
    pub(crate) paths: Paths,
    /// The browser that this command's environment names: the daemon's must be the same.
    pub(crate) browser: Option<NamedBrowser>,
}

/// What a daemon is told when it starts.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where its files are.
    pub(crate) paths: Paths,
    /// The browser to use; none means looking for one that runs.
    pub(crate) browser: Option<NamedBrowser>,
    /// The program that `connect --launch` starts when it is told no other.
    pub(crate) executable: Option<PathBuf>,
    /// Flags for every browser that is launched.
    pub(crate) flags: Vec<String>,
    /// How a task's dialogs are answered unless `connect` says otherwise.
    pub(crate) dialog_policy: DialogPolicy,
    /// After how long an unanswered dialog is dismissed.
    pub(crate) dialog_timeout: Duration,
    /// Whether pages are kept from telling that they are watched.
    pub(crate) quiet: bool,
    /// The folder of the profiles that `connect --launch --profile-name` keeps.
    pub(crate) profiles: PathBuf,
    /// The folder in which it is noted which browsers were launched.
    pub(crate) launched: PathBuf,
    /// A Browser Use browser that ends with the daemon, though somebody else started it.
    pub(crate) browser_id: Option<String>,
    /// What `connect --cloud` goes by.
    pub(crate) cloud: CloudSettings,
    /// After how long without a client the daemon ends; none means never.
    pub(crate) idle_timeout: Option<Duration>,
    /// Whether a task's dialogs come over the bridge unless `connect` says otherwise.
    pub(crate) dialog_bridge: DialogBridge,
    /// What is logged, in the words of `tracing`'s filter.
    pub(crate) log_filter: String,
    /// Where browsers are looked for, and where one of our own lives.
    pub(crate) machine: Machine,
}

/// A browser that the user named, where, and in which way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamedBrowser {
    /// By its WebSocket URL.
    WebSocket(Given),
    /// By its HTTP endpoint, which tells the WebSocket URL.
    Http(Given),
}

impl NamedBrowser {
    /// Returns the same with these headers.
    fn with_headers(mut self, headers: Headers) -> Self {
        let (Self::WebSocket(given) | Self::Http(given)) = &mut self;
        given.headers = headers;
        self
    }

    /// Says what is wrong with the URL itself, if anything is. Nobody is asked.
    pub(crate) fn check(&self) -> Result<(), EndpointError> {
        match self {
            Self::WebSocket(given) => given.refuse(Protocol::WebSocket),
            Self::Http(given) => given.refuse(Protocol::Http),
        }
    }

    /// Returns the URL, and the variable or key that it was given in.
    pub(crate) fn given(&self) -> &Given {
        match self {
            Self::WebSocket(given) | Self::Http(given) => given,
        }
    }
}

/// Returns the machine's name, where the system gives it away as a file.
fn host_name() -> Option<String> {
    Some(std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?.trim().to_owned())
}

/// Returns the value as text.
fn utf8(variable: &'static str, value: &OsString) -> Result<String, ConfigError> {
    value.to_str().map(str::to_owned).ok_or(ConfigError::NotUtf8 { variable })
}

/// Returns the folder as an absolute path, so that it means the same after the daemon left for `/`.
fn absolute(variable: &'static str, folder: OsString) -> Result<PathBuf, ConfigError> {
    std::path::absolute(folder).map_err(|error| ConfigError::Folder { variable, error })
}

/// Why the settings cannot be used. Each of them is for the caller to mend.
#[derive(Debug)]
pub(crate) enum ConfigError {
    /// The name or the runtime folder makes no daemon.
    Paths(PathsError),
    /// `config.yaml` cannot be used.
    File(FileError),
    /// The URL of `BU_CDP_WS` or `BU_CDP_URL` is none.
    Browser(EndpointError),
    /// A variable is no text.
    NotUtf8 {
        /// Which one.
        variable: &'static str,
    },
    /// A variable names a folder that cannot be made absolute.
    Folder {
        /// Which one.
        variable: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// There is no home folder to put ours in.
    NoHome,
    /// `BU_BROWSER_ID` is set, and the key that its browser is stopped with is not.
    NoKeyForBrowser,
    /// `BU_BROWSER_ID` is no id.
    BadBrowserId,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paths(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
            Self::Browser(error) => write!(f, "{}; {}", error.happened(), error.next_step()),
            Self::NotUtf8 { variable } => write!(f, "{variable} is not UTF-8 text; set it again or unset it"),
            Self::Folder { variable, error } => {
                write!(f, "{variable} is no usable folder ({error}); set it to an absolute path")
            }
            Self::NoHome => {
                f.write_str("no home folder is known; set OSTLER_HOME to a folder that ostler may write to")
            }
            Self::NoKeyForBrowser => f.write_str(
                "BU_BROWSER_ID names a cloud browser and BROWSER_USE_API_KEY, which is needed to stop it, is not set; \
                 set it, or unset BU_BROWSER_ID",
            ),
            Self::BadBrowserId => {
                f.write_str("BU_BROWSER_ID is no id of a browser; set it to the id that Browser Use gave, or unset it")
            }
        }
    }
}

impl std::error::Error for ConfigError {}
