//! Command lines with known, unknown and misspelt flags.

use clap::Parser;
use clap::error::ErrorKind;
use rstest::rstest;

use super::*;
use crate::tls::TlsProfile;

#[derive(Debug, Parser)]
#[command(name = "operator", version = "1", disable_version_flag = true)]
struct Some {
    #[command(flatten)]
    common: CommonFlags,
    #[arg(long = "tenant-policy", default_value = "v0")]
    policy: String,
}

impl Flags for Some {
    fn idle(&self) -> Vec<Idle> {
        self.common.idle().collect()
    }
}

fn read(flags: &[&str]) -> Result<CommandLine<Some>, clap::Error> {
    CommandLine::read(std::iter::once("operator").chain(flags.iter().copied()))
}

#[rstest]
#[case::nothing(&[], &[])]
#[case::known(&["--debug", "--tenant-policy", "strict"], &[])]
#[case::unknown(&["--brand-new"], &["--brand-new"])]
#[case::with_a_value(&["--brand-new=7", "--debug"], &["--brand-new"])]
#[case::with_the_value_behind_it(&["--brand-new", "7", "--debug"], &["--brand-new"])]
#[case::several(&["--x", "--tenant-policy=strict", "--y", "a", "--x"], &["--x", "--y", "--x"])]
#[case::of_the_log(&["--v", "4", "-v=4", "-v", "4", "--logtostderr=true"], &["--v", "-v", "-v", "--logtostderr"])]
#[case::of_the_log_though_near(&["--log_file=x"], &["--log_file"])]
#[case::a_bare_word(&["--debug", "true"], &["true"])]
fn what_is_not_known_is_left_out(#[case] flags: &[&str], #[case] unknown: &[&str]) {
    let read = read(flags).unwrap();
    assert_eq!(read.unknown, unknown);
    assert_eq!(read.flags.common.debug, flags.contains(&"--debug"));
    assert_eq!(read.flags.policy == "strict", flags.iter().any(|flag| flag.contains("strict")));
}

#[rstest]
#[case::a_value_of_no_sense(&["--debug=maybe"], ErrorKind::InvalidValue)]
#[case::a_key_without_certificate(&["--tls-key", "k"], ErrorKind::MissingRequiredArgument)]
#[case::no_value(&["--tenant-policy"], ErrorKind::InvalidValue)]
#[case::misspelt(&["--tenant-polcy=strict"], ErrorKind::UnknownArgument)]
#[case::the_version(&["--brand-new", "--version"], ErrorKind::DisplayVersion)]
fn what_makes_no_sense_is_told(#[case] flags: &[&str], #[case] kind: ErrorKind) {
    assert_eq!(read(flags).unwrap_err().kind(), kind);
}

#[test]
fn a_misspelt_flag_is_told_with_the_right_one() {
    let error = read(&["--tenant-polcy=strict"]).unwrap_err().to_string();
    assert!(error.contains("'--tenant-policy'"), "{error}");
}

#[test]
fn with_certificates_the_endpoints_are_where_v0_has_them() {
    let flags = |flags: &[&str]| read(flags).unwrap().flags.common;
    assert_eq!(flags(&[]).admin_address(), "0.0.0.0:8080");
    let tls = flags(&["--tls-key=k", "--tls-cert=c", "--client-ca="]);
    assert_eq!(tls.admin_address(), "0.0.0.0:8443");
    assert_eq!(tls.tls().and_then(|files| files.client_authority), None);
    assert_eq!(flags(&["--admin-address=127.0.0.1:0"]).admin_address(), "127.0.0.1:0");
}

#[test]
fn what_does_nothing_says_why() {
    let [idle] = read(&["--profiling"]).unwrap().flags.idle()[..] else { panic!() };
    assert_eq!(idle.flag, "--profiling");
    assert!(read(&[]).unwrap().flags.idle().is_empty());
}

#[test]
fn servers_accept_what_the_flags_of_kubernetes_say() {
    let profile = |flags: &[&str]| read(flags).unwrap().flags.common.tls_profile();
    assert_eq!(profile(&[]), Ok(TlsProfile::default()));
    let suites = "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256";
    assert_ne!(profile(&[suites]), Ok(TlsProfile::default()));
    assert_ne!(profile(&["--tls-min-version=VersionTLS13"]), Ok(TlsProfile::default()));
    for wrong in ["--tls-min-version=1.3", "--tls-cipher-suites=NONE"] {
        assert!(read(&[wrong]).is_err(), "{wrong}");
    }
}
