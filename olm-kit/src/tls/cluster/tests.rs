//! APIServers of OpenShift beside flags.

use rstest::rstest;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::scripted::Script;

const SAFE: &str = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384";
const OTHER: &str = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";

fn flags(oldest: Option<TlsVersion>, suites: &[&str]) -> TlsFlags {
    TlsFlags { oldest, suites: suites.iter().map(|name| name.parse().unwrap()).collect() }
}

fn profile(oldest: TlsVersion, suites: &[&str]) -> TlsProfile {
    flags(Some(oldest), suites).profile().unwrap()
}

fn custom_of(oldest: &str, ciphers: &[&str]) -> Value {
    json!({"type": "Custom", "custom": {"minTLSVersion": oldest, "ciphers": ciphers}})
}

#[rstest]
#[case::nothing(json!(null), TlsVersion::V12, &[])]
#[case::old(json!({"type": "Old", "old": {}}), TlsVersion::V12, &[])]
#[case::intermediate(json!({"type": "Intermediate"}), TlsVersion::V12, &[])]
#[case::modern(json!({"type": "Modern"}), TlsVersion::V13, &[])]
#[case::unknown(json!({"type": "Later"}), TlsVersion::V12, &[])]
#[case::custom(
    custom_of("VersionTLS11", &["ECDHE-RSA-AES256-GCM-SHA384", "DHE-RSA-AES128-GCM-SHA256"]),
    TlsVersion::V12, &[SAFE]
)]
#[case::custom_and_new(custom_of("VersionTLS13", &["TLS_AES_128_GCM_SHA256"]), TlsVersion::V13, &[])]
#[case::only_new_suites(custom_of("VersionTLS12", &["TLS_AES_128_GCM_SHA256"]), TlsVersion::V13, &[])]
#[case::no_suites(custom_of("VersionTLS12", &[]), TlsVersion::V12, &[])]
fn profiles(#[case] says: Value, #[case] oldest: TlsVersion, #[case] suites: &[&str]) {
    assert_eq!(merge(&TlsFlags::default(), &says), Ok(profile(oldest, suites)));
}

#[rstest]
#[case::no_safe_suite(custom_of("VersionTLS12", &["DHE-RSA-AES128-GCM-SHA256"]))]
#[case::no_version(custom_of("1.2", &[]))]
fn what_no_client_could_follow(#[case] says: Value) {
    assert!(merge(&TlsFlags::default(), &says).is_err());
}

#[test]
fn flags_win_each_for_what_it_says() {
    let modern = json!({"type": "Modern"});
    let custom = custom_of("VersionTLS12", &["ECDHE-RSA-AES256-GCM-SHA384"]);
    let oldest = flags(Some(TlsVersion::V12), &[]);
    assert_eq!(merge(&oldest, &modern), Ok(profile(TlsVersion::V12, &[])));
    let suites = flags(None, &[OTHER]);
    assert_eq!(merge(&suites, &custom), Ok(profile(TlsVersion::V12, &[OTHER])));
    let newest = flags(Some(TlsVersion::V13), &[]);
    assert_eq!(merge(&newest, &json!(null)), Ok(profile(TlsVersion::V13, &[])));
    // What is wrong with suites that do not count is no problem.
    let unsafe_only = custom_of("VersionTLS12", &["DHE-RSA-AES128-GCM-SHA256"]);
    assert_eq!(merge(&suites, &unsafe_only), Ok(profile(TlsVersion::V12, &[OTHER])));
}

const KINDS: &str = "GET /apis/config.openshift.io/v1";
const OBJECT: &str = "GET /apis/config.openshift.io/v1/apiservers/cluster";

fn kinds() -> Value {
    json!({"kind": "APIResourceList", "groupVersion": "config.openshift.io/v1", "resources": [
        {"name": "apiservers", "singularName": "", "namespaced": false, "kind": "APIServer",
         "verbs": ["get"]},
    ]})
}

fn object(profile: Value) -> Value {
    json!({"apiVersion": "config.openshift.io/v1", "kind": "APIServer",
        "metadata": {"name": "cluster"}, "spec": {"tlsSecurityProfile": profile}})
}

async fn followed(flags: TlsFlags, script: &Script) -> (SharedProfile, Tasks) {
    let tasks = Tasks::new(CancellationToken::new());
    (follow(flags, &script.client(), &tasks).await.unwrap(), tasks)
}

#[tokio::test(start_paused = true)]
async fn changes_are_followed_and_what_is_wrong_changes_nothing() {
    let script = Script::new()
        .answer(KINDS, 200, kinds())
        .answer(OBJECT, 200, object(json!({"type": "Modern"})))
        .answer(OBJECT, 200, object(custom_of("VersionTLS12", &["RC4-MD5"])))
        .refuse(OBJECT, 404, "NotFound", "not found")
        .answer(OBJECT, 200, object(json!({"type": "Intermediate"})));
    let (shared, _tasks) = followed(TlsFlags::default(), &script).await;
    let newest = profile(TlsVersion::V13, &[]);
    assert_eq!(*shared.get(), newest);
    for _ in 0..2 {
        sleep(LOOK + Duration::from_secs(1)).await;
        assert_eq!(*shared.get(), newest);
    }
    sleep(LOOK + Duration::from_secs(1)).await;
    assert_eq!(*shared.get(), TlsProfile::default());
    script.finish();
}

#[tokio::test]
async fn without_the_kind_the_flags_are_all_there_is() {
    let script = Script::new().text(KINDS, 404, "404 page not found");
    let (shared, _tasks) = followed(flags(Some(TlsVersion::V13), &[]), &script).await;
    assert_eq!(*shared.get(), profile(TlsVersion::V13, &[]));
    script.finish();
}

#[tokio::test]
async fn flags_that_say_everything_leave_nothing_to_ask() {
    let script = Script::new();
    drop(followed(flags(Some(TlsVersion::V12), &[SAFE]), &script).await);
    script.finish();
}
