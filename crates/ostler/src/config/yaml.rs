//! Reads YAML into values that know their place, and says in words for people what is no YAML.
//!
//! Each scalar keeps what was written (`0123`, `1.50`) beside what YAML takes it for: a text, a number, a truth value.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Span};

use super::fault::{Fault, Place};

/// How many values a file may have, with everything that its references unfold to.
const MAX_VALUES: usize = 10_000;
/// How long all texts may be together, with everything that references unfold to.
const MAX_TEXT: usize = 4 << 20;
/// How deep values may be nested.
const MAX_DEPTH: usize = 32;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) place: Place,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar(Scalar),
    List(Vec<Tree>),
    /// In the order in which it was written.
    Map(Vec<(Name, Tree)>),
}

/// One word, number or text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) kind: ScalarKind,
    /// As it was written, without quotes.
    pub(super) text: String,
}

/// What YAML 1.2 takes a scalar for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarKind {
    Nothing,
    Text,
    Number,
    Truth,
}

/// A key of a map.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) place: Place,
    pub(super) text: String,
}

/// Reads the one document of a text; none if there is nothing in it.
pub(super) fn parse(text: &str) -> Result<Option<Tree>, Fault> {
    let mut reader =
        Reader { events: Parser::new_from_str(text), named: HashMap::new(), values: 0, text: 0, path: Vec::new() };
    let mut tree = None;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(tree),
            Event::StreamStart | Event::DocumentEnd => {}
            Event::DocumentStart(..) if tree.is_none() => {}
            Event::DocumentStart(..) => {
                let why = "a second document begins here, and one is read; leave the `---` and what follows it out";
                return Err(reader.fault(span.start, why));
            }
            event => tree = Some(reader.value(event, span, 0)?),
        }
    }
}

struct Reader<'a> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
    /// The values that can be referred to.
    named: HashMap<usize, Tree>,
    values: usize,
    /// The length of all texts.
    text: usize,
    /// The keys that lead to what is being read.
    path: Vec<String>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Fault> {
        match self.events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.no_yaml(&error)),
            None => Ok((Event::StreamEnd, Span::empty(Marker::default()))),
        }
    }

    /// Reads the value that begins with an event.
    fn value(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Tree, Fault> {
        self.count(1, 0, span.start)?;
        if depth > MAX_DEPTH {
            return Err(self.fault(span.start, "is nested far deeper than any setting is; look for a bracket too many"));
        }
        if event.tag().is_some() {
            return Err(
                self.fault(span.start, "has a `!` tag before its value, which no setting needs; leave the tag out")
            );
        }
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (Value::Scalar(Scalar::of(text, style)), anchor),
            Event::SequenceStart(_, anchor, _) => (Value::List(self.list(depth)?), anchor),
            Event::MappingStart(_, anchor, _) => (Value::Map(self.map(depth)?), anchor),
            Event::Alias(anchor) => {
                let Some(tree) = self.named.get(&anchor) else {
                    return Err(self.fault(span.start, "refers to a value that contains it; write the value out"));
                };
                // Before anything is copied: a few bytes can refer to all that came before.
                self.count(tree.values(), tree.text(), span.start)?;
                return Ok(Tree { place: place(span.start), value: self.named[&anchor].value.clone() });
            }
            _ => return Err(self.fault(span.start, NO_YAML)),
        };
        let tree = Tree { place: place(span.start), value };
        if anchor > 0 {
            self.count(0, tree.text(), span.start)?;
            self.named.insert(anchor, tree.clone());
        }
        Ok(tree)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Tree>, Fault> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => items.push(self.value(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(Name, Tree)>, Fault> {
        let mut entries: Vec<(Name, Tree)> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(entries);
            }
            let Value::Scalar(Scalar { text, .. }) = self.value(event, span, depth + 1)?.value else {
                return Err(
                    self.fault(span.start, "a name is needed in front of the `:`, and a list or a map stands there")
                );
            };
            let name = Name { place: place(span.start), text };
            self.path.push(name.text.clone());
            if let Some((first, _)) = entries.iter().find(|(other, _)| other.text == name.text) {
                let why = format!("is there twice, on line {} too; leave one of them out", first.place.line);
                return Err(self.fault(span.start, &why));
            }
            let (event, span) = self.next()?;
            let value = self.value(event, span, depth + 1)?;
            self.path.pop();
            entries.push((name, value));
        }
    }

    fn count(&mut self, values: usize, text: usize, at: Marker) -> Result<(), Fault> {
        self.values += values;
        self.text += text;
        if self.values > MAX_VALUES {
            let why = format!("the file has more than {MAX_VALUES} values from here on; is it the right file?");
            return Err(self.fault(at, &why));
        }
        if self.text > MAX_TEXT {
            let why = "what references (`*`) stand for is too long in all from here on; write the values out";
            return Err(self.fault(at, why));
        }
        Ok(())
    }

    fn fault(&self, at: Marker, why: &str) -> Fault {
        let key = (!self.path.is_empty()).then(|| self.path.join("."));
        Fault { place: Some(place(at)), key, why: why.to_owned() }
    }

    /// Says in our words what the parser does not like. Its own name its inner states, and could repeat a secret.
    fn no_yaml(&self, error: &ScanError) -> Fault {
        self.fault(*error.marker(), in_words(error.kind()))
    }
}

