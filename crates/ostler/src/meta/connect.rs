//! `connect`: starts a task on a browser, or binds it to another one.
//!
//! `cdp_url` names the browser, `browser` or `profile` one that runs on this machine, `launch` starts one of our own,
//! `cloud` rents one, and none of them means the browser that the environment and the configuration name. A URL often
//! carries a token: no error repeats it.

use std::path::Path;

use std::path::PathBuf;

use ostler_core::CallError;
use ostler_core::view::{DialogBridge, DialogPolicy};
use serde::Serialize;
use serde_json::Map;
use serde_json::value::RawValue;

use super::value::{self, bad};
use super::{Answer, Fields, TaskLayer, reply};
use crate::config;
use crate::endpoint::cloud::{CloudOptions, Provider};
use crate::endpoint::{Given, LaunchOptions, Protocol, Wanted};
use crate::secret::{Secret, SecretUrl};
use crate::tasks::{ConnectRequest, ConnectTarget, TaskSummary};
use crate::times;

/// The reply of `connect` and `disconnect`.
#[derive(Serialize)]
pub(super) struct Bound {
    pub(super) ok: bool,
    pub(super) task: TaskSummary,
    /// Only for a cloud browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    cloud: Option<CloudReply>,
    /// A cloud browser that the task left could not be stopped, and costs money.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_behind: Option<String>,
}

/// What whoever asked for a cloud browser is told of it. The live URL is a key, and goes to nobody else.
#[derive(Serialize)]
struct CloudReply {
    provider: Provider,
    id: String,
    live_url: Option<String>,
}

impl Bound {
    pub(super) fn of(task: TaskSummary) -> Self {
        let cloud = task.cloud.as_ref().map(|facts| CloudReply {
            provider: facts.provider,
            id: facts.id.clone(),
            live_url: facts.live_url.as_ref().map(|url| url.expose().to_owned()),
        });
        let left_behind = task.left_behind.clone();
        Self { ok: true, task, cloud, left_behind }
    }
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let request = ConnectRequest {
        task: fields.task()?,
        target: target(fields)?,
        dialog_policy: fields.raw("dialog_policy").map(dialog_policy).transpose()?,
        dialog_timeout_s: fields.raw("dialog_timeout_s").map(dialog_timeout).transpose()?,
        quiet: fields.raw("quiet").map(|raw| value::flag("quiet", raw)).transpose()?,
        dialog_bridge: fields.raw("dialog_bridge").map(dialog_bridge).transpose()?,
    };
    let task = tasks.connect(request).await?;
    Ok(reply(&Bound::of(task)))
}

fn target(fields: &Fields<'_>) -> Result<ConnectTarget, CallError> {
    if let Some((field, wanted)) = running(fields)? {
        return match ["cdp_url", "launch", "cloud"].into_iter().find(|other| fields.raw(other).is_some()) {
            Some(other) => Err(bad(field, format!("cannot stand beside `{other}`: name the browser in one way"))),
            None => Ok(ConnectTarget::Running(wanted)),
        };
    }
    match (fields.text("cdp_url")?, fields.raw("launch"), fields.raw("cloud")) {
        (Some(_), Some(_), _) => Err(bad("launch", "cannot stand beside `cdp_url`: name a browser or launch one")),
        (Some(_), _, Some(_)) => Err(bad("cloud", "cannot stand beside `cdp_url`: name a browser or rent one")),
        (_, Some(_), Some(_)) => Err(bad("cloud", "cannot stand beside `launch`: launch a browser or rent one")),
        (Some(url), None, None) => {
            let url = SecretUrl::new(url);
            let protocol = Protocol::of(&url).ok_or_else(|| bad("cdp_url", Protocol::EITHER))?;
            Given::new(url.clone(), Given::BY_COMMAND).check(protocol).map_err(|problem| bad("cdp_url", problem))?;
            Ok(ConnectTarget::Url(url))
        }
        (None, Some(options), None) => Ok(ConnectTarget::Launch(launch_options(options)?)),
        (None, None, Some(options)) => Ok(ConnectTarget::Cloud(cloud_options(options)?)),
        (None, None, None) => Ok(ConnectTarget::Default),
    }
}

