//! The flags that every operator has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Idle, KlogFlags};
use crate::logging;
use crate::tls::{ProfileError, TlsFiles, TlsFlags};

/// Where v0 serves health, readiness and metrics.
const PLAIN: &str = "0.0.0.0:8080";
const OVER_TLS: &str = "0.0.0.0:8443";

/// How an operator reaches the cluster, talks about itself, and shares its work with replicas.
#[derive(Clone, Debug, clap::Args)]
pub struct CommonFlags {
    /// Kubeconfig file; KUBECONFIG, ~/.kube/config or the cluster around the process by default.
    #[arg(long)]
    kubeconfig: Option<PathBuf>,

    /// Log everything.
    #[arg(long)]
    pub debug: bool,

    /// Format of the log: text or json.
    #[arg(long, default_value = "text", value_enum)]
    pub log_format: logging::Format,

    /// Print the version and exit.
    #[arg(long)]
    pub(super) version: bool,

    /// Deprecated and without effect.
    #[arg(long, hide = true)]
    profiling: bool,

    /// Key with which health, readiness and metrics are served over TLS; followed while it changes.
    #[arg(long = "tls-key")]
    tls_key: Option<PathBuf>,

    /// Certificate with which they are served; followed while it changes.
    #[arg(long = "tls-cert")]
    tls_cert: Option<PathBuf>,

    /// Oldest version of TLS that the endpoints speak: VersionTLS12, or VersionTLS13; what the cluster
    /// says when empty, on OpenShift.
    #[arg(long = "tls-min-version", default_value = "", hide_default_value = true)]
    tls_min_version: String,

    /// Cipher suites of TLS 1.2 that the endpoints offer, by commas; when empty all safe ones, or what the
    /// cluster says, on OpenShift.
    #[arg(long = "tls-cipher-suites", value_delimiter = ',')]
    tls_cipher_suites: Vec<String>,

    /// Authorities whose clients are known by their certificates there.
    #[arg(long = "client-ca")]
    client_ca: Option<PathBuf>,

    /// Have only one of several replicas act, by a Lease in the operator's namespace.
    #[arg(long = "leader-elect")]
    pub leader_elect: bool,

    /// Address that health, readiness and metrics are served on; port 8443 of all addresses with TLS,
    /// 8080 without, by default.
    #[arg(long = "admin-address", default_value = "", hide_default_value = true)]
    admin_address: String,

    /// Print the rows of docs/metrics.md, which say what may be measured, and exit.
    #[arg(long = "list-metrics", hide = true)]
    pub list_metrics: bool,

    /// End the process after this many writes, for crash tests.
    #[arg(long = "stop-after-writes", hide = true)]
    pub stop_after_writes: Option<u64>,

    #[command(flatten)]
    klog: KlogFlags,

    /// Words that are no flags, which v0 takes and ignores.
    #[arg(hide = true, value_name = "WORD")]
    words: Vec<OsString>,
}

/// Flags that make no sense together, or a value that makes none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// One of a pair.
    #[error("both --tls-key and --tls-cert must be provided for TLS to be enabled")]
    HalfOfAPair,
    /// With these flags no client could connect.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

impl CommonFlags {
    /// Looks at values that say something together only.
    ///
    /// # Errors
    /// They make no sense.
    pub(super) fn check(&self) -> Result<(), FlagError> {
        let [certificate, key] = [&self.tls_cert, &self.tls_key].map(|path| given(path).is_some());
        if certificate != key {
            return Err(FlagError::HalfOfAPair);
        }
        Ok(self.tls_flags()?.profile().map(drop)?)
    }

    /// The kubeconfig, if one was given.
    pub fn kubeconfig(&self) -> Option<&Path> {
        given(&self.kubeconfig)
    }

    /// What health, readiness and metrics are served with, if over TLS.
    pub fn tls(&self) -> Option<TlsFiles> {
        let [certificate, key, clients] = [&self.tls_cert, &self.tls_key, &self.client_ca];
        TlsFiles::given(given(certificate), given(key), given(clients))
    }

    /// What they say of servers over TLS.
    ///
    /// # Errors
    /// There is no such version or cipher suite.
    pub fn tls_flags(&self) -> Result<TlsFlags, ProfileError> {
        let oldest = Some(self.tls_min_version.as_str()).filter(|version| !version.is_empty());
        let named = self.tls_cipher_suites.iter().filter(|name| !name.is_empty());
        Ok(TlsFlags {
            oldest: oldest.map(str::parse).transpose()?,
            suites: named.map(|name| name.parse()).collect::<Result<_, _>>()?,
        })
    }

    /// Where they are served; v0's ports by default.
    pub fn admin_address(&self) -> &str {
        let usual = if self.tls().is_some() { OVER_TLS } else { PLAIN };
        if self.admin_address.is_empty() { usual } else { &self.admin_address }
    }

    /// Those that were given and do nothing.
    pub fn idle(&self) -> impl Iterator<Item = Idle> + use<> {
        let profiling = Idle { flag: "--profiling", why: "it is deprecated in OLM v0, too" };
        self.profiling.then_some(profiling).into_iter().chain(self.klog.idle())
    }

    /// Words that are no flags.
    pub(super) fn words(&self) -> &[OsString] {
        &self.words
    }
}

/// An empty path says that there is none.
fn given(path: &Option<PathBuf>) -> Option<&Path> {
    path.as_deref().filter(|path| !path.as_os_str().is_empty())
}
