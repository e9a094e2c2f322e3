//! What runs on this machine, as far as a test needs to know.

use std::fs;

/// Returns the children of a process whose command line has this word.
pub(crate) fn children(parent: u32, word: &str) -> Vec<u32> {
    all().filter(|pid| parent_of(*pid) == Some(parent) && command_line(*pid).contains(word)).collect()
}

/// Returns every process whose command line has this word.
pub(crate) fn naming(word: &str) -> Vec<u32> {
    all().filter(|pid| command_line(*pid).contains(word)).collect()
}

/// Returns a process's arguments, with blanks between them; of one that has gone, nothing.
pub(crate) fn command_line(pid: u32) -> String {
    text(pid, "cmdline")
}

/// Returns a process's environment, with blanks between the variables.
pub(crate) fn environment(pid: u32) -> String {
    text(pid, "environ")
}

/// Returns the children of a process, and theirs.
pub(crate) fn descendants(parent: u32) -> Vec<u32> {
    let direct: Vec<_> = all().filter(|pid| parent_of(*pid) == Some(parent)).collect();
    let below: Vec<_> = direct.iter().flat_map(|pid| descendants(*pid)).collect();
    [direct, below].concat()
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("a Linux system");
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok()
}

fn text(pid: u32, file: &str) -> String {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}
