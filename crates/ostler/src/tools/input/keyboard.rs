//! Presses keys and types text.

use std::time::Duration;

use ostler_core::CallError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::context::{Context, Route, Tab};
use super::ANSWER;
use super::keys::{Platform, Stroke, typing};
use crate::meta::TaskLayer;

/// The longest text that is typed key by key; more is put in at once, as a paste does.
const MAX_KEYS: usize = 400;

/// Returns the keyboard of the browser's system, which need not be ours.
pub(in crate::tools) async fn platform<T: TaskLayer>(context: &Context<'_, T>) -> Result<Platform, CallError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        user_agent: String,
    }
    let version: Version = context.call("Browser.getVersion", &json!({}), Route::default()).await?;
    Ok(if version.user_agent.contains("Mac OS X") { Platform::Mac } else { Platform::Other })
}

/// Presses and releases a key.
pub(in crate::tools) async fn press<T: TaskLayer>(tab: &Tab<'_, T>, stroke: &Stroke) -> Result<(), CallError> {
    let mut down = json!(stroke);
    down["type"] = if stroke.text.is_empty() { "rawKeyDown" } else { "keyDown" }.into();
    let _: Value = tab.call_within("Input.dispatchKeyEvent", &down, ANSWER).await?;
    let up = json!({
        "type": "keyUp", "key": stroke.key, "code": stroke.code, "modifiers": stroke.modifiers,
        "windowsVirtualKeyCode": stroke.windows_virtual_key_code,
    });
    let _: Value = tab.call_within("Input.dispatchKeyEvent", &up, ANSWER).await?;
    Ok(())
}

/// Types a text where the focus is: with real keys as long as it is short, so that a page that follows the keys
/// (one box per digit, suggestions, masks) sees what it expects.
pub(in crate::tools) async fn type_text<T: TaskLayer>(tab: &Tab<'_, T>, text: &str) -> Result<(), CallError> {
    // A line end is put in, not pressed: Enter would send many a form or message.
    if text.chars().count() > MAX_KEYS || text.contains(['\n', '\r', '\t']) {
        return insert(tab, text).await;
    }
    for character in text.chars() {
        match typing(character) {
            Some(stroke) => press(tab, &stroke).await?,
            None => insert(tab, character.encode_utf8(&mut [0; 4])).await?,
        }
    }
    Ok(())
}

/// Returns how long typing a text may take beyond one key's time: a page may do much at each.
pub(in crate::tools) fn time_for(text: &str) -> Duration {
    const A_KEY: Duration = Duration::from_millis(100);
    A_KEY * u32::try_from(text.chars().take(MAX_KEYS).count()).unwrap_or(u32::MAX)
}

async fn insert<T: TaskLayer>(tab: &Tab<'_, T>, text: &str) -> Result<(), CallError> {
    let _: Value = tab.call_within("Input.insertText", &json!({ "text": text }), ANSWER).await?;
    Ok(())
}
