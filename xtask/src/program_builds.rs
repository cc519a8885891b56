//! Programs of others, built beside ours: while one compiler links, the other has the processor.

use std::thread::{self, JoinHandle};

use anyhow::{Result, anyhow};
use olm_tools::{
    ConfigMapServer, Helm, KStatus, NodePrograms, Opm, Progress as Lines, Tools, kubectl,
};

use crate::commands::Starts;
use crate::progress::Progress;

/// Programs that are being built.
#[derive(Debug)]
pub struct ProgramBuilds(Option<JoinHandle<Result<()>>>);

impl ProgramBuilds {
    /// Begins with what a command starts.
    pub fn for_command(starts: Starts, progress: &Progress) -> Self {
        if starts == Starts::Nothing {
            return Self(None);
        }
        let lines = lines(progress);
        Self(Some(thread::spawn(move || Tools::ensure(&lines).map(drop))))
    }

    /// Begins with everything that tests need, in the order in which they do.
    pub fn for_tests(progress: &Progress) -> Self {
        let lines = lines(progress);
        Self(Some(thread::spawn(move || {
            Tools::ensure(&lines)?;
            kubectl(&lines)?;
            Opm::ensure(&lines)?;
            ConfigMapServer::ensure(&lines)?;
            Helm::ensure(&lines)?;
            KStatus::ensure(&lines)?;
            NodePrograms::ensure(&lines).map(drop)
        })))
    }

    /// Waits until they are built.
    ///
    /// # Errors
    /// There is no Go, or a build has failed.
    pub fn finish(self) -> Result<()> {
        let Some(builds) = self.0 else { return Ok(()) };
        builds.join().map_err(|_| anyhow!("the build of programs of others has panicked"))?
    }
}

fn lines(progress: &Progress) -> Lines {
    let progress = progress.clone();
    Lines::new(move |line| progress.line(line))
}
