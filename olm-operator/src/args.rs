//! Command line (spec olm-operator 7.1).
//!
//! Flags are v0's, so that existing manifests work. Those that have nothing to do here are accepted,
//! and the log says why.

use std::collections::BTreeSet;

use clap::Parser;
use olm_kit::flags::{CommonFlags, Flags, Idle};
use olm_opgroup::TenantPolicy;
use olm_types::duration::GoDuration;

/// Runs operators: brings ClusterServiceVersions from created to succeeded.
#[derive(Clone, Debug, Parser)]
#[command(name = "olm-operator", version, disable_version_flag = true)]
pub struct Args {
    /// What every operator takes.
    #[command(flatten)]
    pub common: CommonFlags,

    /// Namespace of this operator.
    #[arg(long, default_value = "")]
    pub namespace: String,

    /// Namespaces whose CSVs and OperatorGroups are looked after, by commas; all when empty.
    #[arg(long = "watchedNamespaces", default_value = "")]
    pub watched_namespaces: String,

    /// Namespaces that keep copied CSVs when copying is off, by commas.
    #[arg(long = "protectedCopiedCSVNamespaces", default_value = "")]
    pub protected_copied_csv_namespaces: String,

    /// What owners of namespaces may do with OLM's objects: v0, or strict (docs/security.md).
    #[arg(long = "tenant-policy", default_value_t)]
    pub tenant_policy: TenantPolicy,

    /// ClusterOperator to report to, on OpenShift.
    #[arg(long = "writeStatusName", default_value = "")]
    pub write_status_name: String,

    /// ClusterOperator of the package server, on OpenShift.
    #[arg(long = "writePackageServerStatusName", default_value = "")]
    pub write_package_server_status_name: String,

    /// Resync interval of v0 (no effect).
    #[arg(long, value_parser = GoDuration::parse)]
    pub interval: Option<GoDuration>,

    /// Features to switch on or off; v0 has only locked ones (no effect).
    #[arg(long = "feature-gates", hide = true, default_value = "")]
    pub feature_gates: String,
}

impl Args {
    /// The namespaces to look after; `None` for all. One empty name among them means all.
    pub fn watched(&self) -> Option<BTreeSet<String>> {
        let named = self.watched_namespaces.split(',').map(|name| name.trim().to_owned());
        let named: BTreeSet<String> = named.collect();
        (!named.is_empty() && !named.contains("")).then_some(named)
    }

    /// The namespaces that keep copied CSVs when copying is off.
    pub fn protected(&self) -> BTreeSet<String> {
        let names = self.protected_copied_csv_namespaces.split(',').map(str::trim);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }
}

impl Flags for Args {
    fn common(&self) -> &CommonFlags {
        &self.common
    }

    fn idle(&self) -> Vec<Idle> {
        let given =
            [(self.interval.is_some(), INTERVAL), (!self.feature_gates.is_empty(), FEATURE_GATES)];
        let own = given.into_iter().filter_map(|(given, idle)| given.then_some(idle));
        own.chain(self.common.idle()).collect()
    }
}

const INTERVAL: Idle =
    Idle { flag: "--interval", why: "changes are watched, nothing is read again after a time" };
const FEATURE_GATES: Idle =
    Idle { flag: "--feature-gates", why: "OLM v0 has only gates that cannot be switched" };

#[cfg(test)]
mod tests {
    use super::*;
    use olm_kit::flags::CommandLine;
    use rstest::rstest;

    fn read(flags: &[&str]) -> CommandLine<Args> {
        CommandLine::read(std::iter::once("olm-operator").chain(flags.iter().copied())).unwrap()
    }

    fn parse(flags: &[&str]) -> Args {
        read(flags).flags
    }

    /// Every flag of v0.45's `olm`, and what becomes of it: it has an effect, or the log says why
    /// it has none.
    #[rstest]
    #[case("--interval=5m0s", Some("--interval"))]
    #[case("--watchedNamespaces=a,b", None)]
    #[case("--writeStatusName=operator-lifecycle-manager", None)]
    #[case("--writePackageServerStatusName=packageserver", None)]
    #[case("--debug", None)]
    #[case("--debug=false", None)]
    #[case("--namespace=operator-lifecycle-manager", None)]
    #[case("--protectedCopiedCSVNamespaces=a,b", None)]
    #[case("--client-ca=/profile-collector-cert/tls.crt", None)]
    #[case("--profiling=true", Some("--profiling"))]
    #[case("--feature-gates=OperatorLifecycleManagerV1=true", Some("--feature-gates"))]
    fn flags_of_v0(#[case] flag: &str, #[case] idle: Option<&str>) {
        let read = read(&[flag]);
        let reported: Vec<&str> = read.flags.idle().iter().map(|idle| idle.flag).collect();
        assert_eq!(reported, Vec::from_iter(idle));
    }

    #[test]
    fn flags_of_v0_with_a_partner() {
        let args = parse(&["--tls-cert=/srv-cert/tls.crt", "--tls-key", "/srv-cert/tls.key"]);
        assert!(args.common.tls().is_some() && args.idle().is_empty());
        assert!(
            read(&["--version"]).version().is_some_and(|text| text.starts_with("olm-operator "))
        );
    }

    #[rstest]
    #[case("--interval=soon")]
    #[case("--interval=")]
    #[case("--debug=yes")]
    #[case("--brand-new")]
    #[case("--set-workload-user-id=true")]
    fn no_flags(#[case] flag: &str) {
        assert!(CommandLine::<Args>::read(["olm-operator", flag]).is_err());
    }

    #[rstest]
    #[case::unset(&[], None)]
    #[case::empty(&["--watchedNamespaces="], None)]
    #[case::two(&["--watchedNamespaces=a,b"], Some(&["a", "b"][..]))]
    #[case::one_empty_name_is_all(&["--watchedNamespaces=a,"], None)]
    #[case::the_last_counts(&["--watchedNamespaces=a", "--watchedNamespaces=b"], Some(&["b"][..]))]
    #[case::the_last_counts(&["--watchedNamespaces=a", "--watchedNamespaces="], None)]
    fn watched(#[case] flags: &[&str], #[case] expected: Option<&[&str]>) {
        let expected = expected.map(|names| names.iter().copied().map(str::to_owned).collect());
        assert_eq!(parse(flags).watched(), expected);
    }

    #[test]
    fn protected() {
        let args = parse(&["--protectedCopiedCSVNamespaces=a,b"]);
        assert_eq!(args.protected(), ["a", "b"].map(str::to_owned).into());
        assert!(parse(&[]).protected().is_empty());
    }
}
