//! What a sandbox says of dialogs: that of a frame's element, or that which a document's own policy puts it in.

/// How far a sandbox lets a frame show dialogs, and the popups that the frame opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Sandbox {
    modals: bool,
    /// Popups are not in it.
    popups_escape: bool,
}

impl Sandbox {
    const NONE: Self = Self { modals: true, popups_escape: true };

    /// Returns that of an element with these attributes, each a name and then its value.
    pub(super) fn of_element(attributes: &[impl AsRef<str>]) -> Self {
        let sandbox = attributes.chunks_exact(2).find(|pair| pair[0].as_ref() == "sandbox");
        sandbox.map_or(Self::NONE, |pair| Self::of_tokens(pair[1].as_ref().split_ascii_whitespace()))
    }

    /// Returns that of a document with this `Content-Security-Policy`, which can hold several policies: the strictest.
    pub(super) fn of_policies(header: &str) -> Self {
        let policies = header.split([',', '\n']);
        policies.filter_map(Self::of_policy).fold(Self::NONE, |all, one| Self {
            modals: all.modals && one.modals,
            popups_escape: all.popups_escape && one.popups_escape,
        })
    }

    fn of_policy(policy: &str) -> Option<Self> {
        policy.split(';').find_map(|directive| {
            let mut words = directive.split_ascii_whitespace();
            words.next().filter(|name| name.eq_ignore_ascii_case("sandbox")).map(|_| Self::of_tokens(words))
        })
    }

    fn of_tokens<'a>(tokens: impl Iterator<Item = &'a str>) -> Self {
        let mut sandbox = Self { modals: false, popups_escape: false };
        for token in tokens {
            sandbox.modals |= token.eq_ignore_ascii_case("allow-modals");
            sandbox.popups_escape |= token.eq_ignore_ascii_case("allow-popups-to-escape-sandbox");
        }
        sandbox
    }

    /// Returns whether a document in it may show no dialogs; `from_popup` if that document is in a popup of the frame's.
    pub(super) fn forbids_dialogs(self, from_popup: bool) -> bool {
        !(self.modals || from_popup && self.popups_escape)
    }
}

#[cfg(test)]
mod tests {
    use super::Sandbox;

    #[test]
    fn a_sandbox_forbids_dialogs_unless_it_allows_them() {
        for (attributes, forbids) in [
            (&["src", "sandbox"][..], false),
            (&["src", "/", "sandbox", ""], true),
            (&["sandbox", "allow-scripts allow-modals-not"], true),
            (&["sandbox", "allow-scripts\nAllow-Modals"], false),
            (&["sandbox"], false),
            (&[], false),
        ] {
            assert_eq!(Sandbox::of_element(attributes).forbids_dialogs(false), forbids, "{attributes:?}");
        }
    }

    #[test]
    fn a_policy_forbids_dialogs_if_any_of_its_sandboxes_does() {
        for (header, forbids) in [
            ("", false),
            ("default-src 'none'; report-uri /sandbox", false),
            ("sandbox", true),
            ("default-src *; SandBox allow-scripts;", true),
            ("sandbox allow-scripts allow-modals", false),
            ("sandbox allow-modals; sandbox", false),
            ("sandbox allow-modals, sandbox allow-scripts", true),
            ("default-src *\nsandbox allow-scripts", true),
        ] {
            assert_eq!(Sandbox::of_policies(header).forbids_dialogs(false), forbids, "{header:?}");
        }
    }

    #[test]
    fn popups_are_in_their_openers_sandbox_unless_they_may_leave_it() {
        assert!(Sandbox::of_policies("sandbox allow-popups").forbids_dialogs(true));
        let leaves = Sandbox::of_policies("sandbox allow-popups allow-popups-to-escape-sandbox");
        assert!(leaves.forbids_dialogs(false) && !leaves.forbids_dialogs(true));
    }
}
