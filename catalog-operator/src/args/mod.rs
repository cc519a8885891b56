//! Command line (spec catalog-operator 8).
//!
//! Flags are v0's, so that existing manifests work. Those that have nothing to do here are accepted,
//! and the log says why.

mod duration;
mod hosting;
mod image_limits;

use std::time::Duration;

use clap::Parser;
use olm_kit::flags::{CommonFlags, Flags, Idle};
use olm_lifecycle::tenancy::TenantPolicy;
use olm_resolver::Policy;
use olm_types::duration::GoDuration;

use crate::catalogs::UnhealthyCatalogs;
use crate::digest::CatalogPolling;
use crate::unpack::Unpacker;

pub use duration::{DurationError, parse_duration};
pub use hosting::HostingFlags;
pub use image_limits::ImageLimit;

/// Installs and upgrades operators from catalogs.
#[derive(Clone, Debug, Parser)]
#[command(name = "catalog-operator", version, disable_version_flag = true)]
pub struct Args {
    /// What every operator takes.
    #[command(flatten)]
    pub common: CommonFlags,

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

    /// ClusterOperator to report to, on OpenShift.
    #[arg(long = "writeStatusName", default_value = "")]
    pub write_status_name: String,

    /// Run catalog and unpack pods as user 1001.
    #[arg(long = "set-workload-user-id")]
    pub set_workload_user_id: bool,

    /// Resync interval of v0 (no effect).
    #[arg(long, value_parser = GoDuration::parse)]
    pub interval: Option<GoDuration>,

    /// Address that the packages API is served on over TLS, as `host:port`; not served when empty.
    #[arg(long = "packages-address", default_value = "")]
    pub packages_address: String,

    /// What unpacks bundle images: a Job for each, as in v0 (job), or the operator itself (process).
    #[arg(long = "bundle-unpack", default_value = "job", value_enum)]
    pub bundle_unpack: Unpacker,

    /// Registries (host, or host:port) that this process asks without TLS, separated by commas. Those
    /// on its own machine are in any case.
    #[arg(long = "insecure-registries", value_delimiter = ',')]
    pub insecure_registries: Vec<String>,

    /// What serves catalogs, and how registries of images are asked.
    #[command(flatten)]
    pub hosting: HostingFlags,

    /// How long a bundle may take to unpack; 0 for no limit.
    #[arg(long = "bundle-unpack-timeout", default_value = "10m", value_parser = parse_duration)]
    pub bundle_unpack_timeout: Duration,

    /// How long a failing step of an InstallPlan is tried again.
    #[arg(long = "install-plan-retry-timeout", default_value = "1m", value_parser = parse_duration)]
    pub install_plan_retry_timeout: Duration,

    /// Write every object anew when a CRD comes without a version in which objects may be stored and that
    /// is not served any more, so that the version can be retired; without it such a CRD is refused, as
    /// in v0.
    #[arg(long = "retire-stored-versions", action = clap::ArgAction::Set, default_value = "true")]
    pub retire_stored_versions: bool,

    /// How newer catalog images are found: a Pod pulls the image (pod), as in v0, or the registry is
    /// asked for the digest (digest).
    #[arg(long = "catalog-polling", default_value = "pod", value_enum)]
    pub catalog_polling: CatalogPolling,

    /// What a catalog that is away does to namespaces that see it: they wait (block), as in v0, or
    /// go on with what was read last (last-good).
    #[arg(long = "unhealthy-catalogs", default_value = "last-good", value_enum)]
    pub unhealthy_catalogs: UnhealthyCatalogs,

    /// What a Subscription that cannot be met stops: only what depends on it (isolated), or its
    /// whole namespace (v0).
    #[arg(long, default_value = "isolated", value_parser = str::parse::<Policy>)]
    pub resolution: Policy,

    /// Choose no bundle that needs a newer Kubernetes (`olm.kubeversion`) than the cluster has.
    #[arg(long = "check-cluster-version")]
    pub check_cluster_version: bool,