/// Returns which of the running browsers is meant, and the field that says so.
fn running(fields: &Fields<'_>) -> Result<Option<(&'static str, Wanted)>, CallError> {
    match (fields.text("browser")?, fields.text("profile")?) {
        (Some(_), Some(_)) => Err(bad("profile", "cannot stand beside `browser`: a profile belongs to one browser")),
        (Some(name), None) => {
            let wanted = Wanted::browser(&name).map_err(|why| bad("browser", why))?;
            Ok(Some(("browser", wanted)))
        }
        (None, Some(folder)) => match Path::new(&*folder) {
            folder if folder.is_absolute() => Ok(Some(("profile", Wanted::profile(folder)))),
            _ => Err(bad("profile", "must be an absolute path")),
        },
        (None, None) => Ok(None),
    }
}

fn launch_options(raw: &RawValue) -> Result<LaunchOptions, CallError> {
    let options = Fields::parse_inner("launch", raw)?;
    let executable = options.raw("executable").map(|raw| value::text("launch.executable", raw)).transpose()?;
    let profile = options.raw("profile").map(profile_name).transpose()?;
    Ok(LaunchOptions {
        profile,
        executable: executable.map(|path| path.into_owned().into()),
        headed: options.raw("headed").map(|raw| value::flag("launch.headed", raw)).transpose()?,
        extra_flags: options.raw("flags").map_or(Ok(Vec::new()), flags)?,
        ..LaunchOptions::default()
    })
}

/// Those that would part the browser from ostler are refused here, and not found out by a launch that fails.
fn flags(raw: &RawValue) -> Result<Vec<String>, CallError> {
    let given = value::texts("launch.flags", raw)?;
    given.iter().map(|one| config::flag(one).map_err(|why| bad("launch.flags", why))).collect()
}

/// Returns the name as a path of one part: it must not lead out of the folder of profiles.
fn profile_name(raw: &RawValue) -> Result<PathBuf, CallError> {
    let name = value::text("launch.profile", raw)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.len() > 64 || !name.bytes().all(plain) {
        return Err(bad("launch.profile", "must be a name of 1 to 64 letters, digits, `_` or `-`"));
    }
    Ok(PathBuf::from(&*name))
}

/// Never repeats a value: the key is one, and an option may be.
fn cloud_options(raw: &RawValue) -> Result<CloudOptions, CallError> {
    let fields = Fields::parse_inner("cloud", raw)?;
    let text = |field, name| fields.raw(name).map(|raw| value::text(field, raw)).transpose();
    let name = text("cloud.provider", "provider")?.ok_or_else(|| bad("cloud.provider", "is missing"))?;
    let provider = Provider::of_name(&name).ok_or_else(|| {
        let known = Provider::ALL.map(Provider::name).join("\" or \"");
        bad("cloud.provider", format!("must be \"{known}\""))
    })?;
    Ok(CloudOptions {
        provider,
        key: text("cloud.api_key", "api_key")?.map(Secret::new),
        project: text("cloud.project", "project")?.map(Into::into),
        options: fields.raw("options").map_or(Ok(Map::new()), |raw| {
            serde_json::from_str(raw.get()).map_err(|_| bad("cloud.options", "must be an object"))
        })?,
    })
}

fn dialog_policy(raw: &RawValue) -> Result<DialogPolicy, CallError> {
    serde_json::from_str(raw.get())
        .map_err(|_| bad("dialog_policy", "must be \"must_respond\", \"auto_dismiss\" or \"auto_accept\""))
}

fn dialog_bridge(raw: &RawValue) -> Result<DialogBridge, CallError> {
    serde_json::from_str(raw.get()).map_err(|_| bad("dialog_bridge", "must be \"auto\", \"always\" or \"never\""))
}

fn dialog_timeout(raw: &RawValue) -> Result<f64, CallError> {
    // What is no number is out of bounds as well, and told the same.
    let seconds = serde_json::from_str(raw.get()).unwrap_or(f64::NAN);
    times::dialog_timeout(seconds).map(|_| seconds).map_err(|why| bad("dialog_timeout_s", why))
}
