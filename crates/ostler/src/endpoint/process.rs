//! Which process is which: a number is given to another one when its process is gone.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::daemon::ownership::our_uid;

/// A process, told from any other that ever has its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pub(super) pid: i32,
    /// When it began, in the system's own count; none where the system does not tell.
    started: Option<u64>,
}

impl Process {
    /// Returns this very process.
    pub(super) fn this() -> Self {
        Self::of(Pid::from_raw(std::process::id().cast_signed()).expect("a process has a number above 0"))
    }

    /// Returns the one that has this number now.
    pub(crate) fn of(pid: Pid) -> Self {
        let pid = pid.as_raw_nonzero().get();
        Self { pid, started: started(pid) }
    }

    /// Says whether it lives. Where the system does not tell when processes began, another one of its number counts too.
    pub(crate) fn is_alive(self) -> bool {
        match self.started {
            Some(_) => started(self.pid) == self.started,
            None => Pid::from_raw(self.pid).is_some_and(|pid| test_kill_process(pid).is_ok()),
        }
    }
}

/// A process as the system lists it.
#[derive(Debug)]
pub(crate) struct Listed {
    pid: Pid,
    uid: u32,
    /// Its arguments, each with a zero behind it. Of a dead one nobody has taken note of yet the system keeps none.
    pub(crate) command_line: Vec<u8>,
}

/// Returns all processes, those of other users too; nothing where the system has no `/proc`.
pub(crate) fn all() -> Option<Vec<Listed>> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let listed = entries.filter_map(|entry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        // One that has ended meanwhile has neither.
        let uid = entry.metadata().ok()?.uid();
        Some(Listed { pid, uid, command_line: fs::read(entry.path().join("cmdline")).ok()? })
    });
    Some(listed.collect())
}

/// Returns the processes of this user that have exactly one of these arguments. None where there is no `/proc`.
pub(super) fn with_argument(arguments: &[&OsStr]) -> Vec<Pid> {
    let has = |process: &Listed| {
        let mut given = process.command_line.split(|byte| *byte == 0);
        given.any(|one| arguments.iter().any(|argument| one == argument.as_bytes()))
    };
    let ours = all().into_iter().flatten().filter(|process| process.uid == our_uid());
    ours.filter(has).map(|process| process.pid).collect()
}

/// Says whether a process is dead, and only waits to be taken note of. Where the system does not tell, none is.
pub(super) fn is_dead(pid: u32) -> bool {
    state(pid).is_some_and(|state| says_dead(&state))
}

/// Says whether a process is stopped: it lives, and does nothing until it is let go on. Where the system does not tell,
/// none is.
pub(crate) fn is_stopped(pid: u32) -> bool {
    state(pid).is_some_and(|state| state == "T" || state == "t")
}

/// Returns the arguments of a process; nothing where the system does not tell.
pub(super) fn arguments(pid: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

fn state(pid: u32) -> Option<String> {
    fields(pid)?.into_iter().next()
}

fn says_dead(state: &str) -> bool {
    matches!(state, "Z" | "X")
}

/// Reads when a process began, unless it is dead already and only waits to be taken note of.
fn started(pid: i32) -> Option<u64> {
    let mut fields = fields(u32::try_from(pid).ok()?)?.into_iter();
    let state = fields.next()?;
    // It is the 22nd field of all; the state is the third.
    (!says_dead(&state)).then(|| fields.nth(18)?.parse().ok())?
}

/// Returns what the system says of a process, from its state on.
fn fields(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, brackets and blanks included.
    Some(stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_lives_until_it_has_ended_and_another_of_its_number_is_not_it() {
        let mut child = Command::new("sleep").arg("1000").spawn().expect("sleep runs");
        let process = Process::of(Pid::from_child(&child));
        assert!(process.is_alive() && Process::this().is_alive());
        assert!(!Process { started: process.started.map(|at| at + 1), ..process }.is_alive());
        child.kill().expect("ours");
        child.wait().expect("ours");
        assert!(!process.is_alive());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_was_killed_and_not_waited_for_is_dead() {
        let mut child = Command::new("sleep").arg("1000").spawn().expect("sleep runs");
        let process = Process::of(Pid::from_child(&child));
        assert!(!is_dead(child.id()) && !is_stopped(child.id()));
        child.kill().expect("ours");
        while !is_dead(child.id()) {
            std::thread::yield_now();
        }
        assert!(!process.is_alive());
        child.wait().expect("ours");
    }

    #[test]
    fn processes_are_found_by_a_whole_argument() {
        let mut child = Command::new("sleep").args(["1000", "1001.25"]).spawn().expect("sleep runs");
        let pid = Pid::from_child(&child);
        // Until it runs the program the child has our own arguments.
        while !with_argument(&[OsStr::new("1001.25")]).contains(&pid) {
            assert!(child.try_wait().expect("ours").is_none(), "it sleeps");
        }
        assert!(!with_argument(&[OsStr::new("1001.2"), OsStr::new("1.25")]).contains(&pid));
        child.kill().expect("ours");
        child.wait().expect("ours");
    }
}
