//! Rights in `kube-system` of servers that go.

use olm_types::api::ClusterServiceVersion;
use rstest::rstest;

use super::fixtures::{mk_csv, now};
use crate::certificates::auth_readers;

/// Another version of the operator, with the same Deployment.
fn mk_other(is_going: bool) -> ClusterServiceVersion {
    let mut other = mk_csv();
    other.metadata.name = Some("other".to_owned());
    other.metadata.deletion_timestamp =
        is_going.then(|| k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(now()));
    other
}

#[rstest]
#[case::alone(&[], true)]
#[case::the_other_version_stays(&[false], false)]
#[case::both_go_at_once(&[true], true)]
#[case::one_of_three_stays(&[true, false], false)]
fn a_binding_goes_with_the_last_version(#[case] others: &[bool], #[case] goes: bool) {
    let others: Vec<ClusterServiceVersion> = others.iter().map(|going| mk_other(*going)).collect();
    let names = auth_readers(&mk_csv(), others.iter());
    let expected: &[&str] = if goes { &["dep-service-auth-reader"] } else { &[] };
    assert_eq!(names, expected);
}
