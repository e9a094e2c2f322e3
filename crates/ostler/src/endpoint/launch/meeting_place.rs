//! Where a running browser is met by later starts of it: a folder of its own beside the profile, with a socket in it.
//!
//! A socket's path has a hundred bytes and a profile's may have more, so Chromium makes a folder in the one for temporary
//! files and links to it from the profile. It removes that only where it ends by itself and in good order.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::profile;
use crate::daemon::ownership::our_uid;

/// What Chromium puts there.
const SOCKET: &str = "SingletonSocket";
const COOKIE: &str = "SingletonCookie";

/// Removes the folder that the last browser with this profile left, if none runs with it now.
///
/// The link may lead anywhere. So only the two files are removed, and a folder of ours that is empty then.
pub(super) fn remove(profile: &Path) {
    let Ok(socket) = fs::read_link(profile.join(SOCKET)) else { return };
    let Some(place) = socket.parent().filter(|_| socket.is_absolute() && socket.ends_with(SOCKET)) else { return };
    let is_ours = fs::symlink_metadata(place).is_ok_and(|found| found.is_dir() && found.uid() == our_uid());
    if !is_ours || profile::user(profile).is_some() {
        return;
    }
    // What cannot be removed, or is gone already, leaves the folder as it is.
    let _ = fs::remove_file(&socket);
    let _ = fs::remove_file(place.join(COOKIE));
    let _ = fs::remove_dir(place);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_what_a_browser_left_is_removed() {
        let temp = tempfile::tempdir().expect("a folder");
        let make = |name: &str| {
            let folder = temp.path().join(name);
            fs::create_dir(&folder).expect("a folder");
            folder
        };
        let (profile, place, precious) = (make("profile"), make("org.chromium.Chromium.x"), make("precious"));
        drop(UnixListener::bind(place.join(SOCKET)).expect("a socket"));
        symlink("1234567", place.join(COOKIE)).expect("a link");
        fs::write(precious.join("letter"), "dear").expect("a file");
        let lead = |to: &Path| {
            let _ = fs::remove_file(profile.join(SOCKET));
            symlink(to, profile.join(SOCKET)).expect("a link");
        };
        for elsewhere in [precious.join("letter"), precious.join(SOCKET), "SingletonSocket".into(), SOCKET.into()] {
            lead(&elsewhere);
            remove(&profile);
        }
        assert!(precious.join("letter").exists());

        lead(&place.join(SOCKET));
        symlink(format!("here-{}", std::process::id()), profile.join("SingletonLock")).expect("a link");
        remove(&profile);
        assert!(place.join(SOCKET).exists(), "a browser runs with it");
        fs::remove_file(profile.join("SingletonLock")).expect("a link");
        remove(&profile);
        assert!(!place.exists());
    }
}