impl Tree {
    /// Returns how many values it is, itself and names included.
    fn values(&self) -> usize {
        match &self.value {
            Value::Scalar(_) => 1,
            Value::List(items) => 1 + items.iter().map(Self::values).sum::<usize>(),
            Value::Map(entries) => 1 + entries.iter().map(|(_, value)| 1 + value.values()).sum::<usize>(),
        }
    }

    /// Returns how long all texts in it are.
    fn text(&self) -> usize {
        match &self.value {
            Value::Scalar(scalar) => scalar.text.len(),
            Value::List(items) => items.iter().map(Self::text).sum(),
            Value::Map(entries) => entries.iter().map(|(name, value)| name.text.len() + value.text()).sum(),
        }
    }
}

impl Scalar {
    fn of(text: Cow<'_, str>, style: ScalarStyle) -> Self {
        let kind = match (style, &*text) {
            (ScalarStyle::Plain, "" | "~" | "null" | "Null" | "NULL") => ScalarKind::Nothing,
            (ScalarStyle::Plain, "true" | "True" | "TRUE" | "false" | "False" | "FALSE") => ScalarKind::Truth,
            (ScalarStyle::Plain, number) if is_number(number) => ScalarKind::Number,
            _ => ScalarKind::Text,
        };
        Self { kind, text: text.into_owned() }
    }

    /// Returns the number that it is, by the rules of YAML.
    pub(super) fn number(&self) -> Option<f64> {
        let text = self.text.as_str();
        if self.kind != ScalarKind::Number {
            return None;
        }
        if let Some((digits, radix)) = with_radix(text) {
            // A setting that has as many digits is beyond every limit.
            return Some(u32::from_str_radix(digits, radix).map_or(f64::INFINITY, f64::from));
        }
        Some(match text.trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
            ".inf" if text.starts_with('-') => f64::NEG_INFINITY,
            ".inf" => f64::INFINITY,
            ".nan" => f64::NAN,
            _ => text.parse().ok()?,
        })
    }
}

/// Returns the digits and the base of `0x1f` and `0o17`.
fn with_radix(text: &str) -> Option<(&str, u32)> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text.strip_prefix("0o")?, 8),
    };
    (!digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))).then_some((digits, radix))
}

/// The core schema of YAML 1.2, section 10.3.2.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_decimal = unsigned.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
        && !unsigned.starts_with(['+', '-'])
        && text.parse::<f64>().is_ok();
    is_decimal
        || with_radix(text).is_some()
        || matches!(unsigned, ".inf" | ".Inf" | ".INF")
        || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// The parser counts columns from 0.
fn place(at: Marker) -> Place {
    Place { line: at.line(), column: at.col() + 1 }
}

