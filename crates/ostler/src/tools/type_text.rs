//! `browser_type`: puts text into a field, as a person does where that is possible.
//!
//! Text fields and editable content get real keys, so that whatever framework holds their value sees it change. Fields
//! whose parts a person picks (dates, colours, lists) are set whole, and the page is told.

use std::time::Duration;

use ostler_core::CallError;
use ostler_core::cdp::text::LossyText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::context::{Context, Tab};
use super::element::Element;
use super::input::aftermath::{Action, Aftermath};
use super::input::keyboard::{self, platform};
use super::input::keys::chord;
use super::outcome::Outcome;
use super::patience::Patience;
use super::place;
use crate::meta::TaskLayer;
use crate::meta::value::{bad, shown};
use crate::page::Held;

/// Types into a field: text, or the option of a list, or the value of a date field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    text: String,
    /// From browser_snapshot; default: where the focus is.
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// Replace what is there.
    clear: Option<bool>,
    /// Press Enter at the end.
    submit: Option<bool>,
}

#[derive(Serialize)]
struct Data {
    /// What the field holds now; not told of a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(flatten)]
    aftermath: Aftermath,
}

/// What is known of a field.
#[derive(Deserialize)]
struct Field {
    kind: Kind,
    #[serde(rename = "type")]
    type_: String,
    secret: bool,
    /// `disabled` or `read-only`, or empty.
    locked: String,
    value: LossyText,
    tag: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Takes keys.
    Text,
    /// `contenteditable`: takes keys.
    Editable,
    /// Takes one of its options.
    Select,
    /// Takes a whole value, such as a date.
    Value,
    Check,
    File,
    Button,
    None,
}

/// How many options of a list are named to one who asked for another.
const MOST_OPTIONS: usize = 40;

/// How long the field may take to say what it holds in the end.
const AFTERWARDS: Duration = Duration::from_secs(2);

const FIELD: &str = include_str!("field.js");

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let tab = context.answering_tab().await?;
    let mut patience = Patience::to_act(&tab);
    let (element, what) = patience.step(element(&tab, args.reference.as_deref())).await?;
    let field: Field = patience.step(element.call(&tab, FIELD, &["inspect"])).await?;
    refuse_what_takes_no_text(&field, &what)?;
    let work = Typing { tab: &tab, element: &element, what: &what, text: &args.text, clear: args.clear == Some(true) };
    let action = patience.step(Action::begin(&tab)).await?;
    patience.extend(keyboard::time_for(&args.text));
    let mut done = patience.act(work.fill(&field)).await;
    let was_stopped = matches!(done, Err(CallError::DialogOpen { .. }));
    if done.is_ok() && args.submit == Some(true) {
        let submit = async { keyboard::press(&tab, &chord("Enter", platform(context).await?)?).await };
        done = patience.act(submit).await;
    }
    let aftermath = action.end(done).await?;
    // A page that asks, or that has gone on to another one, has no field to be looked at.
    let after: Option<Field> =
        timeout(AFTERWARDS, element.call(&tab, FIELD, &["inspect"])).await.ok().and_then(Result::ok);
    let value = after.filter(|after| !after.secret && !field.secret).map(|after| after.value.0);
    let mut text = match was_stopped {
        true => format!("A dialog stopped the typing into {what}: once it is answered, look at what is there."),
        false => format!("Typed into {what}."),
    };
    let expected = if work.clear { args.text.clone() } else { format!("{}{}", field.value.0, args.text) };
    if let Some(value) = value.as_deref().filter(|value| takes_keys(field.kind) && value.trim() != expected.trim()) {
        text = format!("{text} It now holds {:?}.", shown_value(value));
    }
    Ok(Outcome::new(aftermath.told_after(text, context.words), &Data { value, aftermath }))
}

/// Returns the field that is meant, and the words for it: the one of a ref, or the one that has the focus.
async fn element<T: TaskLayer>(tab: &Tab<'_, T>, reference: Option<&str>) -> Result<(Element, String), CallError> {
    if let Some(reference) = reference {
        return place::element(tab, reference).await;
    }
    let nothing = || bad("ref", "is missing, and no field has the focus: name one by its ref from browser_snapshot");
    let Held { session, object } = tab.page()?.focused().await?.ok_or_else(nothing)?;
    Ok((Element { session, object }, "the field with the focus".to_owned()))
}

/// One text on its way into one field.
struct Typing<'a, T> {
    tab: &'a Tab<'a, T>,
    element: &'a Element,
    /// The field in words.
    what: &'a str,
    text: &'a str,
    clear: bool,
}

