//! Knows where browsers keep their profiles. Data, one row a folder.

use std::path::PathBuf;

use super::Machine;

/// A folder that may hold a running browser's `DevToolsActivePort`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profile {
    /// The word for the browser in all its editions: `chrome`, `edge`, ...
    pub(super) brand: &'static str,
    /// Its full name, edition and packaging included.
    pub(super) browser: &'static str,
    /// Whether it is a Flatpak or a Snap, which sees its own folders alone.
    pub(super) confined: bool,
    pub(super) folder: PathBuf,
}

impl Profile {
    /// Says whether a name means this browser: the brand in all its editions, or this edition.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.brand.eq_ignore_ascii_case(name) || self.browser.eq_ignore_ascii_case(name)
    }
}

/// Says whether a name means any of the browsers.
pub(super) fn is_name(name: &str) -> bool {
    KNOWN.iter().any(|(brand, browser, ..)| brand.eq_ignore_ascii_case(name) || browser.eq_ignore_ascii_case(name))
}

/// The brands, in the order in which people are told them.
pub(super) const BRANDS: &[&str] =
    &["chrome", "chromium", "edge", "brave", "vivaldi", "arc", "comet", "dia", "opera", "helium"];

/// Returns every known profile folder, whether it exists or not.
///
/// The rows of all systems are always looked at: a folder of another system simply is not there.
pub(super) fn known(machine: &Machine) -> impl Iterator<Item = Profile> + '_ {
    KNOWN.iter().map(|(brand, browser, root, folder)| Profile {
        brand,
        browser,
        confined: matches!(root, Root::Flatpak | Root::Snap),
        folder: root.folder(machine).join(folder),
    })
}

enum Root {
    /// Linux packages: `$XDG_CONFIG_HOME`, by default `~/.config`.
    Config,
    /// Flatpak, which ignores `$XDG_CONFIG_HOME`.
    Flatpak,
    /// Snap, which ignores it too.
    Snap,
    /// macOS.
    Support,
    /// Windows, what stays on the machine.
    Local,
    /// Windows, what follows the person.
    Roaming,
}

impl Root {
    fn folder(&self, machine: &Machine) -> PathBuf {
        let home = &machine.home;
        match self {
            Self::Config => machine.config_home.clone().unwrap_or_else(|| home.join(".config")),
            Self::Flatpak => home.join(".var/app"),
            Self::Snap => home.join("snap"),
            Self::Support => home.join("Library/Application Support"),
            Self::Local => home.join("AppData/Local"),
            Self::Roaming => home.join("AppData/Roaming"),
        }
    }
}

