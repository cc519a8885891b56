//! The flags that every operator has.

use std::path::PathBuf;

use clap::ArgAction;
use clap::builder::{OsStringValueParser, TypedValueParser};

use super::Idle;
use crate::logging;
use crate::tls::{CipherSuite, ProfileError, TlsFiles, TlsProfile, TlsVersion};

/// Where v0 serves health, readiness and metrics.
const PLAIN: &str = "0.0.0.0:8080";
const OVER_TLS: &str = "0.0.0.0:8443";

/// How an operator reaches the cluster, talks about itself, and shares its work with replicas.
#[derive(Clone, Debug, clap::Args)]
pub struct CommonFlags {
    /// Kubeconfig file; KUBECONFIG, ~/.kube/config or the cluster around the process by default.
    #[arg(long)]
    pub kubeconfig: Option<PathBuf>,

    /// Log everything.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true")]
    pub debug: bool,

    /// Format of the log: text or json.
    #[arg(long, default_value = "text")]
    pub log_format: logging::Format,

    /// Print the version and exit.
    #[arg(long, action = ArgAction::Version)]
    pub version: Option<bool>,

    /// Deprecated and without effect.
    #[arg(long, hide = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true")]
    pub profiling: bool,

    /// Key with which health, readiness and metrics are served over TLS; followed while it changes.
    #[arg(long = "tls-key", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// Certificate with which they are served; followed while it changes.
    #[arg(long = "tls-cert", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// Oldest version of TLS that the endpoints speak: VersionTLS12, or VersionTLS13.
    #[arg(long = "tls-min-version", default_value = "", value_parser = str::parse::<TlsVersion>)]
    pub tls_min_version: TlsVersion,

    /// Cipher suites of TLS 1.2 that the endpoints offer, by commas; all safe ones when empty.
    #[arg(long = "tls-cipher-suites", value_delimiter = ',', value_parser = str::parse::<CipherSuite>)]
    pub tls_cipher_suites: Vec<CipherSuite>,

    /// Authorities whose clients are known by their certificates there.
    #[arg(long = "client-ca", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub client_ca: Option<PathBuf>,

    /// Have only one of several replicas act, by a Lease in the operator's namespace.
    #[arg(long = "leader-elect", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true")]
    pub leader_elect: bool,

    /// Address that health, readiness and metrics are served on; port 8443 of all addresses with TLS,
    /// 8080 without, unless told otherwise.
    #[arg(long = "admin-address")]
    pub admin_address: Option<String>,

    /// Print the rows of docs/metrics.md, which tell what may be measured, and exit.
    #[arg(long = "list-metrics", hide = true)]
    pub list_metrics: bool,

    /// End the process after this many writes, for crash tests.
    #[arg(long = "stop-after-writes", hide = true)]
    pub stop_after_writes: Option<u64>,
}

impl CommonFlags {
    /// What health, readiness and metrics are served with, if over TLS.
    pub fn tls(&self) -> Option<TlsFiles> {
        let [certificate, key, clients] = [&self.tls_cert, &self.tls_key, &self.client_ca];
        TlsFiles::given(certificate.as_deref(), key.as_deref(), clients.as_deref())
    }

    /// What servers over TLS accept.
    ///
    /// # Errors
    /// With the cipher suites that were named, nobody could connect.
    pub fn tls_profile(&self) -> Result<TlsProfile, ProfileError> {
        TlsProfile::given(self.tls_min_version, &self.tls_cipher_suites)
    }

    /// Where they are served; v0's ports unless told otherwise.
    pub fn admin_address(&self) -> &str {
        let usual = if self.tls().is_some() { OVER_TLS } else { PLAIN };
        self.admin_address.as_deref().unwrap_or(usual)
    }

    /// Those that were given and do nothing.
    pub fn idle(&self) -> impl Iterator<Item = Idle> + use<> {
        let profiling = Idle { flag: "--profiling", why: "it is deprecated in OLM v0, too" };
        self.profiling.then_some(profiling).into_iter()
    }
}
