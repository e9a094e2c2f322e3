//! Looks over all browsers that run on this machine and says how each stands, for a person who wonders.
//!
//! The same look around as for connecting, with the same rules, and nothing is chosen.

use super::{Live, Search, USUAL_PORTS, unreadable};
use crate::endpoint::devtools_port;
use crate::endpoint::error::EndpointError;
use crate::endpoint::listener;
use crate::endpoint::version_page::Limits;
use crate::endpoint::{Machine, Wanted};

/// A browser, and how it stands.
#[derive(Debug)]
pub(crate) struct Sighting {
    /// What it is called, and what `connect` takes for it.
    pub(crate) browser: String,
    /// Whether it can be driven.
    pub(crate) standing: Standing,
}

/// Whether a browser can be driven.
#[derive(Debug)]
pub(crate) enum Standing {
    /// It answers.
    Ready { port: u16 },
    /// It answers, and asks the person in front of it before it takes a connection.
    Asks { port: u16 },
    /// It runs and cannot be reached, for this reason.
    Closed(EndpointError),
}

/// Looks over all browsers of the machine. No port is asked anything that could raise a prompt.
pub(crate) async fn survey(machine: &Machine) -> Vec<Sighting> {
    let limits = Limits::NEAR;
    let (wanted, ports, stranger) = (&Wanted::Any, &USUAL_PORTS, listener::stranger);
    Search { wanted, machine, ports, nobodys: &[], limits, stranger }.survey().await
}

impl Search<'_> {
    pub(super) async fn survey(&self) -> Vec<Sighting> {
        let profiles = self.profiles();
        let notes = devtools_port::of_profiles(profiles.iter().cloned());
        let told = self.told(&profiles);
        let answers = self.ask(&notes, &told).await;
        let live = self.live(&notes, &told, &answers);
        let mut closed: Vec<_> = profiles
            .iter()
            .filter(|profile| !live.iter().any(|live| live.found.profile.as_ref() == Some(*profile)))
            .filter_map(|profile| self.why_not(profile, &notes, &answers).map(|why| (profile.browser, why)))
            .collect();
        let elsewhere = self.refused(&notes, &answers).or_else(|| self.unknown_to_any_profile(&notes, &answers));
        closed.extend(elsewhere.map(|why| ("a browser", why)));
        closed.extend(profiles.iter().filter_map(|profile| Some((profile.browser, unreadable(&profile.folder)?))));
        let closed = closed
            .into_iter()
            .map(|(browser, why)| Sighting { browser: browser.to_owned(), standing: Standing::Closed(why) });
        live.iter().map(Live::sighting).chain(closed).collect()
    }
}

impl Live {
    fn sighting(&self) -> Sighting {
        let port = self.found.port;
        let standing = if self.unlisted { Standing::Asks { port } } else { Standing::Ready { port } };
        Sighting { browser: self.name(), standing }
    }
}