#[rustfmt::skip] // a row a line
const KNOWN: &[(&str, &str, Root, &str)] = &[
    ("chrome", "Google Chrome", Root::Config, "google-chrome"),
    ("chrome", "Google Chrome Beta", Root::Config, "google-chrome-beta"),
    ("chrome", "Google Chrome Dev", Root::Config, "google-chrome-unstable"),
    ("chrome", "Google Chrome Canary", Root::Config, "google-chrome-canary"),
    ("chrome", "Chrome for Testing", Root::Config, "google-chrome-for-testing"),
    ("chromium", "Chromium", Root::Config, "chromium"),
    ("edge", "Microsoft Edge", Root::Config, "microsoft-edge"),
    ("edge", "Microsoft Edge Beta", Root::Config, "microsoft-edge-beta"),
    ("edge", "Microsoft Edge Dev", Root::Config, "microsoft-edge-dev"),
    ("brave", "Brave", Root::Config, "BraveSoftware/Brave-Browser"),
    ("brave", "Brave Beta", Root::Config, "BraveSoftware/Brave-Browser-Beta"),
    ("brave", "Brave Nightly", Root::Config, "BraveSoftware/Brave-Browser-Nightly"),
    ("vivaldi", "Vivaldi", Root::Config, "vivaldi"),
    ("vivaldi", "Vivaldi Snapshot", Root::Config, "vivaldi-snapshot"),
    ("opera", "Opera", Root::Config, "opera"),
    ("opera", "Opera Beta", Root::Config, "opera-beta"),
    ("opera", "Opera Developer", Root::Config, "opera-developer"),
    ("helium", "Helium", Root::Config, "net.imput.helium"),

    ("chrome", "Google Chrome (Flatpak)", Root::Flatpak, "com.google.Chrome/config/google-chrome"),
    ("chrome", "Google Chrome Dev (Flatpak)", Root::Flatpak, "com.google.ChromeDev/config/google-chrome-unstable"),
    ("chromium", "Chromium (Flatpak)", Root::Flatpak, "org.chromium.Chromium/config/chromium"),
    ("chromium", "Ungoogled Chromium (Flatpak)", Root::Flatpak, "io.github.ungoogled_software.ungoogled_chromium/config/chromium"),
    ("edge", "Microsoft Edge (Flatpak)", Root::Flatpak, "com.microsoft.Edge/config/microsoft-edge"),
    ("brave", "Brave (Flatpak)", Root::Flatpak, "com.brave.Browser/config/BraveSoftware/Brave-Browser"),
    ("vivaldi", "Vivaldi (Flatpak)", Root::Flatpak, "com.vivaldi.Vivaldi/config/vivaldi"),
    ("opera", "Opera (Flatpak)", Root::Flatpak, "com.opera.Opera/config/opera"),

    ("chromium", "Chromium (Snap)", Root::Snap, "chromium/common/chromium"),
    ("brave", "Brave (Snap)", Root::Snap, "brave/current/.config/BraveSoftware/Brave-Browser"),
    ("vivaldi", "Vivaldi (Snap)", Root::Snap, "vivaldi/current/.config/vivaldi"),
    ("opera", "Opera (Snap)", Root::Snap, "opera/current/.config/opera"),

    ("chrome", "Google Chrome", Root::Support, "Google/Chrome"),
    ("chrome", "Google Chrome Beta", Root::Support, "Google/Chrome Beta"),
    ("chrome", "Google Chrome Dev", Root::Support, "Google/Chrome Dev"),
    ("chrome", "Google Chrome Canary", Root::Support, "Google/Chrome Canary"),
    ("chrome", "Chrome for Testing", Root::Support, "Google/Chrome for Testing"),
    ("chromium", "Chromium", Root::Support, "Chromium"),
    ("edge", "Microsoft Edge", Root::Support, "Microsoft Edge"),
    ("edge", "Microsoft Edge Beta", Root::Support, "Microsoft Edge Beta"),
    ("edge", "Microsoft Edge Dev", Root::Support, "Microsoft Edge Dev"),
    ("edge", "Microsoft Edge Canary", Root::Support, "Microsoft Edge Canary"),
    ("brave", "Brave", Root::Support, "BraveSoftware/Brave-Browser"),
    ("brave", "Brave Beta", Root::Support, "BraveSoftware/Brave-Browser-Beta"),
    ("brave", "Brave Nightly", Root::Support, "BraveSoftware/Brave-Browser-Nightly"),
    ("vivaldi", "Vivaldi", Root::Support, "Vivaldi"),
    ("arc", "Arc", Root::Support, "Arc/User Data"),
    ("comet", "Comet", Root::Support, "Comet"),
    ("dia", "Dia", Root::Support, "Dia/User Data"),
    ("opera", "Opera", Root::Support, "com.operasoftware.Opera"),
    ("opera", "Opera GX", Root::Support, "com.operasoftware.OperaGX"),
    ("helium", "Helium", Root::Support, "net.imput.helium"),

    ("chrome", "Google Chrome", Root::Local, "Google/Chrome/User Data"),
    ("chrome", "Google Chrome Beta", Root::Local, "Google/Chrome Beta/User Data"),
    ("chrome", "Google Chrome Dev", Root::Local, "Google/Chrome Dev/User Data"),
    ("chrome", "Google Chrome Canary", Root::Local, "Google/Chrome SxS/User Data"),
    ("chrome", "Chrome for Testing", Root::Local, "Google/Chrome for Testing/User Data"),
    ("chromium", "Chromium", Root::Local, "Chromium/User Data"),
    ("edge", "Microsoft Edge", Root::Local, "Microsoft/Edge/User Data"),
    ("edge", "Microsoft Edge Beta", Root::Local, "Microsoft/Edge Beta/User Data"),
    ("edge", "Microsoft Edge Dev", Root::Local, "Microsoft/Edge Dev/User Data"),
    ("edge", "Microsoft Edge Canary", Root::Local, "Microsoft/Edge SxS/User Data"),
    ("brave", "Brave", Root::Local, "BraveSoftware/Brave-Browser/User Data"),
    ("brave", "Brave Beta", Root::Local, "BraveSoftware/Brave-Browser-Beta/User Data"),
    ("brave", "Brave Nightly", Root::Local, "BraveSoftware/Brave-Browser-Nightly/User Data"),
    ("vivaldi", "Vivaldi", Root::Local, "Vivaldi/User Data"),
    ("arc", "Arc", Root::Local, "Packages/TheBrowserCompany.Arc_ttt1ap7aakyb4/LocalCache/Local/Arc/User Data"),
    ("comet", "Comet", Root::Local, "Perplexity/Comet/User Data"),
    ("helium", "Helium", Root::Local, "imput/Helium/User Data"),
    ("opera", "Opera", Root::Roaming, "Opera Software/Opera Stable"),
    ("opera", "Opera GX", Root::Roaming, "Opera Software/Opera GX Stable"),
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
    fn every_brand_has_a_row_and_every_row_a_brand() {
        let of_rows: HashSet<_> = KNOWN.iter().map(|(brand, ..)| *brand).collect();
        assert_eq!(of_rows, BRANDS.iter().copied().collect());
    }

    #[test]
    fn each_system_has_the_browsers_that_there_are_for_it() {
        let has = |root: fn(&Root) -> bool| -> HashSet<&str> {
            KNOWN.iter().filter(|(_, _, of, _)| root(of)).map(|(brand, ..)| *brand).collect()
        };
        let all: HashSet<_> = BRANDS.iter().copied().collect();
        let linux = ["chrome", "chromium", "edge", "brave", "vivaldi", "opera", "helium"];
        assert_eq!(has(|root| matches!(root, Root::Config)), linux.into());
        assert_eq!(has(|root| matches!(root, Root::Support)), all);
        let windows = BRANDS.iter().copied().filter(|brand| *brand != "dia").collect();
        assert_eq!(has(|root| matches!(root, Root::Local | Root::Roaming)), windows);
    }

    #[test]
    fn config_home_moves_the_packages_and_nothing_else() {
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
            "/home/ada/AppData/Local/Microsoft/Edge/User Data",
            "/home/ada/AppData/Roaming/Opera Software/Opera Stable",
        ] {
            assert!(before.contains(&PathBuf::from(fixed)) && after.contains(&PathBuf::from(fixed)), "{fixed}");
        }
    }
}
