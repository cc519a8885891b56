//! Command line (spec olm-operator 7.1).
//!
//! Flags are v0's, so that existing manifests work. Those whose feature is not in this version are
//! accepted and named in the log.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Parser};
use olm_kit::tls::{CipherSuite, ProfileError, TlsFiles, TlsProfile, TlsVersion};
use olm_opgroup::TenantPolicy;

/// Runs operators: brings ClusterServiceVersions from created to succeeded.
#[derive(Clone, Debug, Parser)]
#[command(name = "olm-operator", version, disable_version_flag = true)]
pub struct Args {
    /// Kubeconfig file; KUBECONFIG, ~/.kube/config or the cluster around the process by default.
    #[arg(long)]
    pub kubeconfig: Option<PathBuf>,

    /// Namespace of this operator.
    #[arg(long, default_value = "")]
    pub namespace: String,

    /// Namespaces whose CSVs and OperatorGroups are looked after, by commas; all when empty.
    #[arg(long = "watchedNamespaces", default_value = "", value_delimiter = ',')]
    pub watched_namespaces: Vec<String>,

    /// Namespaces that keep copied CSVs when copying is off, by commas.
    #[arg(long = "protectedCopiedCSVNamespaces", default_value = "", value_delimiter = ',')]
    pub protected_copied_csv_namespaces: Vec<String>,

    /// What owners of namespaces may do with OLM's objects: v0, or strict (docs/security.md).
    #[arg(long = "tenant-policy", default_value_t)]
    pub tenant_policy: TenantPolicy,

    /// ClusterOperator to report to, on OpenShift.
    #[arg(long = "writeStatusName", default_value = "")]
    pub write_status_name: String,

    /// ClusterOperator of the package server, on OpenShift.
    #[arg(long = "writePackageServerStatusName", default_value = "")]
    pub write_package_server_status_name: String,

    /// Resync interval of v0; changes are watched, so nothing is resynced.
    #[arg(long, default_value = "5m")]
    pub interval: String,

    /// Log everything.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true")]
    pub debug: bool,

    /// Format of the log: text or json.
    #[arg(long, default_value = "text")]
    pub log_format: olm_kit::logging::Format,

    /// Print the version and exit.
    #[arg(long, action = ArgAction::Version)]
    pub version: Option<bool>,

    /// Deprecated and without effect.
    #[arg(long, hide = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true")]
    pub profiling: bool,

    /// Features to switch on or off; v0 has only locked ones (no effect).
    #[arg(long = "feature-gates", hide = true, default_value = "")]
    pub feature_gates: String,

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

impl Args {
    /// The namespaces to look after; `None` for all. One empty name among them means all.
    pub fn watched(&self) -> Option<BTreeSet<String>> {
        let named = self.watched_namespaces.iter().map(|name| name.trim().to_owned());
        let named: BTreeSet<String> = named.collect();
        (!named.is_empty() && !named.contains("")).then_some(named)
    }

    /// The namespaces that keep copied CSVs when copying is off.
    pub fn protected(&self) -> BTreeSet<String> {
        let names = self.protected_copied_csv_namespaces.iter().map(|name| name.trim());
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

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
        let usual = if self.tls().is_some() { "0.0.0.0:8443" } else { "0.0.0.0:8080" };
        self.admin_address.as_deref().unwrap_or(usual)
    }

    /// Flags that were given and do nothing yet.
    pub fn without_effect(&self) -> Vec<&'static str> {
        let given =
            [("--profiling", self.profiling), ("--feature-gates", !self.feature_gates.is_empty())];
        given.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn parse(flags: &[&str]) -> Args {
        let flags = std::iter::once("olm-operator").chain(flags.iter().copied());
        Args::try_parse_from(flags).unwrap()
    }

    #[test]
    fn flags_of_v0_manifests_are_understood() {
        let args = parse(&[
            "--namespace",
            "operator-lifecycle-manager",
            "--writeStatusName",
            "",
            "--debug=false",
            "--interval=5m0s",
            "--protectedCopiedCSVNamespaces=a,b",
        ]);
        assert_eq!(args.namespace, "operator-lifecycle-manager");
        assert!(args.without_effect().is_empty());
        assert_eq!(args.protected(), ["a", "b"].map(str::to_owned).into());
        assert!(parse(&[]).protected().is_empty());
        assert!(!args.debug);
    }

    #[rstest]
    #[case::unset(&[], None)]
    #[case::empty(&["--watchedNamespaces="], None)]
    #[case::two(&["--watchedNamespaces=a,b"], Some(&["a", "b"][..]))]
    #[case::one_empty_name_is_all(&["--watchedNamespaces=a,"], None)]
    fn watched(#[case] flags: &[&str], #[case] expected: Option<&[&str]>) {
        let expected = expected.map(|names| names.iter().copied().map(str::to_owned).collect());
        assert_eq!(parse(flags).watched(), expected);
    }

    #[test]
    fn with_certificates_the_endpoints_are_where_v0_has_them() {
        assert_eq!(parse(&[]).admin_address(), "0.0.0.0:8080");
        let tls = parse(&["--tls-key=k", "--tls-cert=c", "--client-ca="]);
        assert_eq!(tls.admin_address(), "0.0.0.0:8443");
        assert_eq!(tls.tls().and_then(|files| files.client_authority), None);
        assert_eq!(parse(&["--admin-address=127.0.0.1:0"]).admin_address(), "127.0.0.1:0");
    }

    #[test]
    fn a_key_needs_a_certificate() {
        assert!(Args::try_parse_from(["olm-operator", "--tls-key", "k"]).is_err());
    }

    #[test]
    fn servers_accept_what_the_flags_of_kubernetes_say() {
        let profile = |flags: &[&str]| parse(flags).tls_profile();
        assert_eq!(profile(&[]), Ok(TlsProfile::default()));
        let suites =
            "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256";
        assert_ne!(profile(&[suites]), Ok(TlsProfile::default()));
        assert_ne!(profile(&["--tls-min-version=VersionTLS13"]), Ok(TlsProfile::default()));
        for wrong in ["--tls-min-version=1.3", "--tls-cipher-suites=NONE"] {
            assert!(Args::try_parse_from(["olm-operator", wrong]).is_err(), "{wrong}");
        }
    }
}
