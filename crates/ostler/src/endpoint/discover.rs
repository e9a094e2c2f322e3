//! Looks for a browser that already runs on this machine with remote debugging on.
//!
//! ```text
//!  notes in known profiles ─┐
//!                           ├─▶ ask every port, all at once ─▶ those that live, in order ─▶ the first that is wanted
//!  the usual ports ─────────┘                                            └─ none ─▶ why not
//! ```
//!
//! The order: profiles with a note, the newest note first, then the usual ports. Asking a port never raises a prompt. What
//! another user runs is never taken unasked: a port is open to everybody on the machine, and a browser is one person's.

mod survey;

use std::collections::HashMap;
use std::path::Path;

use futures_util::future::join_all;

use super::address::Address;
use super::devtools_port::{self, Recorded};
use super::error::EndpointError;
use super::profiles::{self, Profile};
use super::version_page::{Limits, VersionPage};
use super::wanted::{Wanted, same_folder};
use super::{BrowserKind, Endpoint, Found, Headers, Machine, listener, running};
use crate::secret::SecretUrl;

pub(crate) use survey::{Sighting, Standing, survey};

/// Where people start Chrome with debugging on. A fixed port leaves no note in the profile, so it has to be tried.
const USUAL_PORTS: [u16; 2] = [9222, 9223];

/// Finds a running browser. One at an address among `nobodys` turned out to be none.
pub(super) async fn discover(
    wanted: &Wanted,
    machine: &Machine,
    nobodys: &[SecretUrl],
) -> Result<Endpoint, EndpointError> {
    let (ports, limits) = (&USUAL_PORTS, Limits::NEAR);
    Search { wanted, machine, ports, nobodys, limits, stranger: listener::stranger }.run().await
}

/// One look around.
struct Search<'a> {
    wanted: &'a Wanted,
    machine: &'a Machine,
    ports: &'a [u16],
    nobodys: &'a [SecretUrl],
    limits: Limits,
    /// Returns the other user who listens on a port.
    stranger: fn(u16) -> Option<u32>,
}

/// What each port that was asked said.
type Answers = HashMap<u16, Result<VersionPage, EndpointError>>;

/// The profiles whose browsers were told a port, by that.
type Told = HashMap<u16, Profile>;

/// A browser that answers.
#[derive(Debug)]
struct Live {
    found: Found,
    path: String,
    /// Its profile tells where it listens; else its command line does, or it is where people have it listen.
    noted: bool,
    /// It tells its address in its profile alone, and asks before it takes a connection.
    unlisted: bool,
    /// The other user whose browser it is.
    stranger: Option<u32>,
}

