//! What our script in a page knows and the page does not: by it we tell the script's questions from a page's own.
//!
//! A page can copy all that it sees of the script, and it sees much: its name in a stack trace, the address of a request
//! among the performance entries. It cannot look into the script's scope, where the key is. A paused script shows the
//! key itself, which no page can watch. A request carries a signature made with it, since a page that was there before
//! the script may read what the script sends.

use std::fmt;
use std::hash::Hasher as _;
// Not as a hash table's hasher, for which it is deprecated, but because it is SipHash-2-4, which the script computes too.
#[expect(deprecated, reason = "the algorithm that it is documented to be is what is wanted")]
use std::hash::SipHasher;

/// The secret of one supervisor's scripts, made from random bytes that nobody can guess.
#[derive(Clone, Copy)]
pub struct BridgeSecret {
    key: [u64; 2],
    label: u64,
}

impl BridgeSecret {
    /// How many letters its parts have at most where a script or a page's answer shows them.
    pub const LONGEST: usize = 32;

    /// Makes it. The core has no randomness of its own.
    pub const fn new([first, second, label]: [u64; 3]) -> Self {
        Self { key: [first, second], label }
    }

    /// Returns the signature of a question that comes by request.
    pub fn sign(&self, question: &str) -> u64 {
        #[expect(deprecated, reason = "see the import")]
        let mut hasher = SipHasher::new_with_keys(self.key[0], self.key[1]);
        hasher.write(question.as_bytes());
        hasher.finish()
    }

    /// Returns what a paused script shows to prove that it is ours.
    pub fn proof(&self) -> String {
        let [first, second] = self.key;
        format!("{first:016x}{second:016x}")
    }

    /// Returns a text, such as a message to the browser, with stars wherever the secret stood. All else stays in its
    /// place, so that a part of it that was cut off at the end can be cut off again.
    pub fn hide_in(&self, text: &str) -> String {
        let [first, second] = self.key.map(|part| format!("{part:x}"));
        let hide = |text: String, part: &str| text.replace(part, &"*".repeat(part.len()));
        [self.proof(), first, second].iter().fold(text.to_owned(), |text, part| hide(text, part))
    }

    pub(super) fn key(&self) -> [u64; 2] {
        self.key
    }

    /// Returns the part of our names that no page knows before it has met them. It is no secret afterwards.
    pub(super) fn label(&self) -> String {
        format!("{:016x}", self.label)
    }
}

impl fmt::Debug for BridgeSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BridgeSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::BridgeSecret;

    #[test]
    fn a_question_is_signed_as_the_authors_of_siphash_do() {
        // The key and the messages of their reference vectors.
        let secret = BridgeSecret::new([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0]);
        let bytes: String = (0..15).map(char::from).collect();
        assert_eq!(secret.sign(&bytes), 0xa129_ca61_49be_45e5);
        assert_eq!(secret.sign(""), 0x726f_db47_dd0e_0e31);
    }

    #[test]
    fn no_message_that_is_hidden_in_shows_any_part_of_it() {
        let [first, second] = [0x0102_0304_0506_0708, 0xfedc_ba98_7654_3210];
        let secret = BridgeSecret::new([first, second, 3]);
        let proof = secret.proof();
        assert!(proof.len() <= BridgeSecret::LONGEST);
        let hidden = secret.hide_in(&format!(r#"key = \"{proof}\"; key0 = 0x{first:x}n; key1 = 0x{second:x}n"#));
        let stars = |count| "*".repeat(count);
        assert_eq!(hidden, format!(r#"key = \"{}\"; key0 = 0x{}n; key1 = 0x{}n"#, stars(32), stars(15), stars(16)));
    }

    #[test]
    fn it_cannot_print_itself() {
        assert_eq!(format!("{:?}", BridgeSecret::new([1, 2, 3])), "BridgeSecret");
    }
}
