//! Reads the text of `config.yaml` into values that know their line and column.
//!
//! Values stay text, and each key judges its own: so a message can name the key and what is allowed there. The YAML
//! parser's types would lose what was written (`0123`, `1.50`), and its messages know only the place.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Location, Spanned};

use super::key::AnyKey;

/// What a file says, key by key.
#[derive(Debug, Default)]
pub(crate) struct Document {
    nodes: Vec<Node>,
}

impl Document {
    /// Reads the text. A key that is not among `known` is a fault, a wrong value not yet: that is its key's to say.
    pub(super) fn parse(text: &str, known: &[&dyn AnyKey]) -> Result<Self, Fault> {
        let reading = Reading { known, state: RefCell::default() };
        // Through a visitor of our own, which begins by taking "nothing" for an answer: a file of comments alone.
        let read = serde_saphyr::with_deserializer_from_str(text, |yaml| Section::root(&reading).deserialize(yaml));
        let State { nodes, fault, at } = reading.state.into_inner();
        match read {
            Ok(()) => Ok(Self { nodes }),
            Err(error) => Err(fault.unwrap_or_else(|| Fault::of_yaml(&error, at))),
        }
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

/// How a value is written in YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A word, a number, a text.
    Text,
    /// A list of texts.
    List,
    /// Texts by name.
    Map,
}

#[derive(Debug)]
enum Value {
    Text(String),
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
            Value::Text(_) => [].iter(),
        }
    }

    /// Returns the value as it was written; of a list or a map there is none.
    pub(super) fn text(&self) -> &str {
        match &self.value {
            Value::Text(text) => text,
            Value::Parts(_) => "",
        }
    }

    /// Returns the entries of a map, each with its own name.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Self)> {
        // Names in a map may have dots themselves, so they are what follows the map's own.
        self.parts().map(|part| (part.name.get(self.name.len() + 1..).unwrap_or_default(), part))
    }

    /// Returns the line that it stands on.
    pub(super) fn line(&self) -> u64 {
        self.place.line
    }

    /// Returns what is wrong with it, with key and place.
    pub(super) fn fault(&self, why: &str) -> Fault {
        Fault { place: Some(self.place), key: Some(self.name.clone()), why: why.to_owned() }
    }
}

/// A place in the file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    line: u64,
    column: u64,
}

impl Place {
    /// The parser gives line 0 for a place that it does not know.
    fn of(location: Location) -> Option<Self> {
        (location.line() > 0).then(|| Self { line: location.line(), column: location.column() })
    }
}

/// What is wrong in the file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    place: Option<Place>,
    /// The key, where one is at fault.
    key: Option<String>,
    /// What is wrong with it.
    why: String,
}

impl Fault {
    /// Takes over what the parser says, in one line and without the excerpt, which could hold a secret.
    fn of_yaml(error: &serde_saphyr::Error, key: Option<String>) -> Self {
        let plain = error.without_snippet().to_string();
        let why = plain.lines().next().unwrap_or("no YAML that ostler understands").to_owned();
        Self { place: error.location().and_then(Place::of), key, why }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { line, column }) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        if let Some(key) = &self.key {
            write!(f, "`{key}`: ")?;
        }
        f.write_str(&self.why)
    }
}

/// One walk through the file. What it finds is kept beside serde's own results, which have no room for places.
struct Reading<'a> {
    known: &'a [&'a dyn AnyKey],
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    nodes: Vec<Node>,
    /// What we refused; the parser wraps it in words of its own.
    fault: Option<Fault>,
    /// The key that is being read, for what the parser refuses.
    at: Option<String>,
}

impl Reading<'_> {
    /// Remembers the fault and returns an error that ends the walk.
    fn refuse<E: serde::de::Error>(&self, place: Option<Place>, key: &str, why: String) -> E {
        self.state.borrow_mut().fault = Some(Fault { place, key: Some(key.to_owned()), why });
        E::custom("refused")
    }

    fn add(&self, node: Node) {
        self.state.borrow_mut().nodes.push(node);
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

/// A section of the file: the whole, `browser`, `cloud`, `cloud.browserbase`, ...
struct Section<'a> {
    reading: &'a Reading<'a>,
    name: String,
}

impl<'a> Section<'a> {
    fn root(reading: &'a Reading<'a>) -> Self {
        Self { reading, name: String::new() }
    }