const NO_YAML: &str = "this is no YAML; check quotes, brackets, indentation and the blank after each `:`";

fn in_words(kind: &ErrorKind) -> &'static str {
    use ErrorKind as E;
    match kind {
        E::TabNotAllowed
        | E::TabInBlockIndentation
        | E::TabInIndentation
        | E::TabAtBlockScalarStart
        | E::TabInPlainScalar => "a tab stands where YAML takes blanks only; indent with blanks",
        E::UnclosedQuotedScalar | E::DocumentIndicatorInQuotedScalar => "a text in quotes has no end; close the quotes",
        E::InvalidTrailingSingleQuotedScalar | E::InvalidTrailingDoubleQuotedScalar => {
            "something follows the closing quote; put the whole value in quotes, or write a line end"
        }
        E::UnknownQuotedScalarEscape | E::InvalidQuotedScalarHexEscape | E::InvalidUnicodeEscape => {
            "what follows the \\ means nothing in double quotes; use single quotes, or write \\\\"
        }
        E::UnclosedFlowCollection { .. }
        | E::MisplacedFlowCollectionEnd
        | E::MismatchedFlowCollectionEnd { .. }
        | E::UnexpectedEofFlowSequence
        | E::UnexpectedEofFlowMapping
        | E::UnexpectedEofImplicitFlowMapping
        | E::ExpectedFlowMappingSeparator
        | E::ExpectedFlowSequenceSeparator => "a [ or { is not closed, or a comma is missing; check the brackets",
        E::MappingValueNotAllowed
        | E::InvalidColonPlacement
        | E::MappingKeyNotAllowed
        | E::InvalidMappingValueWhitespace => {
            "a `:` cannot stand here; begin each setting on a line of its own, and put a value with a `: ` in it in quotes"
        }
        E::SimpleKeyExpected | E::InvalidSimpleKey => {
            "a setting needs a `:` and a blank between its name and its value; write it as `name: value`"
        }
        E::InvalidIndentation
        | E::ExpectedBlockMappingKey
        | E::ExpectedBlockSequenceEntry
        | E::InvalidFlowScalarIndent => {
            "the indentation does not fit the lines above; let the settings of a section begin in the same column"
        }
        E::UnknownAnchor | E::MissingAnchorOrAliasName => {
            "a value that begins with * or & is a reference to another, and there is none of that name; put it in quotes"
        }
        E::UnexpectedCharacter { .. } => "a value cannot begin with this character; put it in quotes",
        E::RecursionLimitExceeded => "is nested far deeper than any setting is; look for a bracket too many",
        _ => NO_YAML,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    impl Tree {
        /// Returns it as JSON, the way an editor sees it that checks a file by its schema.
        pub(in crate::config) fn to_json(&self) -> serde_json::Value {
            match &self.value {
                Value::Scalar(scalar) => match scalar.kind {
                    ScalarKind::Nothing => serde_json::Value::Null,
                    ScalarKind::Text => json!(scalar.text),
                    ScalarKind::Truth => json!(scalar.text.eq_ignore_ascii_case("true")),
                    // JSON knows no infinity; no limit lets one pass.
                    ScalarKind::Number => json!(scalar.number().filter(|n| n.is_finite()).unwrap_or(f64::MAX)),
                },
                Value::List(items) => items.iter().map(Self::to_json).collect(),
                Value::Map(entries) => {
                    let entries = entries.iter().map(|(name, value)| (name.text.clone(), value.to_json()));
                    serde_json::Value::Object(entries.collect())
                }
            }
        }
    }

    fn kind(text: &str) -> ScalarKind {
        match parse(text).expect("good YAML").expect("a value").value {
            Value::Scalar(scalar) => scalar.kind,
            other => unreachable!("{other:?}"),
        }
    }

    fn why(text: &str) -> String {
        parse(text).expect_err(text).to_string()
    }

    #[test]
    fn a_scalar_is_what_the_core_schema_says() {
        for text in ["1", "+1", "-1.5", ".5", "5.", "1e3", "1.5E-3", "0x1f", "0o17", "0123", ".inf", "-.INF", ".NaN"] {
            assert_eq!(kind(text), ScalarKind::Number, "{text}");
        }
        for text in ["'1'", "\"true\"", "1_000", "0x", "0b1", "e5", ".", "1.2.3", "+-1", "inf", "nan", "yes", "on"] {
            assert_eq!(kind(text), ScalarKind::Text, "{text}");
        }
        for text in ["true", "False", "TRUE"] {
            assert_eq!(kind(text), ScalarKind::Truth, "{text}");
        }
        for text in ["~", "null", "NULL"] {
            assert_eq!(kind(text), ScalarKind::Nothing, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_meant() {
        for (text, number) in [("0x1f", 31.0), ("0o17", 15.0), ("-1.5e1", -15.0), ("+2", 2.0), ("0123", 123.0)] {
            let scalar = Scalar::of(text.into(), ScalarStyle::Plain);
            assert_eq!(scalar.number(), Some(number), "{text}");
        }
        assert_eq!(Scalar::of("5".into(), ScalarStyle::SingleQuoted).number(), None);
    }

    #[test]
    fn a_reference_stands_for_its_value_and_cannot_unfold_without_end() {
        let tree = parse("a: &x [1, 2]\nb: *x\n").expect("good YAML").expect("a value");
        assert_eq!(tree.to_json(), json!({"a": [1.0, 2.0], "b": [1.0, 2.0]}));
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..20 {
            let references = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{references}]\n"));
        }
        assert!(why(&bomb).contains("more than 10000 values"), "{}", why(&bomb));
        assert!(why(&"[".repeat(100_000)).contains("deeper"), "{}", why(&"[".repeat(100)));
    }

    #[test]
    fn a_long_text_that_is_referred_to_often_is_refused_before_it_is_copied() {
        let long = "x".repeat(500_000);
        for text in [
            format!("a: &x {long}\nb: [{}]\n", vec!["*x"; 9_000].join(", ")),
            format!("a: &x {{ k: {long} }}\nb: [{}]\n", vec!["*x"; 3_000].join(", ")),
            format!(
                "a: {}{long}\n",
                (0..20).map(|level| format!("&a{level}\n{}- ", " ".repeat(level))).collect::<String>()
            ),
        ] {
            assert!(why(&text).contains("what references (`*`) stand for is too long"), "{}", why(&text));
        }
        // One that a few lines share is as good as any.
        let shared = format!("a: &x {}\nb: [{}]\n", "x".repeat(1000), vec!["*x"; 100].join(", "));
        assert!(parse(&shared).is_ok());
    }

    #[test]
    fn what_is_no_yaml_is_said_by_place_and_in_words_for_people() {
        let mut others = Vec::new();
        for (text, said) in [
            ("browser:\n\tquiet: true\n", "line 2, column 2: `browser`: a tab stands where"),
            ("a: 'x\n", "a text in quotes has no end"),
            ("a: 'x' y\n", "something follows the closing quote"),
            ("a: [x\n", "a [ or { is not closed"),
            ("a: b: c\n", "line 1, column 5: a `:` cannot stand here"),
            ("a: *x\n", "a value that begins with * or & is a reference"),
            ("a: @x\n", "a value cannot begin with this character"),
            ("a: \"\\q\"\n", "what follows the \\ means nothing"),
            ("a: 1\na: 2\n", "line 2, column 1: `a`: is there twice, on line 1 too"),
            ("a: 1\n---\nb: 2\n", "line 2, column 1: a second document begins here"),
            ("a: !!int 1\n", "has a `!` tag before its value"),
            ("a:\n    b: 1\n  c: 2\n", "the indentation does not fit"),
            ("a: 1\nb\n", "a setting needs a `:`"),
            ("? [x]\n: y\n", "a name is needed in front of the `:`"),
        ] {
            let why = why(text);
            if !why.contains(said) {
                others.push(format!("{text:?}: {why}"));
            }
        }
        assert!(others.is_empty(), "{}", others.join("\n"));
    }
}
