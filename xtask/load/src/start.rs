//! Starts a server and waits for its first answer.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::calls;

/// How often it is tried whether the server listens.
const POLL: Duration = Duration::from_millis(1);

/// Longest wait for a server; its start takes seconds on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A server that runs until it is dropped.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Served {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it and waits until it is gone.
    pub(crate) fn stop(self) {
        drop(self);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the program with its index below `scratch`; gives the time until its first answer.
pub(crate) async fn start(
    program: &Path,
    catalog: &Path,
    scratch: &Path,
) -> Result<(Served, Duration)> {
    let address = free_address()?;
    let log = File::create(scratch.join("log")).context("cannot write a log")?;
    let mut command = Command::new(program);
    command.arg("serve").arg(catalog).args(["-p", &address.port().to_string()]);
    command.arg("--cache-dir").arg(scratch.join("cache")).arg("--cache-enforce-integrity=false");
    command.arg("-t").arg(scratch.join("termination")).args(["--pprof-addr", ""]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let started = Instant::now();
    let child = command.spawn().with_context(|| format!("run {}", program.display()))?;
    let mut served = Served { address, child };
    loop {
        if let Ok(mut client) = calls::connect(address).await {
            calls::first_package(&mut client).await?;
            return Ok((served, started.elapsed()));
        }
        if served.child.try_wait().context("wait for the server")?.is_some() {
            let log = std::fs::read_to_string(scratch.join("log")).unwrap_or_default();
            bail!("{} ended: {log}", program.display());
        }
        if started.elapsed() > TIMEOUT {
            bail!("{} does not listen", program.display());
        }
        tokio::time::sleep(POLL).await;
    }
}

/// A port that no server listens on. The programs cannot be asked for one.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port")?;
    listener.local_addr().context("find a free port")
}
