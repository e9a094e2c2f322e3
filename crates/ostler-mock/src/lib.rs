//! A scripted CDP server for tests.
