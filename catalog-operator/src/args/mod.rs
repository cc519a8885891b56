//! Command line (spec catalog-operator 8).
//!
//! Flags are v0's, so that existing manifests work. Those whose feature is not in this version are
//! accepted and named in the log.

mod duration;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Parser};
use olm_kit::tls::{CipherSuite, ProfileError, TlsFiles, TlsProfile, TlsVersion};
use olm_lifecycle::tenancy::TenantPolicy;
use olm_resolver::Policy;

use crate::catalogs::UnhealthyCatalogs;
use crate::digest::CatalogPolling;
use crate::unpack::Unpacker;

pub use duration::{DurationError, parse_duration};

/// Installs and upgrades operators from catalogs.
#[derive(Clone, Debug, Parser)]
#[command(name = "catalog-operator", version, disable_version_flag = true)]
pub struct Args {
    /// Kubeconfig file; KUBECONFIG, ~/.kube/config or the cluster around the process by default.
    #[arg(long)]
    pub kubeconfig: Option<PathBuf>,

    /// Namespace of the operator and of global catalogs; GLOBAL_CATALOG_NAMESPACE overrides it.
    #[arg(long, default_value = "olm")]
    pub namespace: String,

    /// Where global catalogs are, if not in the operator's namespace.
    #[arg(skip = std::env::var("GLOBAL_CATALOG_NAMESPACE").ok())]
    pub global_namespace: Option<String>,

    /// Image of the server for catalogs in ConfigMaps.
    #[arg(
        long = "configmapServerImage",
        default_value = "quay.io/operator-framework/configmap-operator-registry:latest"
    )]
    pub configmap_server_image: String,

    /// Image with `opm`, which serves catalogs and unpacks bundles.
    #[arg(long = "opmImage", default_value = "quay.io/operator-framework/opm:latest")]
    pub opm_image: String,

    /// Image with the programs that copy files out of other images: `cp`, `cpb`, `copy-content`.
    #[arg(long = "util-image", default_value = "quay.io/operator-framework/olm:latest")]
    pub util_image: String,

    /// ClusterOperator to report to, on OpenShift (no effect in this version).
    #[arg(long = "writeStatusName", default_value = "")]
    pub write_status_name: String,

    /// Run catalog and unpack pods as user 1001.
    #[arg(long = "set-workload-user-id", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true")]
    pub set_workload_user_id: bool,

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

    /// Resync interval of v0; changes are watched, so nothing is resynced.
    #[arg(long, default_value = "15m", value_parser = parse_duration)]
    pub interval: Duration,

    /// Address that the packages API is served on over TLS, as `host:port`; not served when empty.
    #[arg(long = "packages-address", default_value = "")]
    pub packages_address: String,

    /// What unpacks bundle images: a Job for each, as in v0 (job), or the operator itself (process).
    #[arg(long = "bundle-unpack", default_value = "job", value_parser = str::parse::<Unpacker>)]
    pub bundle_unpack: Unpacker,

    /// Registries (host, or host:port) that this process asks without TLS, separated by commas. Those
    /// on its own machine are in any case.
    #[arg(long = "insecure-registries", value_delimiter = ',')]
    pub insecure_registries: Vec<String>,

    /// How long a bundle may take to unpack; 0 for no limit.
    #[arg(long = "bundle-unpack-timeout", default_value = "10m", value_parser = parse_duration)]
    pub bundle_unpack_timeout: Duration,

    /// How long a failing step of an InstallPlan is tried again.
    #[arg(long = "install-plan-retry-timeout", default_value = "1m", value_parser = parse_duration)]
    pub install_plan_retry_timeout: Duration,

    /// How newer catalog images are found: a Pod pulls the image (pod), as in v0, or the registry is
    /// asked for the digest (digest).
    #[arg(long = "catalog-polling", default_value = "pod", value_parser = str::parse::<CatalogPolling>)]
    pub catalog_polling: CatalogPolling,

    /// What a catalog that is away does to namespaces that see it: they wait (block), as in v0, or
    /// go on with what was read last (last-good).
    #[arg(long = "unhealthy-catalogs", default_value = "last-good", value_parser = str::parse::<UnhealthyCatalogs>)]
    pub unhealthy_catalogs: UnhealthyCatalogs,

    /// What a Subscription that cannot be met stops: only what depends on it (isolated), or its
    /// whole namespace (v0).
    #[arg(long, default_value = "isolated", value_parser = str::parse::<Policy>)]
    pub resolution: Policy,

    /// Choose no bundle that needs a newer Kubernetes (`olm.kubeversion`) than the cluster has.
    #[arg(long = "check-cluster-version", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true")]
    pub check_cluster_version: bool,

    /// What owners of namespaces may do with OLM's objects: v0, or strict (docs/security.md).
    #[arg(long = "tenant-policy", default_value_t)]
    pub tenant_policy: TenantPolicy,

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

