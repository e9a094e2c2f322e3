//! What `config.yaml` says, key by key, each with its line and column.
//!
//! Values stay text until their key judges them: so a message can name the key, what was given and what is allowed there.

use super::fault::{Fault, Place};
use super::key::{AnyKey, Kind, Shape};
use super::yaml::{self, Name, Scalar, ScalarKind, Tree};

/// What a file says, key by key.
#[derive(Debug, Default)]
pub(crate) struct Document {
    nodes: Vec<Node>,
}

impl Document {
    /// Reads the text. A key that is not among `known`, or a value of another type than its key has, is a fault; a value
    /// that is wrong in itself not yet: that is its key's to say.
    pub(super) fn parse(text: &str, known: &[&dyn AnyKey]) -> Result<Self, Fault> {
        let mut reading = Reading { known, nodes: Vec::new() };
        if let Some(tree) = yaml::parse(text)? {
            reading.section("", tree)?;
        }
        Ok(Self { nodes: reading.nodes })
    }

    /// Returns what stands at a key.
    pub(crate) fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }
}

/// A value with its place.
#[derive(Debug)]
pub(crate) struct Node {
    name: String,
    place: Place,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Scalar(Scalar),
    /// The items of a list, or the entries of a map.
    Parts(Vec<Node>),
}

impl Node {
    /// Returns the value as `rule` makes it, or the rule's complaint with key and place.
    pub(super) fn read<T>(&self, rule: impl FnOnce(&str) -> Result<T, String>) -> Result<T, Fault> {
        rule(self.text()).map_err(|why| self.fault(&why))
    }

    /// Returns the items of a list, or the entries of a map.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Self> {
        match &self.value {
            Value::Parts(parts) => parts.iter(),
            Value::Scalar(_) => [].iter(),
        }
    }

    /// Returns the value as it was written; of a list or a map there is none.
    pub(super) fn text(&self) -> &str {
        match &self.value {
            Value::Scalar(scalar) => &scalar.text,
            Value::Parts(_) => "",
        }
    }

    /// Returns the number that it is.
    pub(super) fn number(&self) -> Option<f64> {
        match &self.value {
            Value::Scalar(scalar) => scalar.number(),
            Value::Parts(_) => None,
        }
    }

    /// Returns the entries of a map, each with its own name.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Self)> {
        // Names in a map may have dots themselves, so they are what follows the map's own.
        self.parts().map(|part| (part.name.get(self.name.len() + 1..).unwrap_or_default(), part))
    }

    /// Returns the line that it stands on.
    pub(super) fn line(&self) -> usize {
        self.place.line
    }

    /// Returns what is wrong with it, with key and place.
    pub(super) fn fault(&self, why: &str) -> Fault {
        fault(self.place, &self.name, why.to_owned())
    }
}

/// One walk through the file.
struct Reading<'a> {
    known: &'a [&'a dyn AnyKey],
    nodes: Vec<Node>,
}

impl Reading<'_> {
    /// Reads a section of the file: the whole, `browser`, `cloud`, `cloud.browserbase`, ...
    fn section(&mut self, section: &str, tree: Tree) -> Result<(), Fault> {
        match tree.value {
            yaml::Value::Map(entries) => {
                entries.into_iter().try_for_each(|(name, tree)| self.entry(section, name, tree))
            }
            // A section with nothing in it says nothing.
            yaml::Value::Scalar(Scalar { kind: ScalarKind::Nothing, .. }) => Ok(()),
            other => {
                let (names, given) = (self.names_in(section).join(", "), word_for(&other));
                let why = format!("is {given}, and must be settings by name, as in `name: value`; there are: {names}");
                Err(match section {
                    "" => Fault { place: Some(tree.place), key: None, why: format!("the file {why}") },
                    section => fault(tree.place, section, why),
                })
            }
        }
    }

    /// Reads the value that belongs to a key of a section.
    fn entry(&mut self, section: &str, key: Name, tree: Tree) -> Result<(), Fault> {
        let name = if section.is_empty() { key.text.clone() } else { format!("{section}.{}", key.text) };
        if key.text.contains('.') {
            let why = "is written as one word; write what is before the dot as a section of its own";
            return Err(fault(key.place, &name, why.to_owned()));
        }
        if let Some(known) = self.known.iter().find(|known| known.name() == name) {
            // A key with nothing behind it says nothing.
            self.nodes.extend(node(name, tree, known.kind())?);
            return Ok(());
        }
        if self.names_in(&name).is_empty() {
            return Err(fault(key.place, &name, self.unknown(section)));
        }
        self.section(&name, tree)
    }

    /// Returns the names that may stand in a section, which is none of ours if there are none.
    fn names_in(&self, section: &str) -> Vec<&str> {
        let below = |name: &'static str| match section {
            "" => Some(name),
            section => name.strip_prefix(section)?.strip_prefix('.'),
        };
        let mut names: Vec<_> = self.known.iter().filter_map(|key| below(key.name())?.split('.').next()).collect();
        names.dedup();
        names
    }

    fn unknown(&self, section: &str) -> String {
        let names = self.names_in(section).join(", ");
        match section {
            "" => format!("is no section of the settings; there are: {names}"),
            section => format!("is no setting; under `{section}` there are: {names}"),
        }
    }
}

