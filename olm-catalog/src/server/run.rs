//! Runs a command.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::arguments::{Arguments, Command, Serve};
use crate::fbc::{self, ReadLimits};
use crate::index::Index;
use crate::registry::server::{ServerOptions, serve};

/// Runs what the arguments ask for, to its end.
///
/// # Errors
/// The catalog is not valid (the error lists everything that is wrong), the address cannot be
/// listened on, or the server fails.
pub async fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Serve(arguments) => serve_directory(arguments).await,
    }
}

async fn serve_directory(arguments: Serve) -> Result<()> {
    log(arguments.debug);
    let directory = arguments.directory.clone();
    let index = tokio::task::spawn_blocking(move || {
        let catalog = fbc::load(&arguments.directory, &ReadLimits::default())?;
        Ok::<_, fbc::CatalogError>(Index::new(catalog))
    })
    .await
    .context("load the catalog")??;
    let wanted = SocketAddr::new(arguments.address, arguments.port);
    let listener =
        TcpListener::bind(wanted).await.with_context(|| format!("listen on {wanted}"))?;
    let stop = stop_signal()?;
    println!(
        "serving {} ({} packages, {} channel entries) on {}",
        directory.display(),
        index.packages().count(),
        index.len(),
        listener.local_addr()?
    );
    serve(listener, Arc::new(index), ServerOptions::default(), stop).await?;
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

fn log(debug: bool) {
    let default = if debug { "debug" } else { "info" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
