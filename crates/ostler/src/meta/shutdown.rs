//! `shutdown`: the daemon's orderly end, once its reply has been written.

use super::{Answer, Fields, Outcome, TaskLayer, Worked, json};

pub(super) async fn answer<T: TaskLayer>(_: &T, _: &Fields<'_>) -> Answer<T> {
    Ok(Outcome::ReplyThenShutdown(json(&Worked::YES)))
}
