//! What a dialog is, apart from where it shows: its kind and words, and the answer that the page's script gets.

/// A dialog that a page's script opens.
#[derive(Clone, Debug)]
pub struct Dialog {
    /// Which function opened it.
    pub kind: DialogKind,
    /// The text it shows.
    pub message: String,
    /// What a prompt offers.
    pub default_prompt: String,
}

/// The four kinds of native dialogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are named as their functions are")]
pub enum DialogKind {
    Alert,
    Confirm,
    Prompt,
    BeforeUnload,
}

/// What the page's script got from its dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether it was accepted.
    pub accepted: bool,
    /// What an accepted prompt returns.
    pub text: Option<String>,
}

impl Dialog {
    /// Returns an `alert(message)`.
    pub fn alert(message: &str) -> Self {
        Self::new(DialogKind::Alert, message, "")
    }

    /// Returns a `confirm(message)`.
    pub fn confirm(message: &str) -> Self {
        Self::new(DialogKind::Confirm, message, "")
    }

    /// Returns a `prompt(message, default)`.
    pub fn prompt(message: &str, default: &str) -> Self {
        Self::new(DialogKind::Prompt, message, default)
    }

    fn new(kind: DialogKind, message: &str, default_prompt: &str) -> Self {
        Self { kind, message: message.to_owned(), default_prompt: default_prompt.to_owned() }
    }

    /// Reads an expression that is nothing but the call of a dialog function with literal arguments.
    pub(super) fn from_expression(expression: &str) -> Option<Self> {
        let (function, arguments) = expression.trim().trim_end_matches(';').split_once('(')?;
        let arguments = format!("[{}]", arguments.strip_suffix(')')?);
        let arguments: Vec<String> = serde_json::from_str(&arguments).ok()?;
        let text = |at: usize| arguments.get(at).map_or("", String::as_str);
        let kind = match function {
            "alert" => DialogKind::Alert,
            "confirm" => DialogKind::Confirm,
            "prompt" => DialogKind::Prompt,
            _ => return None,
        };
        Some(Self::new(kind, text(0), text(1)))
    }
}

impl DialogKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Confirm => "confirm",
            Self::Prompt => "prompt",
            Self::BeforeUnload => "beforeunload",
        }
    }
}
