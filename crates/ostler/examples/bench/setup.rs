//! What every row needs: the programs to measure, and a runtime for the clients.

use std::future::Future;
use std::path::PathBuf;

use tokio::runtime::{Builder, Runtime};

use crate::Result;

/// How the programs that are measured were not found.
const BUILD: &str = "build it with `cargo build --release --locked --bin ostler --bin ostler-mock`";

/// The programs and the runtime.
pub(crate) struct Setup {
    /// The `ostler` that is measured.
    pub(crate) ostler: PathBuf,
    /// The folder that it was built into; its last part is the profile's name.
    folder: PathBuf,
    runtime: Runtime,
}

impl Setup {
    /// Finds the `ostler` that was built beside this example.
    pub(crate) fn new() -> Result<Self> {
        let own = std::env::current_exe()?;
        let folder = own.ancestors().nth(2).ok_or("this example does not stand in cargo's target folder")?.to_owned();
        let ostler = built(&folder, "ostler")?;
        // One thread: neither client must be the quicker for having a core more.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { ostler, folder, runtime })
    }

    /// Returns the mock browser's program.
    pub(crate) fn mock(&self) -> Result<PathBuf> {
        built(&self.folder, "ostler-mock")
    }

    /// Returns the name of the profile that was built: only the figures of `release` count.
    pub(crate) fn profile(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Runs a measurement.
    pub(crate) fn block_on<F: Future>(&self, measurement: F) -> F::Output {
        self.runtime.block_on(measurement)
    }
}

fn built(folder: &std::path::Path, name: &str) -> Result<PathBuf> {
    let program = folder.join(name);
    if program.is_file() { Ok(program) } else { Err(format!("{} is missing; {BUILD}", program.display()).into()) }
}