impl Search<'_> {
    async fn run(&self) -> Result<Endpoint, EndpointError> {
        let profiles = self.profiles();
        let notes = devtools_port::of_profiles(profiles.iter().cloned());
        let told = self.told(&profiles);
        let answers = self.ask(&notes, &told).await;
        let live = self.live(&notes, &told, &answers);
        let is_meant = |live: &Live| {
            let is_unasked = *self.wanted == Wanted::Any && live.stranger.is_some();
            live.found.is(self.wanted) && !is_unasked
        };
        let Some(chosen) = live.iter().position(is_meant) else {
            return Err(self.why_none(&profiles, &notes, &answers, &live));
        };
        let others = live.iter().enumerate().filter(|(at, _)| *at != chosen).map(|(_, live)| live.name()).collect();
        let mut endpoint = live[chosen].endpoint(others);
        for silent in self.silent(&notes, &answers) {
            endpoint.found_by.push_str(&format!("; passed over: {silent}"));
        }
        Ok(endpoint)
    }

    /// Returns the profiles to look at: all that are known, and one that was named and is not.
    fn profiles(&self) -> Vec<Profile> {
        let mut profiles: Vec<_> = profiles::known(self.machine).collect();
        if let Wanted::Profile(folder) = self.wanted
            && !profiles.iter().any(|profile| same_folder(&profile.folder, folder))
        {
            profiles.push(Profile { brand: "browser", browser: "a browser", confined: false, folder: folder.clone() });
        }
        profiles
    }

    /// Returns the ports that browsers in use were told to listen on: of a fixed port they leave no note.
    fn told(&self, profiles: &[Profile]) -> Told {
        let told = |profile: &Profile| Some((running::told_port(&profile.folder, self.machine)?, profile.clone()));
        profiles.iter().filter_map(told).collect()
    }

    /// Asks every port, all at once: one that never answers delays no other.
    async fn ask(&self, notes: &[Recorded], told: &Told) -> Answers {
        let named = match self.wanted {
            Wanted::Port(port) => Some(*port),
            _ => None,
        };
        let mut ports: Vec<_> =
            notes.iter().map(|note| note.port).chain(self.ports.iter().copied()).chain(named).collect();
        ports.extend(told.keys());
        ports.sort_unstable();
        ports.dedup();
        let ask = |port| async move { (port, VersionPage::fetch(&Address::local(port), self.limits).await) };
        join_all(ports.into_iter().map(ask)).await.into_iter().collect()
    }

    /// Returns the browsers that answer, in order.
    fn live(&self, notes: &[Recorded], told: &Told, answers: &Answers) -> Vec<Live> {
        let mut live = Vec::new();
        for note in notes {
            let unlisted = match answers.get(&note.port) {
                Some(Ok(VersionPage::Browser { path })) if *path == note.path => false,
                // It does not say who it is: of several profiles that claim its port, the one in use has it.
                Some(Ok(VersionPage::Missing)) if self.claims_best(note, notes) => true,
                // Else the note is left over, whoever has the port now.
                _ => continue,
            };
            let found = Found { profile: Some(note.profile.clone()), port: note.port };
            live.push(Live { found, path: note.path.clone(), noted: true, unlisted, stranger: None });
        }
        let mut by_port: Vec<_> = answers.iter().collect();
        by_port.sort_unstable_by_key(|(port, _)| **port);
        for (port, answer) in by_port {
            if let Ok(VersionPage::Browser { path }) = answer
                && !live.iter().any(|live: &Live| live.found.port == *port)
            {
                let found = Found { profile: told.get(port).cloned(), port: *port };
                // Who can look into a profile has been let in; of a bare port only the system knows whose it is.
                let stranger = if found.profile.is_none() { (self.stranger)(*port) } else { None };
                live.push(Live { found, path: path.clone(), noted: false, unlisted: false, stranger });
            }
        }
        live.retain(|live| !self.nobodys.contains(&live.url()));
        live
    }

    /// Returns the browsers that run and took the connection, and said nothing: one whose process is stopped does that.
    fn silent(&self, notes: &[Recorded], answers: &Answers) -> Vec<String> {
        let is_silent = |note: &&Recorded| matches!(answers.get(&note.port), Some(Err(EndpointError::Silent { .. })));
        let named = |note: &Recorded| {
            let pid = running::user_of(&note.profile.folder, self.machine)?;
            Some(format!("{} (pid {pid}), which answers nothing", note.profile.browser))
        };
        notes.iter().filter(is_silent).filter(|note| self.wanted.takes(&note.profile)).filter_map(named).collect()
    }

    /// Says whether no other note has a better claim to the port: notes come newest first, one in use before others.
    fn claims_best(&self, note: &Recorded, notes: &[Recorded]) -> bool {
        let mut rivals = notes.iter().filter(|rival| rival.port == note.port);
        let in_use = |note: &Recorded| running::user_of(&note.profile.folder, self.machine).is_some();
        let best = rivals.clone().find(|rival| in_use(rival)).or_else(|| rivals.next());
        best.is_some_and(|best| best.profile == note.profile)
    }

    /// Finds the most helpful reason.
    fn why_none(&self, profiles: &[Profile], notes: &[Recorded], answers: &Answers, live: &[Live]) -> EndpointError {
        let meant: Vec<_> = profiles.iter().filter(|profile| self.wanted.takes(profile)).collect();
        self.refused(notes, answers)
            .or_else(|| meant.iter().find_map(|profile| self.why_not(profile, notes, answers)))
            .or_else(|| self.unknown_to_any_profile(notes, answers))
            .or_else(|| meant.iter().find_map(|profile| unreadable(&profile.folder)))
            .unwrap_or_else(|| EndpointError::NothingFound {
                wanted: self.wanted.words(),
                looked_at: self.looked_at(&meant, notes),
                others: live.iter().map(Live::name).collect(),
            })
    }

    /// Finds a browser whose person has yet to say yes.
    fn refused(&self, notes: &[Recorded], answers: &Answers) -> Option<EndpointError> {
        let noted = notes.iter().filter(|note| self.wanted.takes(&note.profile)).map(|note| note.port);
        let mut ports = noted.chain(self.free_ports());
        let port = ports.find(|port| matches!(answers.get(port), Some(Ok(VersionPage::Asks))))?;
        Some(EndpointError::ConsentPending { at: Address::local(port).label() })
    }

    /// Says why a profile that is in use leads to no browser.
    fn why_not(&self, profile: &Profile, notes: &[Recorded], answers: &Answers) -> Option<EndpointError> {
        let pid = running::user_of(&profile.folder, self.machine)?;
        let (browser, folder) = (profile.browser, profile.folder.clone());
        let note = notes.iter().find(|note| note.profile == *profile);
        let answer = note.and_then(|note| Some((note.port, answers.get(&note.port)?)));
        match answer {
            Some((_, Err(EndpointError::Silent { at }))) => Some(EndpointError::Silent { at: at.clone() }),
            // The note is of the browser before, and this one has yet to write its own.
            Some((_, Err(EndpointError::Unreachable { .. })))
                if running::started(&profile.folder) > note.map(|note| note.written) =>
            {
                match running::is_starting(&profile.folder) {
                    true => Some(EndpointError::Starting { browser, pid }),
                    false => Some(EndpointError::DebuggingOff { browser, pid }),
                }
            }
            Some((port, Err(EndpointError::Unreachable { cause, .. })))
                if running::is_debugging_allowed(&profile.folder) != Some(false) =>
            {
                Some(EndpointError::PortBlocked { browser, pid, port, cause: cause.clone() })
            }
            _ if profile.confined => Some(EndpointError::DebuggingOffConfined { browser, pid, folder }),
            _ => Some(EndpointError::DebuggingOff { browser, pid }),
        }
    }

    /// Finds a browser on a port that no profile that we know of records.
    fn unknown_to_any_profile(&self, notes: &[Recorded], answers: &Answers) -> Option<EndpointError> {
        let unknown = |port: &u16| {
            matches!(answers.get(port), Some(Ok(VersionPage::Missing))) && !notes.iter().any(|note| note.port == *port)
        };
        let port = self.free_ports().find(unknown)?;
        Some(EndpointError::NoVersionPage { at: Address::local(port).label() })
    }

    /// Returns the ports that are tried without a note, if a browser without a known profile is good enough.
    fn free_ports(&self) -> impl Iterator<Item = u16> {
        let ports = match self.wanted {
            Wanted::Any => self.ports.to_vec(),
            Wanted::Port(port) => vec![*port],
            Wanted::Browser(_) | Wanted::Profile(_) => Vec::new(),
        };
        ports.into_iter()
    }

    fn looked_at(&self, meant: &[&Profile], notes: &[Recorded]) -> String {
        let left_over: Vec<_> = notes
            .iter()
            .filter(|note| meant.contains(&&note.profile))
            .map(|note| format!("{} (port {})", note.profile.browser, note.port))
            .collect();
        let mut places = Vec::new();
        match (&left_over[..], self.wanted) {
            ([], Wanted::Port(_)) => {}
            ([], Wanted::Profile(folder)) if !folder.is_dir() => {
                places.push(format!("{}, which is no folder", folder.display()));
            }
            ([], Wanted::Profile(folder)) => {
                let note = match unusable_note(folder) {
                    true => "its DevToolsActivePort is not what a browser writes",
                    false => "no DevToolsActivePort",
                };
                places.push(format!("{} ({note})", folder.display()));
            }
            ([], _) if meant.iter().any(|profile| unusable_note(&profile.folder)) => {
                let broken: Vec<_> = meant.iter().filter(|profile| unusable_note(&profile.folder)).collect();
                let broken: Vec<_> = broken.iter().map(|profile| profile.folder.display().to_string()).collect();
                places.push(format!("the DevToolsActivePort in {} (not what a browser writes)", broken.join(", ")));
            }
            ([], _) => places.push("the known profile folders (none holds a DevToolsActivePort)".to_owned()),
            (left_over, _) => {
                let left_over = left_over.join(", ");
                places.push(format!("the DevToolsActivePort of {left_over} (left over: no browser answers there)"));
            }
        }
        let ports: Vec<_> = self.free_ports().map(|port| port.to_string()).collect();
        match &ports[..] {
            [] => {}
            [port] => places.push(format!("the port {port}")),
            ports => places.push(format!("the ports {}", ports.join(", "))),
        }
        places.join(" and at ")
    }
}