/// The user that v0 runs Pods as when it is asked to set one.
const WORKLOAD_USER: i64 = 1001;

impl Args {
    /// Namespace of catalogs that every namespace may use.
    pub fn global_catalog_namespace(&self) -> &str {
        self.global_namespace.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.namespace)
    }

    /// The user of catalog and unpack Pods; nothing to leave it to their images.
    pub fn workload_user(&self) -> Option<i64> {
        self.set_workload_user_id.then_some(WORKLOAD_USER)
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
        let given = [
            ("--writeStatusName", !self.write_status_name.is_empty()),
            ("--profiling", self.profiling),
        ];
        given.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(flags: &[&str]) -> Args {
        Args::try_parse_from(std::iter::once("catalog-operator").chain(flags.iter().copied()))
            .unwrap()
    }

    #[test]
    fn flags_of_v0_manifests_are_understood() {
        let args = parse(&[
            "--namespace",
            "operator-lifecycle-manager",
            "--configmapServerImage=quay.io/x/y:latest",
            "--util-image",
            "quay.io/x/z:latest",
            "--set-workload-user-id=true",
            "--install-plan-retry-timeout=90s",
            "--writeStatusName=operator-lifecycle-manager-catalog",
        ]);
        assert_eq!(args.namespace, "operator-lifecycle-manager");
        assert_eq!(args.install_plan_retry_timeout, Duration::from_secs(90));
        assert_eq!(args.without_effect(), ["--writeStatusName"]);
        assert_eq!(args.workload_user(), Some(1001));
    }

    #[test]
    fn a_bare_boolean_flag_is_true() {
        assert!(parse(&["--debug"]).debug);
        assert!(!parse(&["--debug=false"]).debug);
    }

    #[test]
    fn the_policy_is_isolated_unless_told_otherwise() {
        assert_eq!(parse(&[]).resolution, Policy::Isolated);
        assert_eq!(parse(&["--resolution=v0"]).resolution, Policy::V0);
        assert!(Args::try_parse_from(["catalog-operator", "--resolution=none"]).is_err());
    }

    #[test]
    fn bundles_are_unpacked_by_jobs_unless_told_otherwise() {
        assert_eq!(parse(&[]).bundle_unpack, Unpacker::Job);
        assert_eq!(parse(&["--bundle-unpack=process"]).bundle_unpack, Unpacker::Process);
        assert!(Args::try_parse_from(["catalog-operator", "--bundle-unpack=none"]).is_err());
    }

    #[test]
    fn catalogs_are_polled_by_pods_and_stay_in_use_unless_told_otherwise() {
        let (default, told) =
            (parse(&[]), parse(&["--catalog-polling=digest", "--unhealthy-catalogs=block"]));
        assert_eq!(default.catalog_polling, CatalogPolling::Pod);
        assert_eq!(default.unhealthy_catalogs, UnhealthyCatalogs::LastGood);
        assert_eq!(told.catalog_polling, CatalogPolling::Digest);
        assert_eq!(told.unhealthy_catalogs, UnhealthyCatalogs::Block);
        assert!(Args::try_parse_from(["catalog-operator", "--catalog-polling=never"]).is_err());
        assert!(Args::try_parse_from(["catalog-operator", "--unhealthy-catalogs=x"]).is_err());
    }

    #[test]
    fn tenants_are_trusted_as_in_v0_unless_told_otherwise() {
        assert_eq!(parse(&[]).tenant_policy, TenantPolicy::V0);
        assert_eq!(parse(&["--tenant-policy=strict"]).tenant_policy, TenantPolicy::Strict);
        assert!(Args::try_parse_from(["catalog-operator", "--tenant-policy=lax"]).is_err());
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
        assert!(Args::try_parse_from(["catalog-operator", "--tls-key", "k"]).is_err());
    }

    #[test]
    fn the_global_namespace_defaults_to_the_own_one() {
        let mut args = parse(&["--namespace", "olm"]);
        args.global_namespace = None;
        assert_eq!(args.global_catalog_namespace(), "olm");
        args.global_namespace = Some("elsewhere".to_owned());
        assert_eq!(args.global_catalog_namespace(), "elsewhere");
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
            assert!(Args::try_parse_from(["catalog-operator", wrong]).is_err(), "{wrong}");
        }
    }
}
