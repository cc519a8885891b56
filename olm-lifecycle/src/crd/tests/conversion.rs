//! Who converts while a definition is upgraded.

use k8s_openapi::ByteString;

use super::*;
use crate::certificates::tests::fixtures::{days, mk_authority, now};

fn converting(service: &str, bundle: &Value) -> Value {
    let mut definition = definition(&[version("v1", true, json!({}))], &["v1"]);
    definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": {"service": {"name": service}, "caBundle": bundle},
        "conversionReviewVersions": ["v1"],
    }});
    definition
}

/// An authority as OLM makes them.
fn authority() -> Value {
    let (pem, _) = mk_authority(now() - days(1), now() + days(1));
    json!(ByteString(pem.into_bytes()))
}

#[test]
fn a_placeholder_for_a_certificate_is_no_part_of_a_definition() {
    let client = |bundle: &Value| {
        let manifest = without_placeholder(converting("s", bundle));
        manifest.pointer("/spec/conversion/webhook/clientConfig").cloned()
    };
    let bare = Some(json!({"service": {"name": "s"}}));
    for placeholder in ["Cg==", "", "?", "AAAA"] {
        assert_eq!(client(&json!(placeholder)), bare, "{placeholder:?}");
    }
    let bundle = authority();
    assert_eq!(client(&bundle), Some(json!({"service": {"name": "s"}, "caBundle": bundle})));
}

#[test]
fn the_old_version_converts_until_the_new_one_is_installed() {
    let wanted = without_placeholder(converting("of-the-bundle", &json!("Cg==")));
    let service = |live: Value, wanted: &Value| {
        let (written, _) = upgraded(live, wanted, &[]).unwrap();
        let name = text(&written, "/spec/conversion/webhook/clientConfig/service/name").to_owned();
        let versions = "/spec/conversion/webhook/conversionReviewVersions";
        (name, written.pointer(versions).cloned())
    };
    let of_olm = converting("of-the-old-csv", &authority());
    let mut without = wanted.clone();
    without["spec"]["conversion"] = json!({"strategy": "None"});
    assert_eq!(service(of_olm.clone(), &without).0, "", "the new version converts nothing");
    assert_eq!(service(of_olm, &wanted), ("of-the-old-csv".to_owned(), Some(json!(["v1"]))));
    let of_others = converting("of-others", &json!(""));
    assert_eq!(service(of_others, &wanted).0, "of-the-bundle", "that is no matter of OLM's");
}