/// Says whether something stands in the place of a note that is none.
fn unusable_note(folder: &Path) -> bool {
    folder.join("DevToolsActivePort").symlink_metadata().is_ok() && devtools_port::of_profile(folder).is_none()
}

fn unreadable(folder: &Path) -> Option<EndpointError> {
    let error = running::unreadable(folder)?;
    Some(EndpointError::Unreadable { folder: folder.to_owned(), cause: error.kind().to_string() })
}

impl Live {
    fn url(&self) -> SecretUrl {
        Address::local(self.found.port).websocket_url(&self.path)
    }

    /// Returns what it is called, and what `connect` takes for it.
    fn name(&self) -> String {
        let port = self.found.port;
        match &self.found.profile {
            Some(profile) => format!("{} (`ostler connect --browser {}`)", profile.browser, profile.brand),
            None => {
                let whose = self.stranger.map(|user| format!(" of another user (uid {user})")).unwrap_or_default();
                format!("one on port {port}{whose} (`ostler connect http://127.0.0.1:{port}`)")
            }
        }
    }

    fn endpoint(&self, others: Vec<String>) -> Endpoint {
        let port = self.found.port;
        let mut found_by = match &self.found.profile {
            Some(profile) if self.noted => format!("the DevToolsActivePort of {}", profile.browser),
            Some(profile) => format!("the command line of {}", profile.browser),
            None => format!("port {port}"),
        };
        if !others.is_empty() {
            found_by = format!("{found_by}; also running when it was found: {}", others.join(", "));
        }
        Endpoint {
            url: self.url(),
            headers: Headers::default(),
            kind: BrowserKind::Local,
            found_by,
            profile: self.found.profile.as_ref().map(|profile| profile.folder.clone()),
            may_ask: self.unlisted,
            found: Some(self.found.clone()),
            owned: None,
            cloud: None,
        }
    }
}

#[cfg(test)]
mod tests;