    /// What owners of namespaces may do with OLM's objects: v0, or strict (docs/security.md).
    #[arg(long = "tenant-policy", default_value_t)]
    pub tenant_policy: TenantPolicy,
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
}

impl Flags for Args {
    fn common(&self) -> &CommonFlags {
        &self.common
    }

    fn idle(&self) -> Vec<Idle> {
        let own = self.interval.is_some().then_some(INTERVAL).into_iter();
        own.chain(self.common.idle()).collect()
    }
}

const INTERVAL: Idle =
    Idle { flag: "--interval", why: "changes are watched, nothing is read again after a time" };

#[cfg(test)]
mod tests {
    use super::*;
    use olm_kit::flags::CommandLine;
    use olm_lifecycle::catalog_source::hosting::Scope;
    use rstest::rstest;

    fn read(flags: &[&str]) -> CommandLine<Args> {
        CommandLine::read(std::iter::once("catalog-operator").chain(flags.iter().copied())).unwrap()
    }

    fn parse(flags: &[&str]) -> Args {
        read(flags).flags
    }

    /// Every flag of v0.45's `catalog`, and what becomes of it: it has an effect, or the log says
    /// why it has none.
    #[rstest]
    #[case("--kubeconfig=config", None)]
    #[case("--namespace=operator-lifecycle-manager", None)]
    #[case("--configmapServerImage=quay.io/x/y:latest", None)]
    #[case("--opmImage=quay.io/x/z:latest", None)]
    #[case("--util-image=quay.io/x/z:latest", None)]
    #[case("--writeStatusName=operator-lifecycle-manager-catalog", None)]
    #[case("--set-workload-user-id=true", None)]
    #[case("--debug", None)]
    #[case("--profiling", Some("--profiling"))]
    #[case("--client-ca=/profile-collector-cert/tls.crt", None)]
    #[case("--interval=15m", Some("--interval"))]
    #[case("--bundle-unpack-timeout=0", None)]
    #[case("--install-plan-retry-timeout=90s", None)]
    fn flags_of_v0(#[case] flag: &str, #[case] idle: Option<&str>) {
        let read = read(&[flag]);
        let reported: Vec<&str> = read.flags.idle().iter().map(|idle| idle.flag).collect();
        assert_eq!(reported, Vec::from_iter(idle));
    }

