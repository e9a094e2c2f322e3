//! The script that reads a page: its parts, put together.

use std::sync::LazyLock;

/// The parts, each of which stands on those before it. The last one returns what the daemon calls.
const PARTS: &[&str] = &[
    include_str!("walker/tree.js"),
    include_str!("walker/closed.js"),
    include_str!("walker/roles.js"),
    include_str!("walker/names.js"),
    include_str!("walker/states.js"),
    include_str!("walker/elements.js"),
    include_str!("walker/outline.js"),
    include_str!("walker/marks.js"),
    include_str!("walker/wheel.js"),
    include_str!("walker/waits.js"),
    include_str!("walker/walker.js"),
];

/// An expression whose value is a walker for the document that it is evaluated in.
pub(super) static EXPRESSION: LazyLock<String> =
    LazyLock::new(|| format!("(() => {{ 'use strict';\n{}}})()", PARTS.concat()));
