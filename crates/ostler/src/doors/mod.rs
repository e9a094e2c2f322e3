//! ⑤ The ways in: each door turns what its client says into requests to the tasks, and back.

pub(crate) mod cli;
pub(crate) mod line;
pub(crate) mod mcp;