/// Takes a value as one of this kind.
fn node(name: String, tree: Tree, kind: Kind) -> Result<Option<Node>, Fault> {
    let place = tree.place;
    let value = match (tree.value, kind.shape()) {
        (yaml::Value::Scalar(Scalar { kind: ScalarKind::Nothing, .. }), _) => return Ok(None),
        (yaml::Value::Scalar(scalar), Shape::Scalar) if kind.takes(scalar.kind) => Value::Scalar(scalar),
        (yaml::Value::List(items), Shape::List) => {
            let items = items.into_iter().enumerate().map(|(at, item)| part(format!("{name}[{at}]"), item, kind));
            Value::Parts(items.collect::<Result<_, _>>()?)
        }
        (yaml::Value::Map(entries), Shape::Map) => {
            let entries = entries.into_iter().map(|(key, entry)| part(format!("{name}.{}", key.text), entry, kind));
            Value::Parts(entries.collect::<Result<_, _>>()?)
        }
        (other, _) => return Err(fault(place, &name, wrong_type(&other, kind.is_secret(), &kind.allowed()))),
    };
    Ok(Some(Node { name, place, value }))
}

/// Takes an item of a list or an entry of a map. Nothing at all is no item: it is left out by leaving out its line.
fn part(name: String, tree: Tree, kind: Kind) -> Result<Node, Fault> {
    let place = tree.place;
    match tree.value {
        yaml::Value::Scalar(scalar) if kind.takes(scalar.kind) => {
            Ok(Node { name, place, value: Value::Scalar(scalar) })
        }
        // What a cloud service is told is passed on whatever its shape.
        other @ (yaml::Value::List(_) | yaml::Value::Map(_)) if kind == Kind::Options => {
            let text = json(other).to_string();
            Ok(Node { name, place, value: Value::Scalar(Scalar { kind: ScalarKind::Text, text }) })
        }
        other => Err(fault(place, &name, wrong_type(&other, kind.is_secret(), kind.part_allowed()))),
    }
}

/// Returns a value as JSON. A number that JSON cannot write is passed on as text.
fn json(value: yaml::Value) -> serde_json::Value {
    match value {
        yaml::Value::Scalar(Scalar { kind: ScalarKind::Nothing, .. }) => serde_json::Value::Null,
        yaml::Value::Scalar(scalar) if scalar.kind == ScalarKind::Text => scalar.text.into(),
        yaml::Value::Scalar(Scalar { kind: ScalarKind::Truth, text }) => text.eq_ignore_ascii_case("true").into(),
        yaml::Value::Scalar(scalar) => serde_json::from_str(&scalar.text).unwrap_or_else(|_| scalar.text.into()),
        yaml::Value::List(items) => items.into_iter().map(|item| json(item.value)).collect(),
        yaml::Value::Map(entries) => entries.into_iter().map(|(name, entry)| (name.text, json(entry.value))).collect(),
    }
}

/// Says what was given and what is allowed instead.
fn wrong_type(given: &yaml::Value, is_secret: bool, allowed: &str) -> String {
    let given = match given {
        yaml::Value::Scalar(Scalar { kind: ScalarKind::Text, text }) if !is_secret => format!("the text {text:?}"),
        yaml::Value::Scalar(Scalar { kind: ScalarKind::Number, text }) if !is_secret => format!("the number {text}"),
        other => word_for(other).to_owned(),
    };
    format!("is {given}, and must be {allowed}")
}

