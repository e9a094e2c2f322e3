//! The commands that came in, so that a test can wait for one and look at what was sent.

use std::collections::VecDeque;

use crate::wire::Command;

/// The newest commands; a benchmark that sends millions does not grow it.
#[derive(Default)]
pub(super) struct CommandLog {
    commands: VecDeque<Command>,
}

impl CommandLog {
    pub(super) fn push(&mut self, command: &Command) {
        if self.commands.len() == CAPACITY {
            self.commands.pop_front();
        }
        self.commands.push_back(command.clone());
    }

    /// Takes out the oldest command called `method`.
    pub(super) fn take(&mut self, method: &str) -> Option<Command> {
        let at = self.commands.iter().position(|command| command.method == method)?;
        self.commands.remove(at)
    }

    pub(super) fn all(&self) -> Vec<Command> {
        self.commands.iter().cloned().collect()
    }
}

const CAPACITY: usize = 4096;
