//! Command lines with flags of every operator, good and bad.

use clap::Parser;
use clap::error::ErrorKind;
use rstest::rstest;

use super::*;
use crate::tls::{TlsFlags, TlsProfile};

#[derive(Debug, Parser)]
#[command(name = "operator", version = "1", disable_version_flag = true)]
struct Some {
    #[command(flatten)]
    common: CommonFlags,
    #[arg(long = "tenant-policy", default_value = "v0")]
    policy: String,
}

impl Flags for Some {
    fn common(&self) -> &CommonFlags {
        &self.common
    }

    fn idle(&self) -> Vec<Idle> {
        self.common.idle().collect()
    }
}

fn read(flags: &[&str]) -> Result<CommandLine<Some>, clap::Error> {
    CommandLine::read(std::iter::once("operator").chain(flags.iter().copied()))
}

fn common(flags: &[&str]) -> CommonFlags {
    read(flags).unwrap().flags.common
}

#[rstest]
#[case::unknown(&["--brand-new"], ErrorKind::UnknownArgument)]
#[case::unknown(&["--brand-new=7", "--debug"], ErrorKind::UnknownArgument)]
#[case::unknown(&["--version", "--brand-new"], ErrorKind::UnknownArgument)]
#[case::misspelt(&["--tenant-polcy=strict"], ErrorKind::UnknownArgument)]
#[case::neither_on_nor_off(&["--debug=maybe"], ErrorKind::ValueValidation)]
#[case::no_value(&["--tenant-policy"], ErrorKind::InvalidValue)]
#[case::no_level(&["-v=high"], ErrorKind::ValueValidation)]
#[case::half_of_a_pair(&["--tls-key", "k"], ErrorKind::ValueValidation)]
#[case::half_of_a_pair(&["--tls-cert=c", "--tls-key="], ErrorKind::ValueValidation)]
#[case::no_suite(&["--tls-cipher-suites=NONE"], ErrorKind::ValueValidation)]
fn what_makes_no_sense_ends_the_process(#[case] flags: &[&str], #[case] kind: ErrorKind) {
    assert_eq!(read(flags).unwrap_err().kind(), kind);
}

#[test]
fn a_misspelt_flag_is_reported_with_the_right_one() {
    let error = read(&["--tenant-polcy=strict"]).unwrap_err().to_string();
    assert!(error.contains("'--tenant-policy'"), "{error}");
}

/// Every flag of v0's log library, and what it takes.
#[rstest]
#[case(&["--v", "4"], "--v")]
#[case(&["-v=4"], "--v")]
#[case(&["-v", "4"], "--v")]
#[case(&["--vmodule=a=4,b=5"], "--vmodule")]
#[case(&["--add_dir_header"], "--add_dir_header")]
#[case(&["--alsologtostderr=1"], "--alsologtostderr")]
#[case(&["--legacy_stderr_threshold_behavior=F"], "--legacy_stderr_threshold_behavior")]
#[case(&["--log_backtrace_at=a.go:7"], "--log_backtrace_at")]
#[case(&["--log_dir="], "--log_dir")]
#[case(&["--log_file=x"], "--log_file")]
#[case(&["--log_file_max_size", "1800"], "--log_file_max_size")]
#[case(&["--logtostderr=true"], "--logtostderr")]
#[case(&["--one_output"], "--one_output")]
#[case(&["--skip_headers=True"], "--skip_headers")]
#[case(&["--skip_log_headers"], "--skip_log_headers")]
#[case(&["--stderrthreshold", "2"], "--stderrthreshold")]
fn flags_of_the_log_library_do_nothing(#[case] flags: &[&str], #[case] reported: &str) {
    let flags = [flags, &["--debug"]].concat();
    let line = read(&flags).unwrap();
    assert!(line.flags.common.debug && line.flags.common.words().is_empty());
    let idle: Vec<&str> = line.flags.idle().iter().map(|idle| idle.flag).collect();
    assert_eq!(idle, [reported]);
}

#[test]
fn words_that_are_no_flags_are_ignored() {
    let line = read(&["--debug", "false", "--tenant-policy", "strict", "x"]).unwrap();
    assert!(line.flags.common.debug, "a word behind a switch is not its value");
    assert_eq!(line.flags.policy, "strict");
    assert_eq!(line.flags.common.words(), ["false", "x"]);
}

#[test]
fn empty_values_are_none() {
    let empty = common(&["--kubeconfig=", "--tls-key=", "--tls-cert=", "--client-ca="]);
    assert_eq!((empty.kubeconfig(), empty.tls()), (None, None));
    assert_eq!(empty.admin_address(), "0.0.0.0:8080");
    let empty = common(&["--admin-address=", "--tls-cipher-suites=", "--tls-min-version="]);
    assert_eq!(empty.admin_address(), "0.0.0.0:8080");
    assert_eq!(empty.tls_flags(), Ok(TlsFlags::default()));
}

#[test]
fn of_several_the_last_counts() {
    let twice = common(&["--kubeconfig=a", "--kubeconfig", "b", "--debug", "--debug=0"]);
    assert_eq!(twice.kubeconfig(), Some("b".as_ref()));
    assert!(!twice.debug);
    assert_eq!(common(&["--kubeconfig=a", "--kubeconfig="]).kubeconfig(), None);
}

#[test]
fn the_version_is_asked_for_as_in_v0() {
    let version = |flags: &[&str]| read(flags).unwrap().version();
    for flag in ["--version", "--version=1", "--version=true"] {
        assert_eq!(version(&[flag]).as_deref(), Some("operator 1\n"));
    }
    assert_eq!(version(&["--version=false"]), None);
    assert_eq!(version(&[]), None);
}

#[test]
fn with_certificates_the_endpoints_are_where_v0_has_them() {
    assert_eq!(common(&[]).admin_address(), "0.0.0.0:8080");
    let tls = common(&["--tls-key=k", "--tls-cert=c", "--client-ca="]);
    assert_eq!(tls.admin_address(), "0.0.0.0:8443");
    assert_eq!(tls.tls().and_then(|files| files.client_authority), None);
    assert_eq!(common(&["--admin-address=127.0.0.1:0"]).admin_address(), "127.0.0.1:0");
}

#[test]
fn what_does_nothing_says_why() {
    let [idle] = read(&["--profiling"]).unwrap().flags.idle()[..] else { panic!() };
    assert_eq!(idle.flag, "--profiling");
    assert!(read(&["--profiling=F"]).unwrap().flags.idle().is_empty());
}

#[test]
fn servers_accept_what_the_flags_of_kubernetes_say() {
    let profile = |flags: &[&str]| common(flags).tls_flags().unwrap().profile();
    assert_eq!(profile(&[]), Ok(TlsProfile::default()));
    let suites = "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256";
    assert_ne!(profile(&[suites]), Ok(TlsProfile::default()));
    assert_ne!(profile(&["--tls-min-version=VersionTLS13"]), Ok(TlsProfile::default()));
    for wrong in ["--tls-min-version=1.3", "--tls-cipher-suites=NONE"] {
        assert!(read(&[wrong]).is_err(), "{wrong}");
    }
}
