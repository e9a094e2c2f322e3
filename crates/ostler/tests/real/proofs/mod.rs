//! What has to hold every time and not only once: the same thing over and over, against a real Chromium.
//!
//! An ordinary run does each a few times; `OSTLER_PROOFS=full` does it as often as the numbers in the tests say.

mod first_scripts;
mod foreign_tabs;
mod popups;
mod removed_frames;
mod storm;

/// Returns how often to do a thing: `few` in an ordinary run.
fn times(few: usize, full: usize) -> usize {
    if std::env::var_os("OSTLER_PROOFS").is_some_and(|proofs| proofs == "full") { full } else { few }
}
