//! `ostler config`: what is set, where, and what could be.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::context::{Context, print_line};
use super::failure::Failure;
use crate::config::{self, Setting};
use crate::exit_code::Exit;

/// Shows the settings, where config.yaml is, or its JSON Schema.
#[derive(Args, Debug)]
#[command(name = "config")]
pub(super) struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print every setting, and where it comes from; secrets are hidden
    ///
    /// It is what a daemon that starts now has: one that runs already keeps what it was started with.
    Show,
    /// Print the path of config.yaml, whether it exists or not
    Path,
    /// Print the JSON Schema of config.yaml, for editors
    Schema,
}

impl Config {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self.action {
            Action::Show => show(context)?,
            Action::Path => {
                let path = context.environment.file()?.display().to_string();
                print_line(&if context.json { json!({"path": path}).to_string() } else { path })?;
            }
            Action::Schema if context.json => print_line(&config::schema().to_string())?,
            Action::Schema => print_line(&format!("{:#}", config::schema()))?,
        }
        Ok(Exit::Success)
    }
}

fn show(context: &Context) -> Result<(), Failure> {
    let settings = config::effective(&context.environment)?;
    if context.json {
        let entry = |setting: Setting| (setting.name.to_owned(), json!({"value": setting.value, "from": setting.from}));
        return print_line(&Value::Object(settings.into_iter().map(entry).collect::<Map<_, _>>()).to_string());
    }
    let rows: Vec<_> = settings.iter().map(|setting| (setting.name, words(&setting.value), &setting.from)).collect();
    let width = |column: fn(&(&str, String, &String)) -> usize| rows.iter().map(column).max().unwrap_or_default();
    let (names, values) = (width(|row| row.0.len()), width(|row| row.1.chars().count()).min(40));
    for (name, value, from) in &rows {
        print_line(&format!("{name:names$}  {value:values$}  {from}"))?;
    }
    Ok(())
}

/// Returns a value as it would be written in the file; a dash where there is none.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::Object(entries) => {
            entries.iter().map(|(name, value)| format!("{name}: {}", words(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
