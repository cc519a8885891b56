//! `serve`: an index, a listener, and a server until a signal comes.

use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use olm_tasks::blocking;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::arguments::Serve;
use super::cache::Plan;
use crate::fbc::ReadLimits;
use crate::registry::server::{ServerOptions, Source, serve};

/// Serves a catalog, or only brings its index up to date. An error also goes to the termination
/// log.
pub(super) async fn run(arguments: Serve) -> Result<()> {
    log(arguments.debug);
    let termination_log = arguments.termination_log.clone();
    let ended = serve_directory(arguments).await;
    if let Err(error) = &ended {
        write_termination_log(&termination_log, &format!("{error:#}\n"));
    }
    ended
}

async fn serve_directory(arguments: Serve) -> Result<()> {
    if arguments.pprof_capture_profiles {
        tracing::warn!("--pprof-capture-profiles has no effect: there are no profiles here");
    }
    let plan = Plan::of(&arguments)?;
    let (directory, started) = (arguments.directory.clone(), Instant::now());
    let index = blocking(move || plan.index(&arguments.directory, &ReadLimits::default()));
    let index = index.await.context("load the catalog")??;
    tracing::debug!(milliseconds = started.elapsed().as_millis(), "the index is ready");
    if arguments.cache_only {
        return Ok(());
    }
    let title = directory.display().to_string();
    serve_source(Arc::new(index), &title, arguments.address, arguments.port).await
}

/// Serves a catalog until a signal comes. The line that says so calls it by its title.
pub(crate) async fn serve_source(
    source: Arc<dyn Source>,
    title: &str,
    address: Option<IpAddr>,
    port: u16,
) -> Result<()> {
    let listener = listen(address, port).await?;
    let stop = stop_signal()?;
    announce(title, &*source, &listener)?;
    serve(listener, source, ServerOptions::default(), stop).await?;
    Ok(())
}

/// Listens where the flags say; by default on all addresses of both families, or of the one that
/// this machine has.
async fn listen(address: Option<IpAddr>, port: u16) -> Result<TcpListener> {
    if address.is_none() {
        let everywhere = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port);
        if let Ok(listener) = TcpListener::bind(everywhere).await {
            return Ok(listener);
        }
    }
    let wanted = SocketAddr::new(address.unwrap_or(Ipv4Addr::UNSPECIFIED.into()), port);
    TcpListener::bind(wanted).await.with_context(|| format!("listen on {wanted}"))
}

fn announce(title: &str, source: &dyn Source, listener: &TcpListener) -> Result<()> {
    println!(
        "serving {title} ({} packages, {} channel entries) on {}",
        source.packages().len(),
        source.len(),
        listener.local_addr()?
    );
    Ok(())
}

/// Resolves at the first SIGTERM or SIGINT.
fn stop_signal() -> Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listen for SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Logs to standard error; `RUST_LOG` says more precisely what.
pub(crate) fn log(debug: bool) {
    let default = if debug { "debug" } else { "info" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
}

/// Where it is by default. It exists in containers, and is not made elsewhere.
pub(crate) const TERMINATION_LOG: &str = "/dev/termination-log";

/// Longest text that Kubernetes takes, in bytes.
const LONGEST: usize = 4096;

/// Writes the reason. That it cannot be written is logged and no more.
pub(crate) fn write_termination_log(log: &Path, reason: &str) {
    let end = (0..=reason.len().min(LONGEST)).rev().find(|end| reason.is_char_boundary(*end));
    let reason = reason.get(..end.unwrap_or_default()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.write(true).truncate(true).create(log != Path::new(TERMINATION_LOG));
    let written = options.open(log).and_then(|mut file| file.write_all(reason.as_bytes()));
    if let Err(error) = written {
        tracing::debug!(log = %log.display(), %error, "no termination log is written");
    }
}
