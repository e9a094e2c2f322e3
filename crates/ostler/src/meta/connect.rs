//! `connect`: starts a task on a browser, or binds it to another one.
//!
//! `cdp_url` names the browser, `launch` starts one of our own, and neither means the browser that
//! the environment and the configuration name. A URL often carries a token: no error repeats it.

use ostler_core::CallError;
use ostler_core::view::DialogPolicy;
use serde::Serialize;
use serde_json::value::RawValue;

use super::value::{self, bad};
use super::{Answer, Fields, TaskLayer, reply};
use crate::endpoint::{LaunchOptions, Protocol};
use crate::secret::SecretUrl;
use crate::tasks::{ConnectRequest, ConnectTarget, TaskSummary};
use crate::times;

/// The reply of `connect` and `disconnect`.
#[derive(Serialize)]
pub(super) struct Bound {
    pub(super) ok: bool,
    pub(super) task: TaskSummary,
}

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let request = ConnectRequest {
        task: fields.task()?,
        target: target(fields)?,
        dialog_policy: fields.raw("dialog_policy").map(dialog_policy).transpose()?,
        dialog_timeout_s: fields.raw("dialog_timeout_s").map(dialog_timeout).transpose()?,
        quiet: fields.raw("quiet").map(|raw| value::flag("quiet", raw)).transpose()?,
    };
    let task = tasks.connect(request).await?;
    Ok(reply(&Bound { ok: true, task }))
}

fn target(fields: &Fields<'_>) -> Result<ConnectTarget, CallError> {
    match (fields.text("cdp_url")?, fields.raw("launch")) {
        (Some(_), Some(_)) => Err(bad("launch", "cannot stand beside `cdp_url`: name a browser or launch one")),
        (Some(url), None) => {
            let url = SecretUrl::new(url);
            if Protocol::of(&url).is_none() {
                return Err(bad("cdp_url", Protocol::EITHER));
            }
            Ok(ConnectTarget::Url(url))
        }
        (None, Some(options)) => Ok(ConnectTarget::Launch(launch_options(options)?)),
        (None, None) => Ok(ConnectTarget::Default),
    }
}

fn launch_options(raw: &RawValue) -> Result<LaunchOptions, CallError> {
    let options = Fields::parse_inner("launch", raw)?;
    let executable = options.raw("executable").map(|raw| value::text("launch.executable", raw)).transpose()?;
    Ok(LaunchOptions {
        executable: executable.map(|path| path.into_owned().into()),
        headed: options.raw("headed").map_or(Ok(false), |raw| value::flag("launch.headed", raw))?,
        extra_flags: options.raw("flags").map_or(Ok(Vec::new()), |raw| value::texts("launch.flags", raw))?,
        ..LaunchOptions::default()
    })
}

fn dialog_policy(raw: &RawValue) -> Result<DialogPolicy, CallError> {
    serde_json::from_str(raw.get())
        .map_err(|_| bad("dialog_policy", "must be \"must_respond\", \"auto_dismiss\" or \"auto_accept\""))
}

fn dialog_timeout(raw: &RawValue) -> Result<f64, CallError> {
    // What is no number is out of bounds as well, and told the same.
    let seconds = serde_json::from_str(raw.get()).unwrap_or(f64::NAN);
    times::dialog_timeout(seconds).map(|_| seconds).map_err(|why| bad("dialog_timeout_s", why))
}
