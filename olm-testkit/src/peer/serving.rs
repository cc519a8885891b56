//! A catalog that `opm` serves, or anything with its flags: `olm-registry` has them, too.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::operators::free_port;
use crate::process::{Launch, Lifetime, Running};

/// Serves a catalog until dropped.
#[derive(Debug)]
pub struct ServedCatalog {
    address: SocketAddr,
    running: Running,
    _scratch: TempDir,
}

impl ServedCatalog {
    /// Starts `PROGRAM serve` and waits until it listens. `cache` is its `--cache-dir`, which need
    /// not exist.
    ///
    /// # Errors
    /// It cannot be run, ends early, or takes too long.
    pub fn start(program: &Path, catalog: &Path, cache: Option<&Path>) -> Result<Self> {
        let scratch = tempfile::tempdir().context("cannot create a folder for a server")?;
        let port = free_port()?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut args = vec!["serve".to_owned(), text(catalog), "-p".to_owned(), port.to_string()];
        args.extend(["--pprof-addr".to_owned(), String::new()]);
        args.extend(["-t".to_owned(), text(&scratch.path().join("termination"))]);
        if let Some(cache) = cache {
            args.extend(["--cache-dir".to_owned(), text(cache)]);
            args.push("--cache-enforce-integrity=false".to_owned());
        }
        let launch = Launch {
            name: text(program),
            program: program.to_owned(),
            args,
            env: vec![("TMPDIR".to_owned(), text(scratch.path()))],
            log: scratch.path().join("log"),
            lifetime: Lifetime::Command,
        };
        let mut running = launch.start()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        running.until_listening(address)?;
        Ok(Self { address, running, _scratch: scratch })
    }

    /// Its resident memory in bytes; none when it has ended.
    pub fn resident_memory(&self) -> Option<u64> {
        self.running.resident_memory()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
