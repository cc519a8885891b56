//! The program in a cluster: pages for users who log in with a token of the API server.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use kube::Config;
use olm_client::Notices;
use olm_client::contents::Pulling;
use olm_client::reading::{Reading, Sources};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::gate::Gate;
use crate::live::Live;
use crate::login::Login;
use crate::reader::{self, WAITING};
use crate::routes::router;
use crate::server::accept;
use crate::tls::{Files, Tls};
use crate::{Console, ConsoleError};

/// Connections at once, those of pages that are live included.
const CONNECTIONS: usize = 400;

/// Catalogs, plans and health in a browser, for users who log in with a token of the cluster
#[derive(Debug, Parser)]
#[command(name = "olm-console", version, about, max_term_width = 100)]
struct Flags {
    /// Where it listens; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8443")]
    listen: SocketAddr,
    /// A name of this server as browsers write it, with the port where that is not 443; repeatable
    #[arg(long, value_name = "HOST", required = true)]
    host: Vec<String>,
    /// File with the certificate chain, PEM; read again when it changes
    #[arg(long, value_name = "FILE")]
    tls_cert: PathBuf,
    /// File with its key, PEM
    #[arg(long, value_name = "FILE")]
    tls_key: PathBuf,
    /// Address of the API server; otherwise that of the cluster that it runs in
    #[arg(long, value_name = "URL", requires = "certificate_authority")]
    server: Option<http::Uri>,
    /// File with the authority of the API server, with --server
    #[arg(long, value_name = "FILE", requires = "server")]
    certificate_authority: Option<PathBuf>,
    /// Namespace of global catalogs; otherwise as the programs of OLM say, or olm
    #[arg(long, value_name = "NAME")]
    olm_namespace: Option<String>,
}

/// Serves until SIGTERM or SIGINT.
pub fn main() -> ExitCode {
    let flags = Flags::parse();
    let ended = match olm_tasks::runtime() {
        Ok(runtime) => runtime.block_on(run(flags)).map_err(anyhow::Error::from),
        Err(error) => Err(error.into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: Flags) -> Result<(), ConsoleError> {
    let config = flags.config()?;
    let files = Files { certificate: flags.tls_cert, key: flags.tls_key };
    let tls = Arc::new(Tls::begin(files).await?);
    let login = Arc::new(Login::new(flags.host, config));
    let console = Console {
        cluster: login.anonymous()?,
        reading: reading(flags.olm_namespace),
        flags: Vec::new(),
    };
    let (questions, asked) = mpsc::channel(WAITING);
    let live = Live::new(console.reading.sources.olm_namespace.clone());
    let router = router(Arc::new(Gate::Login(login.clone())), questions, live.clone());
    let failed = |source| ConsoleError::Address { address: flags.listen, source };
    let listener = TcpListener::bind(flags.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    say(&format!("Listening at {address}."));
    let notices = Notices::new(say);
    tokio::select! {
        () = accept(listener, router, Some(tls.clone()), CONNECTIONS) => {}
        () = reader::run(console, live, asked) => {}
        () = login.sweep() => {}
        () = tls.follow(&notices) => {}
        () = asked_to_end() => {}
    }
    Ok(())
}

/// Waits for a signal.
async fn asked_to_end() {
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            // The process is ended by it.
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = terminated => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

impl Flags {
    /// The API server. Credentials of this process are not used.
    fn config(&self) -> Result<Config, ConsoleError> {
        match &self.server {
            Some(server) => {
                let mut config = Config::new(server.clone());
                config.root_cert_file.clone_from(&self.certificate_authority);
                Ok(config)
            }
            None => Config::incluster().map_err(|error| ConsoleError::ApiServer(error.to_string())),
        }
    }
}

/// What catalogs name is not fetched: whoever writes one would choose what this server connects to.
fn reading(olm_namespace: Option<String>) -> Reading {
    Reading {
        sources: Sources { olm_namespace, ..Sources::default() },
        pulling: Pulling { no_pull: true, ..Pulling::default() },
        ..Reading::default()
    }
}

/// Says something beside the pages.
fn say(line: &str) {
    // Where this goes to is closed when it fails.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TLS: [&str; 5] = ["olm-console", "--tls-cert", "a", "--tls-key", "b"];

    #[rstest]
    #[case(&["--host", "a", "--host", "b:8443"], true)]
    #[case(&[], false)]
    #[case(&["--host", "a", "--server", "https://b"], false)]
    #[case(&["--host", "a", "--server", "https://b", "--certificate-authority", "c"], true)]
    #[case(&["--host", "a", "--token", "b"], false)]
    fn names_are_given_and_tokens_are_not(#[case] flags: &[&str], #[case] expected: bool) {
        let parsed = Flags::try_parse_from([&TLS[..], flags].concat());
        assert_eq!(parsed.is_ok(), expected, "{parsed:?}");
    }

    #[test]
    fn nothing_that_a_catalog_names_is_fetched() {
        let reading = reading(Some("olm".to_owned()));
        assert!(reading.pulling.no_pull && reading.sources.catalog.is_empty());
        assert_eq!(reading.sources.olm_namespace.as_deref(), Some("olm"));
    }
}
