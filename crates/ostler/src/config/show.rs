//! What holds in the end, setting by setting, and who said so. Secrets are hidden here, before anything prints.

use serde_json::{Map, Value, json};

use super::document::Node;
use super::key::{AnyKey, Kind};
use super::{ConfigError, Environment, FileError, file, keys};
use crate::secret::{HIDDEN, SecretUrl};

/// One setting as it holds.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Its key in `config.yaml`, or its environment variable where it has no key.
    pub(crate) name: &'static str,
    /// Its value, fit to be shown; null where nothing is set and there is no default.
    pub(crate) value: Value,
    /// Where it comes from: `default`, a variable, or a line of the file.
    pub(crate) from: String,
}

/// Returns every setting as a daemon that starts now would have it: defaults, then the file, then the environment.
pub(crate) fn effective(environment: &Environment) -> Result<Vec<Setting>, ConfigError> {
    let path = environment.file()?;
    let document = file::read(&path).map_err(ConfigError::File)?;
    keys::check_all(&document).map_err(|fault| ConfigError::File(FileError::wrong(&path, fault)))?;
    let browser = environment.browser()?;
    let mut settings: Vec<_> = keys::ALL
        .iter()
        .map(|key| match (document.node(key.name()), &browser) {
            (_, Some(browser)) if key.name() == keys::CDP_URL.name => {
                let given = browser.given();
                Setting { name: key.name(), value: hide_url(&given.url), from: given.by.to_owned() }
            }
            (Some(node), _) => Setting {
                name: key.name(),
                value: shown(key.kind(), node),
                from: format!("{} line {}", path.display(), node.line()),
            },
            (None, _) => Setting { name: key.name(), value: default_of(*key), from: "default".to_owned() },
        })
        .collect();
    settings.extend(environment.variables()?.into_iter().map(|(name, is_set, value)| Setting {
        name,
        value,
        from: if is_set { "environment" } else { "default" }.to_owned(),
    }));
    Ok(settings)
}

fn default_of(key: &dyn AnyKey) -> Value {
    key.default().map_or(Value::Null, |default| of_text(key.kind(), default))
}

fn shown(kind: Kind, node: &Node) -> Value {
    match kind {
        Kind::Url(_) | Kind::ApiBase => hide_url(&SecretUrl::new(node.text())),
        Kind::Headers | Kind::Options => {
            node.entries().map(|(name, _)| (name.to_owned(), json!(HIDDEN))).collect::<Map<_, _>>().into()
        }
        Kind::Flags => node.parts().map(|part| json!(part.text())).collect(),
        Kind::Word(_) | Kind::Flag | Kind::Seconds { .. } | Kind::Path | Kind::Id => of_text(kind, node.text()),
    }
}

fn of_text(kind: Kind, text: &str) -> Value {
    match kind {
        Kind::Flag => json!(text.eq_ignore_ascii_case("true")),
        Kind::Seconds { .. } => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        _ => json!(text),
    }
}

/// Shows a URL's scheme, host and port, and that there is more if there is.
fn hide_url(url: &SecretUrl) -> Value {
    let label = url.label();
    let rest = url.expose().strip_prefix(&label).is_some_and(|rest| rest.trim_matches('/').is_empty());
    if rest || label == HIDDEN { json!(label) } else { json!(format!("{label}/{HIDDEN}")) }
}
