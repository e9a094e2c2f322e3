//! Which of the browsers that run on this machine is meant.

use std::path::{Path, PathBuf};

use super::profiles::{self, Profile};

/// What somebody wants of a running browser, and how one that was found is found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Whichever is found first.
    Any,
    /// One of this brand (`edge`) or of exactly this edition (`Microsoft Edge Beta`).
    Browser(String),
    /// The one that uses this profile folder.
    Profile(PathBuf),
    /// The one on this port of this machine.
    Port(u16),
}

impl Wanted {
    /// Takes the name of a browser as people write it. What is none says which there are.
    pub(crate) fn browser(name: &str) -> Result<Self, String> {
        let name = name.trim();
        if profiles::is_name(name) {
            return Ok(Self::Browser(name.to_owned()));
        }
        Err(format!("{name:?} is no browser that ostler knows; there are: {}", profiles::BRANDS.join(", ")))
    }

    /// Takes a profile folder, absolute. People name the one that the browser is started with (`--user-data-dir`), or
    /// one of the profiles inside of it (`…/Default`); only the first holds the note that is looked for.
    pub(crate) fn profile(folder: &Path) -> Self {
        let inner = folder.join("Preferences").exists() && !folder.join("Local State").exists();
        Self::Profile(match folder.parent() {
            Some(outer) if inner && outer.join("Local State").exists() => outer.to_owned(),
            _ => folder.to_owned(),
        })
    }

    /// Says whether a browser with this profile is meant.
    pub(super) fn takes(&self, profile: &Profile) -> bool {
        match self {
            Self::Any => true,
            Self::Browser(name) => profile.is_called(name),
            Self::Profile(folder) => same_folder(folder, &profile.folder),
            Self::Port(_) => false,
        }
    }

    /// Returns what is meant, as the middle of a sentence.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Any => "browser".to_owned(),
            Self::Browser(name) => name.clone(),
            Self::Profile(folder) => format!("browser with the profile {}", folder.display()),
            Self::Port(port) => format!("browser on port {port}"),
        }
    }
}

/// Says whether two paths lead to one folder: people link profile folders to other disks.
pub(super) fn same_folder(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::super::devtools_port::tests::machine;
    use super::*;

    #[test]
    fn a_browser_is_named_by_brand_or_edition_in_any_case() {
        let machine = machine(Path::new("/home/ada"));
        let taken = |name: &str| {
            let wanted = Wanted::browser(name).expect(name);
            profiles::known(&machine).filter(|profile| wanted.takes(profile)).map(|profile| profile.browser).collect()
        };
        let edge: Vec<_> = taken("Edge");
        assert!(edge.contains(&"Microsoft Edge") && edge.contains(&"Microsoft Edge (Flatpak)"), "{edge:?}");
        let beta: Vec<_> = taken("microsoft edge beta");
        assert!(!beta.is_empty() && beta.iter().all(|name| *name == "Microsoft Edge Beta"), "{beta:?}");
    }

    #[test]
    fn an_unknown_browser_says_which_there_are() {
        let why = Wanted::browser("firefox").expect_err("no Chromium");
        assert!(
            why.starts_with("\"firefox\" is no browser that ostler knows; there are: chrome, chromium, edge"),
            "{why}"
        );
    }

    #[test]
    fn a_profile_inside_the_folder_means_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("Default");
        std::fs::create_dir(&inner).expect("a profile");
        assert_eq!(Wanted::profile(&inner), Wanted::Profile(inner.clone()));
        std::fs::write(folder.path().join("Local State"), "{}").expect("a file");
        std::fs::write(inner.join("Preferences"), "{}").expect("a file");
        assert_eq!(Wanted::profile(&inner), Wanted::Profile(folder.path().to_owned()));
        assert_eq!(Wanted::profile(folder.path()), Wanted::Profile(folder.path().to_owned()));
    }
}