/// What came of bringing the focus and the caret to a field.
#[derive(Deserialize)]
struct Brought {
    focused: bool,
    /// Whether the caret is where it is to be, or all is selected.
    placed: bool,
}

/// What came of setting a field as a whole.
#[derive(Deserialize)]
struct Set {
    ok: bool,
    options: Vec<LossyText>,
}

impl<T: TaskLayer> Typing<'_, T> {
    async fn fill(&self, field: &Field) -> Result<(), CallError> {
        match field.kind {
            Kind::Select => self.choose().await,
            Kind::Value => self.set(field).await,
            _ => self.type_keys(field.kind).await,
        }
    }

    async fn choose(&self) -> Result<(), CallError> {
        let set: Set = self.element.call(self.tab, FIELD, &["choose", self.text]).await?;
        if set.ok {
            return Ok(());
        }
        let named = set.options.iter().take(MOST_OPTIONS);
        let named: Vec<_> = named.map(|option| format!("{:?}", shown(&option.0))).collect();
        let more = match set.options.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(bad("text", format!("the list has no option {:?}; it has {}{more}", shown(self.text), named.join(", "))))
    }

    async fn set(&self, field: &Field) -> Result<(), CallError> {
        let set: Set = self.element.call(self.tab, FIELD, &["set", self.text]).await?;
        if set.ok {
            return Ok(());
        }
        let form = match field.type_.as_str() {
            "date" => "a date such as 2030-12-31",
            "time" => "a time such as 23:59",
            "month" => "a month such as 2030-12",
            "week" => "a week such as 2030-W52",
            "datetime-local" => "a date and time such as 2030-12-31T23:59",
            "color" => "a colour such as #ff8800",
            _ => "a number within its limits",
        };
        Err(bad("text", format!("{:?} is not what this {} field takes: {form}", shown(self.text), field.type_)))
    }

    async fn type_keys(&self, kind: Kind) -> Result<(), CallError> {
        let context = self.tab.context();
        if self.clear {
            let placed = self.bring("select").await?;
            if !placed {
                // An editor has a selection of its own, which only its own shortcut surely sets.
                keyboard::press(self.tab, &chord("ControlOrMeta+a", platform(context).await?)?).await?;
            }
            if self.text.is_empty() || kind == Kind::Editable {
                keyboard::press(self.tab, &chord("Backspace", platform(context).await?)?).await?;
            }
        } else if !self.bring("append").await? {
            keyboard::press(self.tab, &chord("ArrowRight", platform(context).await?)?).await?;
        }
        keyboard::type_text(self.tab, self.text).await
    }

    /// Brings the focus to the field, and returns whether the caret could be placed too. Without the focus nothing may
    /// be typed: it would go elsewhere, and be told as if it had not.
    async fn bring(&self, act: &str) -> Result<bool, CallError> {
        let brought: Brought = self.element.call(self.tab, FIELD, &[act]).await?;
        if brought.focused {
            return Ok(brought.placed);
        }
        Err(CallError::NotActionable {
            what: self.what.to_owned(),
            why: "does not keep the focus, so nothing was typed".to_owned(),
            next: "click it, take a new browser_snapshot, and type into what has the focus then".to_owned(),
        })
    }
}

fn takes_keys(kind: Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Editable)
}

fn refuse_what_takes_no_text(field: &Field, what: &str) -> Result<(), CallError> {
    let why = match field.kind {
        _ if field.locked == "disabled" => format!("{what} is disabled: something else has to happen first"),
        Kind::Text if field.locked == "read-only" => {
            format!("{what} is read-only: click it, it may open something to choose from")
        }
        Kind::Check => format!("{what} is a {}: use browser_click", field.type_),
        Kind::Button => format!("{what} takes no text: use browser_click"),
        Kind::File => format!("{what} takes files: use browser_click with files=[path]"),
        // The focus is in a frame of another process: the keys get there, only it cannot be looked at from here.
        Kind::None if matches!(field.tag.as_str(), "iframe" | "frame") => return Ok(()),
        Kind::None => format!("{what} is <{}> and takes no text: name a field", field.tag),
        Kind::Text | Kind::Editable | Kind::Select | Kind::Value => return Ok(()),
    };
    Err(bad("ref", why))
}

/// Returns as much of a value as a model needs to see.
fn shown_value(value: &str) -> &str {
    value.char_indices().nth(200).map_or(value, |(end, _)| &value[..end])
}