    /// Flags of v0's `package-server`, which catalog-operator replaces, and ours that say the same.
    #[rstest]
    #[case("--interval=12h", "--interval=12h")]
    #[case("--global-namespace=olm", "--namespace=olm")]
    #[case("--kubeconfig=config", "--kubeconfig=config")]
    #[case("--debug", "--debug")]
    #[case("--version", "--version")]
    #[case("--secure-port=5443", "--packages-address=0.0.0.0:5443")]
    #[case("--bind-address=10.0.0.1", "--packages-address=10.0.0.1:5443")]
    #[case("--tls-min-version=VersionTLS13", "--tls-min-version=VersionTLS13")]
    #[case(
        "--tls-cipher-suites=TLS_AES_128_GCM_SHA256",
        "--tls-cipher-suites=TLS_AES_128_GCM_SHA256"
    )]
    fn flags_of_the_package_server(#[case] theirs: &str, #[case] ours: &str) {
        let name = |flag: &str| flag.split('=').next().unwrap().to_owned();
        let known = CommandLine::<Args>::read(["catalog-operator", theirs]).is_ok();
        assert_eq!(known, name(theirs) == name(ours));
        parse(&[ours]);
    }

    #[rstest]
    #[case("--interval=soon")]
    #[case("--interval=")]
    #[case("--interval=15")]
    #[case("--bundle-unpack-timeout=10")]
    #[case("--set-workload-user-id=yes")]
    #[case("--brand-new")]
    #[case("--lock-namespace=a")]
    fn no_flags(#[case] flag: &str) {
        assert!(CommandLine::<Args>::read(["catalog-operator", flag]).is_err());
    }

    #[rstest]
    #[case(&["--set-workload-user-id"], Some(1001))]
    #[case(&["--set-workload-user-id=T"], Some(1001))]
    #[case(&["--set-workload-user-id=true", "--set-workload-user-id=false"], None)]
    fn the_last_word_about_the_user_counts(#[case] flags: &[&str], #[case] user: Option<i64>) {
        assert_eq!(parse(flags).workload_user(), user);
    }

    #[test]
    fn values_of_flags_of_v0() {
        let args = parse(&["--set-workload-user-id=true", "--install-plan-retry-timeout=90s"]);
        assert_eq!(args.install_plan_retry_timeout, Duration::from_secs(90));
        assert_eq!(args.workload_user(), Some(1001));
        assert_eq!(parse(&["--set-workload-user-id=false"]).workload_user(), None);
        assert_eq!(parse(&[]).workload_user(), None);
        let tls = parse(&["--tls-cert=/srv-cert/tls.crt", "--tls-key", "/srv-cert/tls.key"]);
        assert!(tls.common.tls().is_some());
    }

    #[test]
    fn the_policy_is_isolated_by_default() {
        assert_eq!(parse(&[]).resolution, Policy::Isolated);
        assert_eq!(parse(&["--resolution=v0"]).resolution, Policy::V0);
        assert!(CommandLine::<Args>::read(["catalog-operator", "--resolution=none"]).is_err());
    }

    #[test]
    fn bundles_are_unpacked_by_jobs_by_default() {
        assert_eq!(parse(&[]).bundle_unpack, Unpacker::Job);
        assert_eq!(parse(&["--bundle-unpack=process"]).bundle_unpack, Unpacker::Process);
        assert!(CommandLine::<Args>::read(["catalog-operator", "--bundle-unpack=none"]).is_err());
    }

    #[test]
    fn catalogs_are_polled_by_pods_and_stay_in_use_by_default() {
        let (default, given) =
            (parse(&[]), parse(&["--catalog-polling=digest", "--unhealthy-catalogs=block"]));
        assert_eq!(default.catalog_polling, CatalogPolling::Pod);
        assert_eq!(default.unhealthy_catalogs, UnhealthyCatalogs::LastGood);
        assert_eq!(given.catalog_polling, CatalogPolling::Digest);
        assert_eq!(given.unhealthy_catalogs, UnhealthyCatalogs::Block);
        assert!(
            CommandLine::<Args>::read(["catalog-operator", "--catalog-polling=never"]).is_err()
        );
        assert!(CommandLine::<Args>::read(["catalog-operator", "--unhealthy-catalogs=x"]).is_err());
    }

    #[test]
    fn pods_serve_catalogs_by_default() {
        assert!(parse(&[]).hosting.options("olm").is_none());
        let flags = ["--catalogs=process", "--catalogs-process-namespaces=a,b"];
        let options = parse(&flags).hosting.options("olm").unwrap();
        let named = ["a".to_owned(), "b".to_owned()];
        assert_eq!(options.scope, Scope::process("olm", &named));
        assert_eq!((options.ports.first, options.ports.last), (50_100, 50_199));
        for wrong in ["--catalogs=both", "--catalogs-ports=1", "--global-pull-secret=x"] {
            assert!(CommandLine::<Args>::read(["catalog-operator", wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tenants_are_trusted_as_in_v0_by_default() {
        assert_eq!(parse(&[]).tenant_policy, TenantPolicy::V0);
        assert_eq!(parse(&["--tenant-policy=strict"]).tenant_policy, TenantPolicy::Strict);
        assert!(CommandLine::<Args>::read(["catalog-operator", "--tenant-policy=lax"]).is_err());
    }

    #[test]
    fn the_global_namespace_defaults_to_the_own_one() {
        let mut args = parse(&["--namespace", "olm"]);
        args.global_namespace = None;
        assert_eq!(args.global_catalog_namespace(), "olm");
        args.global_namespace = Some("elsewhere".to_owned());
        assert_eq!(args.global_catalog_namespace(), "elsewhere");
    }
}
