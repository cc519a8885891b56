//! Steps whose manifests stay in the ConfigMap.

use rstest::rstest;
use serde_json::json;

use super::*;

fn unpacked() -> Unpacked {
    Unpacked::new(lookup(), entry("a.v1"), bundle("a.v1")).unwrap()
}

#[test]
fn steps_refer_to_the_config_map_in_the_form_of_v0() {
    let steps = unpacked().steps("ns").unwrap();
    let names: Vec<_> = steps.iter().map(|step| step.resource.name.as_str()).collect();
    assert_eq!(names, ["a.v1", "conf"]);
    let manifest = steps[0].resource.manifest.as_deref().unwrap();
    assert_eq!(
        manifest,
        "{\"kind\":\"ConfigMap\",\
         \"name\":\"195e02d9c3a64b64444ff569fbc629fb9d91628c45b5b8338300d5cd33b7a8e\",\
         \"namespace\":\"ns-a\",\"catalogSourceName\":\"src-a\",\
         \"catalogSourceNamespace\":\"ns-a\",\"replaces\":\"a.v0\",\"properties\":\"{\\\"properties\
         \\\":[{\\\"type\\\":\\\"olm.package\\\",\\\"value\\\":{\\\"packageName\\\":\\\"a\\\",\
         \\\"version\\\":\\\"1.0.0\\\"}}]}\"}"
    );
    assert_eq!(unpacked().lookup.conditions, []);
}

/// What a plan is executed with is what its steps were made of.
#[test]
fn the_reference_leads_back_to_the_manifests() {
    let steps = unpacked().steps("ns").unwrap();
    let reference = BundleReference::parse(steps[0].resource.manifest.as_deref().unwrap()).unwrap();
    let found = reference.steps(&bundle("a.v1"), "ns").unwrap();
    let csv = found[0].resource.manifest.as_deref().unwrap();
    let csv: serde_json::Value = serde_json::from_str(csv).unwrap();
    assert_eq!(csv["spec"]["replaces"], "a.v0");
    assert_eq!(csv["metadata"]["namespace"], "ns");
    let properties = &csv["metadata"]["annotations"]["operatorframework.io/properties"];
    assert_eq!(properties, unpacked().lookup.properties.as_deref().unwrap());
    assert_eq!(found[1].resource.name, "conf");
}

#[rstest]
#[case::a_config_map(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}))]
#[case::incomplete(json!({"kind": "ConfigMap", "name": "a", "namespace": "b", "catalogSourceNamespace": "c"}))]
#[case::another_kind(json!({
    "kind": "Secret", "name": "a", "namespace": "b", "catalogSourceName": "c", "catalogSourceNamespace": "d",
}))]
#[case::another_type(json!({"kind": 1, "catalogSourceNamespace": "d"}))]
fn manifests_are_no_references(#[case] manifest: serde_json::Value) {
    assert_eq!(BundleReference::parse(&manifest.to_string()), None);
}

#[rstest]
#[case::of_the_plan("ns-a", "olm", true)]
#[case::of_global_catalogs("ns", "ns-a", true)]
#[case::of_another_owner("ns", "olm", false)]
fn a_plan_reads_beside_catalogs_that_it_sees(
    #[case] plan: &str,
    #[case] global: &str,
    #[case] allowed: bool,
) {
    let reference = unpacked().steps("ns").unwrap()[0].resource.manifest.clone().unwrap();
    let checked = BundleReference::parse(&reference).unwrap().check_place(plan, global);
    assert_eq!(checked.is_ok(), allowed);
    if let Err(error) = checked {
        let text = error.to_string();
        assert!(text.starts_with("ConfigMap ns-a/195e02d9c3a64b64444ff569"), "{text}");
        assert!(text.contains("it is in neither ns nor olm; delete the plan"), "{text}");
    }
}

/// What is in OLM's namespace for another purpose is not for plans.
#[test]
fn a_plan_reads_what_was_made_for_a_bundle() {
    let reference = BundleReference { name: "hash".to_owned(), ..BundleReference::default() };
    let made = objects::config_map(&catalog(), "hash");
    assert_eq!(reference.check_origin(&made.metadata), Ok(()));
    let error = reference.check_origin(&Default::default()).unwrap_err().to_string();
    assert!(error.contains("no CatalogSource owns it"), "{error}");
}

#[test]
fn an_image_with_another_bundle_is_refused() {
    let error = Unpacked::new(lookup(), entry("a.v1"), bundle("b.v1")).unwrap_err().to_string();
    assert!(error.starts_with("bundle a.v1: its image bundle-path holds b.v1;"), "{error}");
}

#[test]
fn bad_properties_are_reported_with_their_bundle() {
    let steps = unpacked().steps("ns").unwrap();
    let reference = BundleReference::parse(steps[0].resource.manifest.as_deref().unwrap()).unwrap();
    let reference = BundleReference { properties: "[".to_owned(), ..reference };
    let error = reference.steps(&bundle("a.v1"), "ns").unwrap_err();
    assert!(error.starts_with("failed to load bundle properties for \"a.v1\": "), "{error}");
}

/// What stands in the place of each manifest has the properties of the bundle in it.
#[test]
fn references_have_bounds_together() {
    let mut large = unpacked();
    let object = |number: usize| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("c{number}")}});
    large.input.objects.extend((0..1_000).map(|number| object(number).to_string()));
    assert_eq!(large.steps("ns").unwrap().len(), 1_000 + unpacked().steps("ns").unwrap().len());
    large.lookup.properties = Some(format!("{}[]", " ".repeat(1 << 20)));
    let error = large.steps("ns").unwrap_err().to_string();
    assert!(error.starts_with("the steps of 1 bundles take more than 3145728 bytes"), "{error}");
}
