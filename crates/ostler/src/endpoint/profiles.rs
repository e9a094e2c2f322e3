//! Knows where browsers keep their profiles. Data, one row a folder.

use std::path::PathBuf;

use super::Machine;

/// A folder that may hold a running browser's `DevToolsActivePort`.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) browser: &'static str,
    pub(super) folder: PathBuf,
}

/// Returns every known profile folder, whether it exists or not.
///
/// The rows of all systems are always looked at: a folder of another system simply is not there.
pub(super) fn known(machine: &Machine) -> impl Iterator<Item = Profile> {
    let config = machine.config_home.clone().unwrap_or_else(|| machine.home.join(".config"));
    let support = machine.home.join("Library/Application Support");
    let home = machine.home.clone();
    KNOWN.iter().map(move |(browser, root, folder)| {
        let root = match root {
            Root::Config => &config,
            Root::Home => &home,
            Root::Support => &support,
        };
        Profile { browser, folder: root.join(folder) }
    })
}

enum Root {
    /// Linux packages: `$XDG_CONFIG_HOME`, by default `~/.config`.
    Config,
    /// Flatpak and Snap, which ignore `$XDG_CONFIG_HOME`.
    Home,
    /// macOS: `~/Library/Application Support`.
    Support,
}

#[rustfmt::skip] // a row a line
const KNOWN: &[(&str, Root, &str)] = &[
    ("Google Chrome", Root::Config, "google-chrome"),
    ("Google Chrome Beta", Root::Config, "google-chrome-beta"),
    ("Google Chrome Dev", Root::Config, "google-chrome-unstable"),
    ("Google Chrome Canary", Root::Config, "google-chrome-canary"),
    ("Chrome for Testing", Root::Config, "google-chrome-for-testing"),
    ("Chromium", Root::Config, "chromium"),
    ("Microsoft Edge", Root::Config, "microsoft-edge"),
    ("Microsoft Edge Beta", Root::Config, "microsoft-edge-beta"),
    ("Microsoft Edge Dev", Root::Config, "microsoft-edge-dev"),
    ("Brave", Root::Config, "BraveSoftware/Brave-Browser"),
    ("Brave Beta", Root::Config, "BraveSoftware/Brave-Browser-Beta"),
    ("Brave Nightly", Root::Config, "BraveSoftware/Brave-Browser-Nightly"),
    ("Vivaldi", Root::Config, "vivaldi"),
    ("Vivaldi Snapshot", Root::Config, "vivaldi-snapshot"),
    ("Opera", Root::Config, "opera"),
    ("Opera Beta", Root::Config, "opera-beta"),
    ("Opera Developer", Root::Config, "opera-developer"),
    ("Google Chrome (Flatpak)", Root::Home, ".var/app/com.google.Chrome/config/google-chrome"),
    ("Google Chrome Dev (Flatpak)", Root::Home, ".var/app/com.google.ChromeDev/config/google-chrome-unstable"),
    ("Chromium (Flatpak)", Root::Home, ".var/app/org.chromium.Chromium/config/chromium"),
    ("Ungoogled Chromium (Flatpak)", Root::Home, ".var/app/io.github.ungoogled_software.ungoogled_chromium/config/chromium"),
    ("Microsoft Edge (Flatpak)", Root::Home, ".var/app/com.microsoft.Edge/config/microsoft-edge"),
    ("Brave (Flatpak)", Root::Home, ".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser"),
    ("Vivaldi (Flatpak)", Root::Home, ".var/app/com.vivaldi.Vivaldi/config/vivaldi"),
    ("Opera (Flatpak)", Root::Home, ".var/app/com.opera.Opera/config/opera"),
    ("Chromium (Snap)", Root::Home, "snap/chromium/common/chromium"),
    ("Brave (Snap)", Root::Home, "snap/brave/current/.config/BraveSoftware/Brave-Browser"),
    ("Vivaldi (Snap)", Root::Home, "snap/vivaldi/current/.config/vivaldi"),
    ("Opera (Snap)", Root::Home, "snap/opera/current/.config/opera"),
    ("Google Chrome", Root::Support, "Google/Chrome"),
    ("Google Chrome Beta", Root::Support, "Google/Chrome Beta"),
    ("Google Chrome Dev", Root::Support, "Google/Chrome Dev"),
    ("Google Chrome Canary", Root::Support, "Google/Chrome Canary"),
    ("Chrome for Testing", Root::Support, "Google/Chrome for Testing"),
    ("Chromium", Root::Support, "Chromium"),
    ("Microsoft Edge", Root::Support, "Microsoft Edge"),
    ("Microsoft Edge Beta", Root::Support, "Microsoft Edge Beta"),
    ("Microsoft Edge Dev", Root::Support, "Microsoft Edge Dev"),
    ("Brave", Root::Support, "BraveSoftware/Brave-Browser"),
    ("Brave Beta", Root::Support, "BraveSoftware/Brave-Browser-Beta"),
    ("Vivaldi", Root::Support, "Vivaldi"),
    ("Arc", Root::Support, "Arc/User Data"),
    ("Opera", Root::Support, "com.operasoftware.Opera"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::super::devtools_port::tests::machine;
    use super::*;

    fn folders(machine: &Machine) -> Vec<PathBuf> {
        known(machine).map(|profile| profile.folder).collect()
    }

    #[test]
    fn every_folder_is_listed_once_and_stays_below_its_root() {
        let folders = folders(&machine(Path::new("/home/ada")));
        assert_eq!(folders.iter().collect::<HashSet<_>>().len(), folders.len());
        assert!(folders.iter().all(|folder| folder.starts_with("/home/ada")));
    }

    #[test]
    fn config_home_moves_the_packages_but_not_flatpak_snap_and_macos() {
        let mut machine = machine(Path::new("/home/ada"));
        let before = folders(&machine);
        assert!(before.contains(&PathBuf::from("/home/ada/.config/google-chrome")));
        machine.config_home = Some("/conf".into());
        let after = folders(&machine);
        assert!(after.contains(&PathBuf::from("/conf/google-chrome")));
        for fixed in [
            "/home/ada/snap/chromium/common/chromium",
            "/home/ada/.var/app/com.google.Chrome/config/google-chrome",
            "/home/ada/Library/Application Support/Arc/User Data",
        ] {
            assert!(before.contains(&PathBuf::from(fixed)) && after.contains(&PathBuf::from(fixed)), "{fixed}");
        }
    }
}
