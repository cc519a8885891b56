//! What one library issues, another one judges.

use std::collections::BTreeMap;

use olm_kit::certificates::issue;
use olm_lifecycle::certificates::{Material, Validity, judge, order};

#[test]
fn what_is_issued_is_good_for_two_years_but_a_day() {
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    let hosts = vec!["a.ns".to_owned(), "a.ns.svc".to_owned()];
    let servers = BTreeMap::from([("secret".to_owned(), hosts.clone())]);
    let issued = issue(&order(servers, now)).unwrap();
    let server = &issued.servers["secret"];
    let material = Material {
        certificate: server.certificate.as_bytes(),
        key: server.key.as_bytes(),
        authority: issued.authority.as_bytes(),
    };
    let rotate_at = "2027-12-31T00:00:00Z".parse().unwrap();
    assert_eq!(judge(material, &hosts, now), Validity::Good { rotate_at });
}
