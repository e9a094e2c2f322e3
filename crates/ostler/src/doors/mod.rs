//! The ways in.

pub(crate) mod cli;
