//! `drain_events`: takes what the default buffer has gathered.

use super::{Answer, EventSource, Fields, Outcome, TaskLayer, event_json};

pub(super) async fn answer<T: TaskLayer>(tasks: &T, fields: &Fields<'_>) -> Answer<T> {
    let events = tasks.events(&fields.task()?)?.drain();
    let mut json = br#"{"events":"#.to_vec();
    event_json::write_list(&mut json, &events, event_json::write);
    json.push(b'}');
    Ok(Outcome::Reply(json.into()))
}
