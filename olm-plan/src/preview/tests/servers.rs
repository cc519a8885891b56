//! Upgrades of operators with webhooks: what OLM makes for their servers.

use super::*;
use crate::settings::Flavour;

/// A CSV with a webhook.
fn serving(version: u64) -> Value {
    let mut csv = csv(version);
    csv["spec"]["webhookdefinitions"] = json!([{
        "type": "ValidatingAdmissionWebhook", "generateName": "check.x.io",
        "deploymentName": "kettle", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": ["x.io"], "apiVersions": ["v1"], "operations": ["CREATE"],
            "resources": ["kettles"]}]}]);
    csv
}

/// The first version, installed, with the Secret of its server, whose certificate is none.
fn known_with_servers() -> Known {
    let mut objects = installed("Manual");
    objects[0]["spec"] = serving(1)["spec"].clone();
    objects[3]["spec"] = json!({});
    objects.push(json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": "kettle-service-cert", "namespace": HOME, "uid": "secret",
            "ownerReferences": [{"apiVersion": "operators.coreos.com/v1alpha1",
                "kind": "ClusterServiceVersion", "name": "kettle.v1", "uid": "csv-1"}]},
        "data": {"tls.crt": "YQ==", "tls.key": "YQ==", "olmCAKey": "YQ=="}}));
    let mut known = known(&objects);
    let csv = serving(2);
    let bundle = UnpackedBundle {
        csv_name: "kettle.v2".to_owned(),
        csv_json: csv.to_string(),
        objects: vec![csv.to_string(), crd(&["v1"]).to_string()],
    };
    let key = (CatalogKey::new("olm", "kitchen"), "kettle.v2".into());
    known.bundles.insert(key, Content::Read(Arc::new(bundle)));
    known
}

/// Under v0 the Secret goes with the CSV that is replaced, and the next one makes its own.
#[rstest]
#[case::of_both(Flavour::OlmRs, "~ Secret kettle-service-cert")]
#[case::of_one(Flavour::V0, "-/+ Secret kettle-service-cert")]
fn the_certificate_of_a_server_after_an_upgrade(#[case] flavour: Flavour, #[case] expected: &str) {
    let settings = Settings::of_flavour(flavour);
    let asked = PreviewRequest { settings, ..asked(upgrade(None)) };
    let universe = universe(&BundleContent::Inline);
    let answer = preview(&asked, &known_with_servers(), &universe).unwrap();
    let Outcome::Preview(preview) = answer else { panic!("{answer:?}") };
    assert!(preview.problems.is_empty(), "{:?}", preview.problems);
    let found = lines(&preview);
    assert!(found.contains(&expected.to_owned()), "{found:?}");
    assert!(found.contains(&"+ Role kettle-service-cert".to_owned()), "{found:?}");
}
