//! A registry of images as a process of this machine: the program `docker-registry`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::operators::free_port;
use crate::process::{Launch, Lifetime, Running};

/// Who may pull from a guarded registry.
pub const USER: &str = "puller";
/// The password of that user.
pub const PASSWORD: &str = "s3cret";
/// The same as `htpasswd -B` has it.
const HTPASSWD: &str = "puller:$2b$04$Tqc.lHNPo6M3aZjZC3q1meeZVzZcVrSdr7N83dIgVc2IYnH/fo0.C\n";

/// A registry, until dropped.
#[derive(Debug)]
pub struct ImageRegistry {
    address: String,
    process: Running,
}

impl ImageRegistry {
    /// Whether the program is there.
    pub fn is_available() -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join("docker-registry").is_file())
    }

    /// Serves what is in a folder, to every client or only to [`USER`]. Two may serve one folder.
    pub async fn start(folder: &Path, guarded: bool) -> Result<Self> {
        let address = format!("127.0.0.1:{}", free_port()?);
        let mut config = json!({
            "version": "0.1", "log": {"level": "error"},
            "storage": {"filesystem": {"rootdirectory": folder.join("storage")}},
            "http": {"addr": address},
        });
        if guarded {
            let path = folder.join("htpasswd");
            fs::write(&path, HTPASSWD).context("cannot write the users of a registry")?;
            config["auth"] = json!({"htpasswd": {"realm": "test", "path": path}});
        }
        let name = format!("docker-registry-{}", if guarded { "guarded" } else { "open" });
        let path = folder.join(format!("{name}.json"));
        fs::write(&path, config.to_string()).context("cannot configure a registry")?;
        let launch = Launch {
            log: folder.join(format!("{name}.log")),
            name,
            program: "docker-registry".into(),
            args: vec!["serve".to_owned(), path.to_string_lossy().into_owned()],
            env: Vec::new(),
            lifetime: Lifetime::Command,
        };
        let (mut process, listens) = (launch.start()?, address.parse()?);
        let started = spawn_blocking(move || process.until_listening(listens).map(|()| process));
        let process = started.await.context("waiting for a registry was given up")??;
        Ok(Self { address, process })
    }

    /// `HOST:PORT`, plain HTTP.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// How many requests about images it got so far.
    ///
    /// # Errors
    /// Its log cannot be read.
    pub fn requests(&self) -> Result<usize> {
        let log = fs::read_to_string(self.process.log()).context("cannot read a registry's log")?;
        Ok(log.lines().filter(|line| line.contains(" /v2/")).count())
    }
}
