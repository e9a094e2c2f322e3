//! What comes from the browser: answers go to whatever asked, events through the table of those that the core acts on.

use bytes::Bytes;

use super::bridge::Told;
use super::{Effect, End, Purpose, Scope, Supervisor, blocking, console, sessions, wire};
use crate::cdp::calls::Flight;
use crate::cdp::envelope::{self, Message, WireEvent};
use crate::ids::TaskId;

impl Supervisor {
    pub(super) fn on_message(&mut self, message: &Bytes) {
        self.heard = self.now;
        match envelope::read(message) {
            Some(Message::Response { id, outcome }) => {
                // An answer that nobody waits for any more was ended for a reason that was told.
                if let Some(flight) = self.calls.take(id) {
                    self.on_sign_of_life(&flight);
                    self.end_flight(flight, End::Answer(outcome));
                }
            }
            Some(Message::Event(event)) => self.on_event(event),
            // Neither a response nor an event: there is nothing in it that we could act on or lose.
            None => {}
        }
    }

    /// Remembers that the session's renderer answers: a call beside it that does not waits for
    /// something else than the page's script.
    fn on_sign_of_life(&mut self, flight: &Flight<Purpose>) {
        if let Some(id) = flight.session.as_ref().filter(|_| blocking::ends_scripts(&flight.method)) {
            self.on_script_ended(id);
        }
        if let Some(session) = flight.session.as_ref().and_then(|id| self.sessions.get_mut(id))
            && !blocking::finishes_despite_dialog(&flight.method)
        {
            session.heard = self.now;
            if session.hung.is_some()
                && let Some(id) = &flight.session
            {
                return self.forget_hung_frame(id);
            }
            if let Some(target) = session.tab.clone().filter(|_| session.kind == sessions::Kind::Page) {
                self.forget_hung(&target);
                if let Some(tab) = self.tabs.get_mut(&target) {
                    tab.met = true;
                }
            }
        }
    }

    /// Applies one event; the whole table of what the core acts on.
    fn on_event(&mut self, event: WireEvent) {
        let params = &*event.params;
        // Asked before, because afterwards a closed tab has no owner; and again, because a new one has.
        let owner = self.task_of_event(&event);
        if let Some(session) = &event.session
            && self.is_told_again(&event, params, session)
        {
            return;
        }
        let told = match (&*event.method, &event.session) {
            (method, Some(session)) if method.starts_with("Debugger.") => match self.is_told_while_held(session) {
                Told::Yes => self.on_debugger_event(method, params, session),
                Told::No => Told::No,
            },
            (method, Some(session)) if method.starts_with("Fetch.") || method.starts_with("Network.") => {
                self.on_request_event(method, params, session)
            }
            _ => Told::Yes,
        };
        if matches!(told, Told::No) {
            return;
        }
        match (&*event.method, &event.session) {
            ("Target.attachedToTarget", parent) => self.on_attached(params, parent.as_ref()),
            ("Target.detachedFromTarget", _) => self.on_detached(params),
            ("Target.targetCreated", _) => self.on_target_created(params),
            ("Target.targetInfoChanged", _) => self.on_target_changed(params),
            ("Target.targetCrashed", _) => self.on_target_crashed(params),
            ("Target.targetDestroyed", _) => self.on_target_destroyed(params),
            ("Inspector.targetCrashed", Some(session)) => self.on_crashed(session),
            ("Inspector.targetReloadedAfterCrash", Some(session)) => self.on_reloaded_after_crash(session),
            ("Page.frameAttached", Some(session)) => self.on_frame_attached(params, session),
            ("Page.frameDetached", Some(session)) => self.on_frame_detached(params, session),
            ("Page.frameStartedNavigating", Some(session)) => self.on_frame_started_navigating(params, session),
            ("Page.frameStoppedLoading", Some(session)) => self.on_frame_stopped_loading(params, session),
            ("Page.frameNavigated", Some(session)) => self.on_frame_navigated(params, session),
            ("Page.domContentEventFired" | "Page.loadEventFired", Some(session)) => self.ask_title(session),
            ("Page.frameRequestedNavigation", Some(session)) => self.on_requested_navigation(params, session),
            ("Page.navigatedWithinDocument", Some(session)) => self.on_navigated_within(params, session),
            ("Page.javascriptDialogOpening", Some(session)) => self.on_dialog_opening(&event, params, session),
            ("Page.javascriptDialogClosed", Some(session)) => self.on_dialog_closed(params, session),
            ("Runtime.executionContextCreated", Some(session)) => self.on_context_created(params, session),
            ("Runtime.executionContextDestroyed", Some(session)) => self.on_context_destroyed(params, session),
            ("Runtime.executionContextsCleared", Some(session)) => self.on_contexts_cleared(session),
            ("Runtime.consoleAPICalled", Some(session)) => {
                self.on_console(session, |found| console::read_console_call(params, found))
            }
            ("Runtime.exceptionThrown", Some(session)) => {
                self.on_console(session, |found| console::read_exception(params, found))
            }
            ("Network.requestWillBeSent", Some(session)) => self.on_requested(params, session),
            ("Network.responseReceived", Some(session)) => self.on_response(params, session),
            ("Log.entryAdded", Some(session)) => self.on_console(session, |_| console::read_log_entry(params)),
            _ => {}
        }
        let owner = owner.or_else(|| self.task_of_event(&event)).or_else(|| self.owner_of_the_rest(&event));
        if let Some(task) = owner {
            self.effects.push_back(Effect::Record(task, event));
        }
    }

    /// Returns whose event it is: that of the session's tab, or of the target that it names.
    fn task_of_event(&self, event: &WireEvent) -> Option<TaskId> {
        if let Some(session) = &event.session {
            let tab = self.sessions.get(session)?.tab.as_ref()?;
            return Some(self.tabs.get(tab)?.task.clone());
        }
        let params = &*event.params;
        let named = wire::read::<wire::TargetEvent>(params).map(|named| named.target_info.target_id);
        let target = named.or_else(|| wire::read::<wire::NamesTarget>(params).map(|named| named.target_id));
        target.and_then(|target| self.tabs.get(&target)).map(|tab| tab.task.clone())
    }

    /// Returns whose the browser's own events are that concern no task's tab: the default task's in a
    /// browser of our own, and nobody's business in one that is not.
    fn owner_of_the_rest(&self, event: &WireEvent) -> Option<TaskId> {
        if event.session.is_some() || self.scope == Scope::Guest {
            return None;
        }
        self.fallback_task()
    }
}