fn word_for(value: &yaml::Value) -> &'static str {
    match value {
        yaml::Value::List(_) => "a list",
        yaml::Value::Map(_) => "a map of names and values",
        yaml::Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Nothing => "nothing",
            ScalarKind::Text => "a text",
            ScalarKind::Number => "a number",
            ScalarKind::Truth => "true or false",
        },
    }
}

fn fault(place: Place, key: &str, why: String) -> Fault {
    Fault { place: Some(place), key: Some(key.to_owned()), why }
}

#[cfg(test)]
mod tests {
    use super::super::keys;
    use super::*;

    /// Reads and judges a text as the daemon does.
    fn read(text: &str) -> Result<Document, Fault> {
        let document = Document::parse(text, keys::ALL)?;
        keys::check_all(&document).map(|()| document)
    }

    fn fault(text: &str) -> String {
        read(text).expect_err("a faulty file").to_string()
    }

    #[test]
    fn a_file_that_says_nothing_sets_nothing() {
        for text in ["", "# later\n", "---\n", "browser:\n", "browser: {}\n", "browser:\n  dialog_policy:\n", "null"] {
            let document = read(text).unwrap_or_else(|fault| unreachable!("{text:?}: {fault}"));
            assert!(document.nodes.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn values_are_what_was_written() {
        let text = "browser:\n  dialog_timeout_s: 12.50\n  flags: [--a, \"--b=c d\"]\n  headers:\n    X-Zero: '0123'\n  cdp_url: ws://host\n";
        let document = read(text).expect("a good file");
        let text = |name| document.node(name).expect(name).text();
        assert_eq!(text("browser.dialog_timeout_s"), "12.50");
        let parts = |name| document.node(name).expect(name).parts().map(Node::text).collect::<Vec<_>>();
        assert_eq!(parts("browser.flags"), ["--a", "--b=c d"]);
        assert_eq!(parts("browser.headers"), ["0123"]);
    }

    #[test]
    fn a_wrong_value_is_named_by_line_column_and_key() {
        for (text, said) in [
            (
                "# mine\nbrowser:\n  dialog_policy: sometimes\n",
                "line 3, column 18: `browser.dialog_policy`: \"sometimes\" is no policy; use must_respond, auto_dismiss or auto_accept",
            ),
            (
                "browser: {quiet: yes}",
                "line 1, column 18: `browser.quiet`: is the text \"yes\", and must be true or false, without quotes",
            ),
            (
                "browser:\n  executable: chrome",
                "line 2, column 15: `browser.executable`: \"chrome\" is no absolute path; begin it with /",
            ),
            (
                "browser:\n  flags:\n    - --mute-audio\n    - --user-data-dir=/x",
                "line 4, column 7: `browser.flags[1]`: --user-data-dir is ostler's own to set; leave it out",
            ),
            (
                "daemon:\n  idle_timeout: 0",
                "line 2, column 17: `daemon.idle_timeout`: 0 is no time to wait; it must be a number of seconds, at least 0.001 and at most 31536000",
            ),
            (
                "cloud:\n  browserbase:\n    api_base: wss://host\n",
                "line 3, column 15: `cloud.browserbase.api_base`: does not start with https://; give a URL such as https://api.example.com, or http:// on this machine",
            ),
        ] {
            assert_eq!(fault(text), said);
        }
        for value in ["soon", "0", "-1", "86401", "1e300", ".inf", "nan", "''"] {
            let fault = fault(&format!("browser:\n  dialog_timeout_s: {value}\n"));
            assert!(fault.starts_with("line 2, column 21: `browser.dialog_timeout_s`: "), "{fault}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_by_line_column_and_what_there_is() {
        for (text, said) in [
            (
                "browsr: {}\n",
                "line 1, column 1: `browsr`: is no section of the settings; there are: browser, cloud, daemon",
            ),
            (
                "cloud:\n\n  browserbase: {api_bse: x}\n",
                "line 3, column 17: `cloud.browserbase.api_bse`: is no setting; under `cloud.browserbase` there are: api_base",
            ),
            (
                "browser:\n  dialog_polcy: [x]\n",
                "line 2, column 3: `browser.dialog_polcy`: is no setting; under `browser` there are: ",
            ),
            (
                "browser.quiet: true\n",
                "line 1, column 1: `browser.quiet`: is written as one word; write what is before the dot as a section of its own",
            ),
        ] {
            assert!(fault(text).starts_with(said), "{}", fault(text));
        }
    }

    #[test]
    fn a_value_of_another_type_is_named_by_place_key_what_was_given_and_what_is_allowed() {
        for (text, said) in [
            (
                "browser:\n  dialog_policy: [a]\n",
                "line 2, column 18: `browser.dialog_policy`: is a list, and must be must_respond, auto_dismiss or auto_accept",
            ),
            (
                "browser:\n  dialog_timeout_s: \"60\"\n",
                "line 2, column 21: `browser.dialog_timeout_s`: is the text \"60\", and must be a number of seconds without \
                 quotes, at least 0.001 and at most 86400",
            ),
            (
                "browser:\n  executable: 7\n",
                "line 2, column 15: `browser.executable`: is the number 7, and must be an absolute path",
            ),
            (
                "browser:\n  flags: --a\n",
                "line 2, column 10: `browser.flags`: is the text \"--a\", and must be a list of flags, as in [--mute-audio]",
            ),
            (
                "browser:\n  flags: [--a, {}]\n",
                "line 2, column 16: `browser.flags[1]`: is a map of names and values, and must be a flag",
            ),
            (
                "browser:\n  headers: [a]\n",
                "line 2, column 12: `browser.headers`: is a list, and must be headers by name, as in {X-Key: value}",
            ),
            (
                "browser:\n  headers: {A:}\n",
                "line 2, column 14: `browser.headers.A`: is nothing, and must be a text; put it in quotes",
            ),
            (
                "browser:\n  headers: {A: 0123}\n",
                "line 2, column 16: `browser.headers.A`: is a number, and must be a text; put it in quotes",
            ),
            (
                "browser:\n  headers: {A: true}\n",
                "line 2, column 16: `browser.headers.A`: is true or false, and must be a text; put it in quotes",
            ),
            (
                "browser:\n  headers: {A: b}\n",
                "line 2, column 12: `browser.headers`: go with `browser.cdp_url` alone, and that is not set, so they would go nowhere; set it, or leave them out",
            ),
            (
                "browser: quiet\n",
                "line 1, column 10: `browser`: is a text, and must be settings by name, as in `name: value`; there are: cdp_url, headers",
            ),
            ("browser:\n  - quiet\n", "line 2, column 3: `browser`: is a list, and must be settings by name"),
            (
                "- browser",
                "line 1, column 1: the file is a list, and must be settings by name, as in `name: value`; there are: browser, cloud, daemon",
            ),
        ] {
            assert!(fault(text).starts_with(said), "{}", fault(text));
        }
    }

    #[test]
    fn a_key_given_twice_and_broken_yaml_are_named_by_place() {
        for text in [
            "browser:\n  executable: /a\n  executable: /b\n",
            "browser: {}\n\nbrowser: {}\n",
            "browser:\n\n  headers: {a: b, a: c}\n",
            "browser:\n\n  executable: /a: b\n",
        ] {
            assert!(fault(text).starts_with("line 3, column "), "{text}: {}", fault(text));
        }
    }

    #[test]
    fn what_may_be_a_secret_is_not_repeated() {
        for text in [
            "browser:\n  cdp_url: S3CRET\n",
            "browser:\n  cdp_url: [S3CRET]\n",
            "browser:\n  cdp_url: {S3CRET: x}\n",
            "browser: S3CRET\n",
            "browser: [S3CRET]\n",
            "browser:\n  headers: S3CRET\n",
            "browser:\n  headers: {A: [S3CRET]}\n",
            "browser:\n  headers: {A: \"S3CRET\\n\"}\n",
            "browser:\n  headers: {Host: S3CRET}\n",
            "browser:\n  cdp_url: \"S3CRET\n",
            "browser:\n  cdp_url: *S3CRET\n",
            "S3CRET",
            "? [S3CRET]\n: x\n",
            "browser:\n  cdp_url: !!int S3CRET\n",
            "cloud:\n  browser_use:\n    api_base: S3CRET\n",
        ] {
            assert!(!fault(text).contains("S3CRET"), "{text}: {}", fault(text));
        }
    }
}