    /// Reads the value that belongs to a key of this section.
    fn entry<'de, M: MapAccess<'de>>(&self, key: &Spanned<String>, map: &mut M) -> Result<(), M::Error> {
        let reading = self.reading;
        let name = if self.name.is_empty() { key.value.clone() } else { format!("{}.{}", self.name, key.value) };
        reading.state.borrow_mut().at = Some(name.clone());
        let place = Place::of(key.referenced);
        if key.value.contains('.') {
            let why = "is written as one word; write what is before the dot as a section of its own".to_owned();
            return Err(reading.refuse(place, &name, why));
        }
        if let Some(known) = reading.known.iter().find(|known| known.name() == name) {
            let node = match known.kind().shape() {
                Shape::Text => map.next_value::<Option<Spanned<String>>>()?.map(|text| text_node(name, text)),
                Shape::List => map.next_value::<Option<Spanned<Vec<Spanned<String>>>>>()?.map(|list| {
                    let item = |(at, item)| text_node(format!("{name}[{at}]"), item);
                    let items = list.value.into_iter().enumerate().map(item).collect();
                    Node { place: place_of(list.referenced), value: Value::Parts(items), name: name.clone() }
                }),
                Shape::Map => map.next_value::<Option<Spanned<Entries>>>()?.map(|entries| {
                    let entry = |(key, value)| text_node(format!("{name}.{key}"), value);
                    let nodes = entries.value.0.into_iter().map(entry).collect();
                    Node { place: place_of(entries.referenced), value: Value::Parts(nodes), name: name.clone() }
                }),
            };
            // A key with nothing behind it says nothing.
            node.into_iter().for_each(|node| reading.add(node));
            return Ok(());
        }
        if reading.names_in(&name).is_empty() {
            map.next_value::<IgnoredAny>()?;
            return Err(reading.refuse(place, &name, reading.unknown(&self.name)));
        }
        map.next_value_seed(Section { reading, name })
    }
}

fn text_node(name: String, text: Spanned<String>) -> Node {
    Node { name, place: place_of(text.referenced), value: Value::Text(text.value) }
}

fn place_of(location: Location) -> Place {
    Place { line: location.line(), column: location.column() }
}

impl<'de> DeserializeSeed<'de> for Section<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Section<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("settings by name")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            self.entry(&key, &mut map)?;
        }
        Ok(())
    }
}

/// A map of texts, in the order in which they were written.
struct Entries(Vec<(String, Spanned<String>)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap;

        impl<'de> Visitor<'de> for OfMap {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("texts by name")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Entries, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(OfMap)
    }
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
        let text = "browser:\n  dialog_timeout_s: 12.50\n  flags: [--a, \"--b=c d\"]\n  headers:\n    X-Zero: 0123\n";
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
            ("browser: {quiet: yes}", "line 1, column 18: `browser.quiet`: \"yes\" is neither true nor false"),
            (
                "browser:\n  executable: chrome",
                "line 2, column 15: `browser.executable`: \"chrome\" is no absolute path",
            ),
            (
                "browser:\n  flags:\n    - --mute-audio\n    - --user-data-dir=/x",
                "line 4, column 7: `browser.flags[1]`: --user-data-dir is ostler's own to set; leave it out",
            ),
            (
                "daemon:\n  idle_timeout: 0",
                "line 2, column 17: `daemon.idle_timeout`: \"0\" must be a number of seconds above 0, at most 31536000",
            ),
            (
                "cloud:\n  browserbase:\n    api_base: wss://host\n",
                "line 3, column 15: `cloud.browserbase.api_base`: must be an http:// or https:// URL",
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
    fn a_value_of_another_shape_is_named_by_place_and_key() {
        for (text, place) in [
            ("browser:\n  dialog_policy: [a]\n", "line 2, column 18: `browser.dialog_policy`: "),
            ("browser:\n  flags: --a\n", "line 2, column 10: `browser.flags`: "),
            ("browser:\n  headers: [a]\n", "line 2, column 12: `browser.headers`: "),
            ("browser: quiet\n", "line 1, column 10: `browser`: "),
            ("browser:\n  - quiet\n", "line 2, column 3: `browser`: "),
        ] {
            let fault = fault(text);
            assert!(fault.starts_with(place), "{fault}");
        }
        assert!(fault("- browser").starts_with("line 1, column 1: "));
    }

    #[test]
    fn a_key_given_twice_and_broken_yaml_are_named_by_place() {
        for text in [
            "browser:\n  executable: /a\n  executable: /b\n",
            "browser: {}\n\nbrowser: {}\n",
            "browser:\n\n  executable: [\n",
            "browser:\n\n  headers: {a: b, a: c}\n",
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
