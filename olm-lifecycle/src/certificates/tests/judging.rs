//! Whether a certificate may stay.

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Secret;
use rstest::rstest;

use super::fixtures::{bytes, days, mk_authority, mk_secret, mk_server, now};
use crate::certificates::{ServingNames, ServingSecret, Validity, join, judge, newest, trusts};

fn verdict(secret: &Secret) -> String {
    let hosts = ServingNames::new("ns", "dep").hosts();
    match judge(ServingSecret::new(secret).active(), &hosts, now()) {
        Validity::Good { rotate_at } => format!("good until {rotate_at}"),
        Validity::Due => "due".to_owned(),
        Validity::Unusable(reason) => reason.to_string(),
    }
}

fn set(secret: &mut Secret, key: &str, text: &str) {
    secret.data.as_mut().unwrap().insert(key.to_owned(), bytes(text));
}

#[rstest]
#[case::two_days_left(days(2), "good until 2026-01-02T00:00:00Z")]
#[case::a_second_too_long(
    days(1) + SignedDuration::from_secs(1), "good until 2026-01-01T00:00:01Z")]
#[case::a_day_left(days(1), "due")]
#[case::the_last_second(SignedDuration::ZERO, "due")]
#[case::over(SignedDuration::from_secs(-1), "olmCAKey is not valid now")]
fn a_certificate_is_due_a_day_before_its_end(#[case] left: SignedDuration, #[case] expected: &str) {
    assert_eq!(verdict(&mk_secret(left)), expected);
}

#[rstest]
#[case::no_authority("olmCAKey", "", "olmCAKey is missing")]
#[case::no_certificate("tls.crt", "", "tls.crt is missing")]
#[case::no_key("tls.key", "", "tls.key is missing")]
#[case::text("tls.crt", "garbage", "tls.crt holds no PEM block CERTIFICATE")]
#[case::other_block(
    "olmCAKey",
    "-----BEGIN X-----\nAAAA\n-----END X-----\n",
    "olmCAKey holds no PEM block CERTIFICATE"
)]
#[case::not_x509(
    "tls.crt",
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "tls.crt holds a PEM block that is no certificate"
)]
fn garbage_is_named(#[case] key: &str, #[case] text: &str, #[case] expected: &str) {
    let mut secret = mk_secret(days(100));
    set(&mut secret, key, text);
    assert_eq!(verdict(&secret), expected);
}

#[test]
fn a_huge_text_is_not_read() {
    let mut secret = mk_secret(days(100));
    set(&mut secret, "tls.crt", &"-".repeat(1 << 20));
    assert_eq!(verdict(&secret), "tls.crt is longer than 65536 bytes");
}

#[test]
fn all_three_names_must_be_there() {
    let mut secret = mk_secret(days(100));
    let (authority, issuer) = mk_authority(now(), now() + days(100));
    let hosts = ServingNames::new("ns", "dep").hosts();
    let server = mk_server(&issuer, &hosts[..2], now(), now() + days(100));
    set(&mut secret, "olmCAKey", &authority);
    set(&mut secret, "tls.crt", &server.certificate);
    assert_eq!(
        verdict(&secret),
        "tls.crt is no certificate for dep-service.ns.svc.cluster.local from the authority in \
         olmCAKey"
    );
}

#[test]
fn another_authority_is_not_the_one_that_signed() {
    let mut secret = mk_secret(days(100));
    set(&mut secret, "olmCAKey", &mk_authority(now(), now() + days(100)).0);
    let expected = "tls.crt is no certificate for dep-service.ns from the authority in olmCAKey";
    assert_eq!(verdict(&secret), expected);
}

#[test]
fn a_bundle_of_one_is_that_one() {
    let one = mk_authority(now(), now() + days(1)).0;
    assert_eq!(join([one.as_bytes()]), one.as_bytes());
    assert_eq!(join([one.as_bytes(), b"", one.as_bytes()]), one.as_bytes());
}

#[test]
fn a_bundle_trusts_whom_it_holds() {
    let all = [0, 1, 2].map(|_| mk_authority(now(), now() + days(1)).0);
    let bundle = join(all[..2].iter().map(|one| one.as_bytes()));
    assert!(trusts(&bundle, all[0].as_bytes()) && trusts(&bundle, all[1].as_bytes()));
    assert!(!trusts(&bundle, all[2].as_bytes()));
    assert!(!trusts(&bundle, b""), "an empty certificate is not trusted");
    assert!(!trusts(b"garbage", b"garbage"));
    assert_eq!(newest(&bundle, 1), all[0].as_bytes());
    assert_eq!(newest(&bundle, 5), bundle);
    assert_eq!(newest(b"garbage", 5), b"");
}
