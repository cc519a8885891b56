//! The console: catalogs, plans and health in a browser: on a user's machine with the rights of the kubeconfig, or in a
//! cluster with those of the token with which a user logs in.
//!
//! ```text
//! server    a port of the loopback device: connections, their limits
//! hosted    the program in a cluster
//! tls       its certificate, followed while it changes
//! login     users who bring a token: sessions, the login page, what is refused
//! guard     who may ask: Host, Origin, the token in the printed address, the cookie that it becomes
//! csrf      changes: the token of a session in each of its forms
//! form      what a form says, bounded
//! headers   what every answer says to a browser
//! gate      what stands before all pages: the guard, and with whose rights a request is answered
//! session   those rights, and when they end
//! routes    addresses of pages
//! reader    the one that reads the cluster, on the thread that owns it
//! live      what an open page watches, and the events that it is sent
//! assets    scripts of pages that are live
//! pages     what is read and shown, one file each
//! markdown  texts of authors, without what acts
//! icon      pictures of authors, bounded and of known types
//! command   the `kubectl olm` command that does the same
//! ```
//! Nothing here decides: rules are those of olm-plan, what is read and written is read and written by olm-client, and
//! only what was shown is written. Texts of others are escaped by the templates; only `markdown` makes markup of them.

mod assets;
mod command;
mod csrf;
mod failure;
mod form;
mod gate;
mod guard;
mod headers;
mod hosted;
mod icon;
mod live;
mod login;
mod markdown;
mod pages;
mod reader;
mod routes;
mod server;
mod session;
mod tls;

use olm_client::Cluster;
use olm_client::reading::Reading;

pub use hosted::main;
pub use server::Server;

/// Why the console does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// The port is taken, or may not be used.
    #[error("cannot listen at 127.0.0.1:{port}")]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// There is nothing to make a token of.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
    /// An address is taken, or may not be used.
    #[error("cannot listen at {address}")]
    Address {
        /// The address that was asked for.
        address: std::net::SocketAddr,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// There is no TLS with these files.
    #[error("cannot serve with {path}: {reason}")]
    Certificate {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// It is not known how to ask the API server.
    #[error("no API server can be asked: {0}; --server and --certificate-authority name one")]
    ApiServer(String),
}

/// What is shown, and where things are read.
pub struct Console {
    /// The cluster, and the namespace that is looked at where a page names none.
    pub cluster: Cluster,
    /// Catalogs and images, as flags say.
    pub reading: Reading,
    /// Flags that commands on the pages need, to ask the same cluster.
    pub flags: Vec<String>,
}
