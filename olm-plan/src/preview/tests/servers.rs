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

fn under(flavour: Flavour, wanted: Operation, known: &Known) -> Preview {
    let settings = Settings::of_flavour(flavour);
    let asked = PreviewRequest { settings, ..asked(wanted) };
    match preview(&asked, known, &universe(&BundleContent::Inline)).unwrap() {
        Outcome::Preview(preview) => *preview,
        Outcome::Needs(needs) => panic!("{needs:?}"),
    }
}

/// v0 leaves the binding that is in another namespace.
#[rstest]
#[case::taken_away(Flavour::OlmRs, true)]
#[case::left(Flavour::V0, false)]
fn the_binding_of_a_server_after_a_removal(#[case] flavour: Flavour, #[case] goes: bool) {
    let mut known = known_with_servers();
    let key = prepare::olm_key("ClusterServiceVersion", HOME, "kettle.v1");
    let csv = known.objects.get_mut(&key).unwrap();
    csv["metadata"]["finalizers"] = json!(["operators.coreos.com/csv-cleanup"]);
    known.add(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "kettle-service-auth-reader", "namespace": "kube-system", "uid": "r"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role",
            "name": "extension-apiserver-authentication-reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": HOME}]}));
    let wanted = Operation::Uninstall { operator: "kettle".to_owned() };
    let found = lines(&under(flavour, wanted, &known));
    for gone in ["- ClusterServiceVersion kettle.v1", "- Secret kettle-service-cert"] {
        assert!(found.contains(&gone.to_owned()), "{found:?}");
    }
    let binding = "- RoleBinding kettle-service-auth-reader".to_owned();
    assert_eq!(found.contains(&binding), goes, "{found:?}");
}

/// Under v0 the Secret goes with the CSV that is replaced, and the next one makes its own.
#[rstest]
#[case::of_both(Flavour::OlmRs, "~ Secret kettle-service-cert")]
#[case::of_one(Flavour::V0, "-/+ Secret kettle-service-cert")]
fn the_certificate_of_a_server_after_an_upgrade(#[case] flavour: Flavour, #[case] expected: &str) {
    let preview = under(flavour, upgrade(None), &known_with_servers());
    assert!(preview.problems.is_empty(), "{:?}", preview.problems);
    let found = lines(&preview);
    assert!(found.contains(&expected.to_owned()), "{found:?}");
    assert!(found.contains(&"+ Role kettle-service-cert".to_owned()), "{found:?}");
}
