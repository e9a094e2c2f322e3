//! `browser_tabs`: lists, opens, switches and closes the task's tabs.
//!
//! The list is made from what is known, so that one bad tab never slows it down.

use std::time::Duration;

use ostler_core::view::{TabState, TabView, TaskView};
use ostler_core::{CallError, TargetId, shown, shown_address};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::arguments::named;
use super::context::{Context, Route};
use super::outcome::Outcome;
use super::{navigate, tab_names};
use crate::meta::TaskLayer;
use crate::meta::value::bad;

/// Lists, opens, switches to or closes tabs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    #[schemars(description = "What to do.")]
    action: Action,
    /// The tab to switch to or close, such as t2; close without one closes the current tab.
    target_id: Option<String>,
    /// For new.
    url: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    New,
    Switch,
    Close,
}

#[derive(Serialize)]
struct Data<'a> {
    tabs: Vec<Listed<'a>>,
}

#[derive(Serialize)]
struct Listed<'a> {
    id: String,
    target_id: &'a TargetId,
    url: &'a str,
    title: &'a str,
    state: TabState,
    current: bool,
}

pub(super) async fn run<T: TaskLayer>(context: &Context<'_, T>, args: Args) -> Result<Outcome, CallError> {
    let Args { action, target_id, url } = args;
    let target_id = named("target_id", target_id)?;
    if url.is_some() && action != Action::New {
        return Err(bad("url", "goes with action new; browser_navigate opens it in the current tab"));
    }
    match action {
        Action::List => Ok(list(&*context.view()?, "")),
        Action::New => match url {
            Some(url) => navigate::run(context, navigate::Args::in_new_tab(url)).await,
            None => {
                open(context).await?;
                Ok(list(&*context.view()?, "Opened a new tab.\n"))
            }
        },
        Action::Switch => {
            let view = context.view()?;
            let given = target_id.ok_or_else(|| {
                bad("target_id", format!("is missing: name the tab to switch to; {}", tab_names::known(&view)))
            })?;
            let target = tab_names::target(&view, &given)?;
            context.tasks.set_session(context.task, None, Some(target)).await?;
            Ok(list(&*context.view()?, ""))
        }
        Action::Close => close(context, target_id.as_deref()).await,
    }
}

/// Opens an empty tab in the background of the browser's window and makes it the current one.
pub(super) async fn open<T: TaskLayer>(context: &Context<'_, T>) -> Result<(), CallError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Created {
        target_id: TargetId,
    }
    // Empty, because a tab that is created with its address may run the page's first script unsupervised (fact C9).
    let params = json!({"url": "about:blank", "background": true});
    let created: Created = context.call("Target.createTarget", &params, Route::default()).await?;
    context.tasks.set_session(context.task, None, Some(created.target_id)).await?;
    Ok(())
}

/// Closes a tab in which nothing could be opened, and makes the one of before the current one again. Without one it
/// stays: a browser may end with its last tab.
pub(super) async fn take_back<T: TaskLayer>(context: &Context<'_, T>, target: &TargetId, before: Option<TargetId>) {
    let Some(before) = before else { return };
    // It may have gone meanwhile; then the task chooses another.
    let _ = context.tasks.set_session(context.task, None, Some(before)).await;
    let params = json!({"targetId": target});
    let _: Result<Value, CallError> = context.call("Target.closeTarget", &params, Route::default()).await;
}

/// How long the next current tab may take to be ready: a sleeping one is woken.
const CHOSEN: Duration = Duration::from_secs(2);

async fn close<T: TaskLayer>(context: &Context<'_, T>, given: Option<&str>) -> Result<Outcome, CallError> {
    let view = context.view()?;
    let target = match given {
        Some(given) => tab_names::target(&view, given)?,
        None => view.current.clone().ok_or_else(|| bad("target_id", "is missing, and there is no current tab"))?,
    };
    let Some(tab) = view.tabs.iter().find(|tab| tab.target_id == target) else {
        return Err(tab_names::no_tab(&view, given.unwrap_or_default()));
    };
    let name = tab_names::name(tab);
    // The browser closes it without asking the page, so that a hung one goes as well (fact A22).
    let params = json!({"targetId": target});
    let _closed: Value = context.call("Target.closeTarget", &params, Route::default()).await?;
    if view.current.as_ref() != Some(&target) {
        return Ok(list(&*context.view()?, &format!("Closed {name}.\n")));
    }
    // Whichever the task works in from here on is told; where none is left the next call opens one.
    if context.view()?.tabs.iter().any(|tab| tab.target_id != target) {
        let _ = timeout(CHOSEN, context.tasks.current_session(context.task)).await;
    }
    let view = context.view()?;
    let next = view.tabs.iter().find(|tab| Some(&tab.target_id) == view.current.as_ref() && tab.target_id != target);
    let next = next.map(|tab| format!("; {} is the current one now", tab_names::name(tab))).unwrap_or_default();
    Ok(list(&view, &format!("Closed {name}, the current tab{next}.\n")))
}

fn list(view: &TaskView, before: &str) -> Outcome {
    let current = view.current.as_ref();
    let listed = |tab| listed(tab, current);
    let data = Data { tabs: view.tabs.iter().map(listed).collect() };
    let lines: Vec<_> = data.tabs.iter().map(line).collect();
    let lines = if lines.is_empty() { "No tabs; browser_navigate opens one.".to_owned() } else { lines.join("\n") };
    Outcome::new(format!("{before}{lines}"), &data)
}

fn listed<'a>(tab: &'a TabView, current: Option<&TargetId>) -> Listed<'a> {
    Listed {
        id: tab_names::name(tab),
        target_id: &tab.target_id,
        url: &tab.url,
        title: &tab.title,
        state: tab.state,
        current: current == Some(&tab.target_id),
    }
}

fn line(tab: &Listed<'_>) -> String {
    let state = match tab.state {
        TabState::Ready => "",
        TabState::Attaching => " [being attached]",
        TabState::Dialog => " [a dialog is open]",
        TabState::Blocked => " [blocked by an unseen dialog or a busy script: navigate or close it]",
        TabState::Hung => " [hung: a script keeps it busy]",
        TabState::Asleep => " [asleep: any call wakes it]",
        TabState::Crashed => " [crashed: navigate it to start it again]",
    };
    let current = if tab.current { " (current)" } else { "" };
    format!("{}{current} {:?} {}{state}", tab.id, shown(tab.title), shown_address(tab.url))
}
