//! `browser_snapshot`: the page as an outline, with the supervisor's state beside it.
//!
//! A page that cannot answer, because a dialog or a script holds it, is shown as it was last, and the answer says so.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use ostler_core::view::{Arrival, DialogView, TabState};
use ostler_core::{CallError, TimeoutHint, Words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::arguments::named;
use super::context::Context;
use super::held_up;
use super::outcome::{Outcome, dialog_line};
use crate::meta::TaskLayer;
use crate::meta::value::bad;
use crate::page::{Memory, Outlined, Page, Ref, Scope, Shown, changes};

/// How much an agent reads that does not say how much.
const DEFAULT_CHARS: usize = 20_000;
const FEWEST_CHARS: usize = 1_000;
const MOST_CHARS: usize = 10_000_000;
/// The most that the first line takes, and what it shows of title and address.
const HEADER: usize = 360;
const MOST_TITLE: usize = 100;
const MOST_URL: usize = 200;
/// How long the page may take to say that it is there: when a script is known to keep it busy, when there is something
/// to show in its place, and when there is not.
const PATIENCE_WITH_HUNG: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_millis(1500);
const PATIENCE_AT_FIRST: Duration = Duration::from_secs(4);
/// How long it may take to show that it answers all the same when it goes to another one: what the browser told of that
/// meanwhile has hidden its silence.
const ARRIVING: Duration = Duration::from_millis(500);

/// Reads the page as an outline: roles, names, states, text, frames in place, and refs such as e12 to act on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Only this frame.
    frame_id: Option<String>,
    /// Only the element of this ref, in full.
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// Default 20000; what is left out is said.
    #[schemars(range(min = 1000, max = 10_000_000))]
    max_chars: Option<usize>,
    /// A snapshot you saw, such as s3: only what changed since.
    since: Option<String>,
}

#[derive(Serialize)]
struct Data<'a> {
    /// The name by which `since` takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    /// The refs to go on at, where it was cut.
    rest: &'a [String],
    /// The snapshot that the changes are told against.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// There if this is not what the page shows now.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<Stale>,
}

#[derive(Serialize)]
struct Stale {
    age_s: f64,
    /// The `error_code` of what blocks the page.
    because: &'static str,
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let args = Args { frame_id: named("frame_id", args.frame_id)?, ..args };
    let max_chars = args.max_chars.unwrap_or(DEFAULT_CHARS);
    if !(FEWEST_CHARS..=MOST_CHARS).contains(&max_chars) {
        return Err(bad("max_chars", format!("must be a whole number from {FEWEST_CHARS} to {MOST_CHARS}")));
    }
    let tab = context.tab().await?;
    let page = tab.page()?;
    let scope = scope(&page, &args)?;
    let since = args.since.as_deref().map(number_of).transpose()?;
    let line = |open: &Arc<DialogView>| dialog_line(open, context.words).chars().count() + 1;
    let dialogs: usize = context.view()?.pending_dialogs.iter().map(line).sum();
    let room = max_chars.saturating_sub(HEADER + dialogs);
    let last = page.memory().last_shown(&page.target, &scope);
    let patience = match tab.view()?.state {
        TabState::Hung => PATIENCE_WITH_HUNG,
        _ if last.is_some() => PATIENCE,
        _ => PATIENCE_AT_FIRST,
    };
    let outcome = match page.outline(&scope, room, patience).await {
        Ok(outlined) => fresh(&page, scope, outlined, since),
        Err(why @ (CallError::DialogOpen { .. } | CallError::AsksOn { .. } | CallError::Timeout { .. })) => {
            let why = match tab.view()?.arrival {
                Arrival::None => why,
                _ => tab.ask(ARRIVING).await.err().unwrap_or(why),
            };
            let since = since.zip(last.as_deref()).map(|(number, last)| (number, compare(page.memory(), number, last)));
            as_it_was(last.as_deref(), since, &why, context.words)
        }
        Err(error) => return Err(error),
    };
    Ok(outcome.at_most(max_chars).with_state(context.view()?))
}

fn scope<T: TaskLayer>(page: &Page<'_, T>, args: &Args) -> Result<Scope, CallError> {
    match (&args.reference, &args.frame_id) {
        (Some(_), Some(_)) => Err(bad("ref", "goes without frame_id: a ref says itself which frame it is in")),
        (Some(reference), None) => Ok(Scope::Element(Ref::parse(reference)?.number())),
        (None, Some(frame)) => page.frame(frame).map(Scope::Frame),
        (None, None) => Ok(Scope::Page),
    }
}

fn number_of(since: &str) -> Result<u64, CallError> {
    let number = since.trim().strip_prefix('s').and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| bad("since", "must be the name of a snapshot, such as s3, which its first line begins with"))
}

/// Shows what the page is now, or what changed in it.
fn fresh<T: TaskLayer>(page: &Page<'_, T>, scope: Scope, outlined: Outlined, since: Option<u64>) -> Outcome {
    let Outlined { lines, title, url, rest } = outlined;
    let memory = page.memory();
    let (kept, whole) = Memory::kept_lines(&lines);
    let shown = memory.keep_shown(|number| Shown {
        number,
        target: page.target.clone(),
        scope,
        url: url.clone(),
        at: Instant::now(),
        lines: kept,
        whole,
    });
    let mut text = format!("s{} {:?} {}", shown.number, cut(&title, MOST_TITLE), cut(&url, MOST_URL));
    let mut told_since = None;
    match since.map(|number| (number, compare(memory, number, &shown))) {
        None => {}
        Some((number, Ok((changes, age)))) => {
            told_since = Some(format!("s{number}"));
            let what = if changes.is_empty() { "Nothing changed" } else { "Changes" };
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\n{what} since s{number}, {} ago{}\n{changes}",
                age_words(age),
                if changes.is_empty() { "." } else { ":" }
            );
        }
        Some((number, Err(why))) => {
            let _ = write!(text, "\nAll of the page, since s{number} {why}:");
        }
    }
    if told_since.is_none() {
        text.reserve(lines.len() + 1);
        text.push('\n');
        text.push_str(if lines.is_empty() { "(nothing to see)" } else { &lines });
    }
    let data = Data {
        snapshot: Some(format!("s{}", shown.number)),
        url: &url,
        title: Some(&title),
        rest: &rest,
        since: told_since,
        stale: None,
    };
    Outcome::new(text.trim_end(), &data)
}

/// What changed since an earlier snapshot and how long before that was, or why that cannot be told.
type Compared = Result<(String, Duration), &'static str>;

/// Compares a snapshot with an earlier one.
fn compare(memory: &Memory, number: u64, now: &Shown) -> Compared {
    let then = memory.shown(number).ok_or("is not kept any more")?;
    if then.target != now.target || then.url != now.url {
        return Err("was of another page");
    }
    if then.scope != now.scope {
        return Err("was of another part");
    }
    if !then.whole || !now.whole {
        return Err("is too long to compare");
    }
    let changes = changes(&then.lines, &now.lines).ok_or("is too different from this")?;
    Ok((changes, now.at.saturating_duration_since(then.at)))
}

/// Shows the page as it was last, or what had changed in it by then, since it does not answer now.
fn as_it_was(last: Option<&Shown>, since: Option<(u64, Compared)>, why: &CallError, words: Words) -> Outcome {
    let blocked = blocked_by(why, words);
    let because = why.code();
    let Some(last) = last else {
        let text = format!("The page cannot be read now, and was not read before: {blocked}.");
        let data = Data {
            snapshot: None,
            url: "",
            title: None,
            rest: &[],
            since: None,
            stale: Some(Stale { age_s: 0.0, because }),
        };
        return Outcome::new(text, &data);
    };
    let age = last.at.elapsed();
    let (number, ago, url) = (last.number, age_words(age), cut(&last.url, MOST_URL));
    let mut told_since = None;
    let shown = match since {
        Some((since, Ok((changes, _)))) => {
            told_since = Some(format!("s{since}"));
            match changes.trim_end() {
                "" => format!("Up to s{number}, {ago} ago at {url}, nothing had changed since s{since}."),
                changes => format!("Up to s{number}, {ago} ago at {url}, this had changed since s{since}:\n{changes}"),
            }
        }
        _ => format!("This is s{number}, as it was {ago} ago, at {url}:\n{}", last.lines.trim_end()),
    };
    let text = format!("The page cannot be read now: {blocked}. {shown}");
    let data = Data {
        snapshot: Some(format!("s{}", last.number)),
        url: &last.url,
        title: None,
        rest: &[],
        since: told_since,
        stale: Some(Stale { age_s: age.as_secs_f64(), because }),
    };
    Outcome::new(text, &data)
}

/// Says what keeps the page from answering. That it gave no answer in a short time says little of that by itself.
fn blocked_by(why: &CallError, words: Words) -> String {
    let hint = match why {
        CallError::DialogOpen { dialog, .. } => return format!("{} is open", dialog.describe()),
        CallError::AsksOn { .. } => return held_up::why(why, words),
        CallError::Timeout { hint, .. } => hint.clone(),
        _ => TimeoutHint::None,
    };
    let (hint, what) = match hint {
        hint @ TimeoutHint::Leaving => (hint, "it is being left, and a script that never ends holds that up: wait, or"),
        hint @ TimeoutHint::Arriving => (hint, "it goes to another one, whose server has not answered yet:"),
        hint @ TimeoutHint::BrowserSilent => {
            (hint, "the browser itself answers nothing either, so its process is stopped or overloaded:")
        }
        hint @ TimeoutHint::PageBusy { .. } => (hint, "a script keeps it busy: wait,"),
        _ => (TimeoutHint::PageBusy { for_ms: 0, frame: None }, "a script keeps it busy: wait,"),
    };
    let busy = CallError::Timeout { method: String::new(), timeout_ms: 0, hint };
    format!("{what} {}", busy.next_step(words).unwrap_or_default())
}

fn age_words(age: Duration) -> String {
    match age.as_secs() {
        0 => format!("{} ms", age.as_millis()),
        seconds @ 1..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
