//! Names, labels, probes and hashes of the objects that serve a catalog (spec catalog-operator 1.4,
//! 1.5, 1.7, 9.9).

use olm_types::annotations;
use olm_types::api::CatalogSourceSpec;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn catalog(name: &str, spec: Value) -> CatalogSource {
    let spec: CatalogSourceSpec = serde_json::from_value(spec).unwrap();
    let mut catalog = CatalogSource::new(name, spec);
    catalog.metadata.namespace = Some("testns".to_owned());
    catalog.metadata.uid = Some("u-1".to_owned());
    catalog
}

fn settings() -> Settings {
    Settings {
        opm_image: "opmImage".to_owned(),
        util_image: "utilImage".to_owned(),
        config_map_server_image: "registry:cm".to_owned(),
        user: Some(1001),
    }
}

fn wants(catalog: &CatalogSource) -> DesiredObjects {
    wants_in(catalog, &Surroundings::default())
}

fn wants_in(catalog: &CatalogSource, around: &Surroundings) -> DesiredObjects {
    let backend = super::super::backend(catalog).unwrap();
    wanted(catalog, &backend, &settings(), around).unwrap().unwrap()
}

fn image(spec: Value) -> CatalogSource {
    let mut all = json!({"sourceType": "grpc", "image": "image"});
    all.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    catalog("test", all)
}

/// The vectors of spec catalog-operator 9.9 are hashes of Pods that no CatalogSource gives exactly:
/// another name for the container, no delays.
#[rstest]
#[case::plain(json!({}), "cBESV2Miwqi3TX1KELgXItd7j206e4q6b21BnP")]
#[case::memory_target(json!({"memoryTarget": "5Mi"}), "22OBIOEoFxFjed27eJvvYzqL0TfdXsuapKoxsE")]
#[case::extract(json!({"extractContent": {"cacheDir": "/tmp/cache", "catalogDir": "/catalog"}}), "30fzEky6rWPSaUHUtTN3mbl0SvE2PryXPIr090")]
#[case::extract_without_cache(json!({"extractContent": {"catalogDir": "/catalog"}}), "57eMKS6v8du5evWOTeBJEFYx7r5udVxvhEQpLB")]
#[case::legacy(json!({"securityContextConfig": "legacy"}), "cBESV2Miwqi3TX1KELgXItd7j206e4q6b21BnP")]
#[case::restricted(json!({"securityContextConfig": "restricted"}), "bfNQa9OTbkeciTpFoCgpKhNENGjVjY61PYAoYA")]
#[case::restricted_extract(
    json!({"securityContextConfig": "restricted", "extractContent": {"cacheDir": "/tmp/cache", "catalogDir": "/catalog"}}),
    "5CPn3qG7EdDS0mOX7AazM9Tt1RBtR6bjjMmmep"
)]
#[case::restricted_extract_without_cache(
    json!({"securityContextConfig": "restricted", "extractContent": {"catalogDir": "/catalog"}}),
    "adSLBZw1o1geKStnSKaiQEubBnN4eqkHabCyHs"
)]
fn pod_hashes(#[case] config: Value, #[case] hash: &str) {
    let catalog = image(json!({"grpcPodConfig": config}));
    let pod = pod::build(&pod::Inputs {
        catalog: &catalog,
        settings: &settings(),
        container: "name",
        image: "image",
        account: Some("service-account"),
        pull_secrets: &[],
        labels: BTreeMap::new(),
        readiness_delay: 0,
        liveness_delay: 0,
        restricted: false,
    });
    assert_eq!(pod.unwrap().labels()[labels::POD_SPEC_HASH], hash);
}

#[test]
fn a_catalog_image_in_a_restricted_namespace() {
    let around = Surroundings { restricted: true, ..Surroundings::default() };
    let mut catalog = image(json!({}));
    catalog.metadata.annotations = Some([("note".to_owned(), "kept".to_owned())].into());
    insta::assert_yaml_snapshot!(wants_in(&catalog, &around).pod);
}

#[test]
fn a_catalog_image_that_is_taken_out() {
    let extract = json!({"cacheDir": "/cache", "catalogDir": "/configs"});
    let spec = json!({"image": "i@sha256:0", "grpcPodConfig": {"extractContent": extract}});
    insta::assert_yaml_snapshot!(wants(&image(spec)).pod.spec);
}

#[test]
fn where_a_pod_may_run() {
    let around = json!({
        "nodeSelector": {"disk": "fast"},
        "priorityClassName": "high",
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "memoryTarget": "100M",
    });
    let spec = wants(&image(json!({"grpcPodConfig": around}))).pod.spec.unwrap();
    assert_eq!(spec.node_selector, Some([("disk".to_owned(), "fast".to_owned())].into()));
    assert_eq!(spec.priority_class_name.as_deref(), Some("high"));
    assert_eq!(spec.tolerations.unwrap()[0].key.as_deref(), Some("k"));
    assert!(spec.affinity.unwrap().node_affinity.is_some());
    let container = json!(spec.containers[0]);
    assert_eq!(container["env"], json!([{"name": "GOMEMLIMIT", "value": "100000000B"}]));
    assert_eq!(container["resources"], json!({"requests": {"cpu": "10m", "memory": "100M"}}));
    let anywhere = wants(&image(json!({"grpcPodConfig": {"nodeSelector": {}}}))).pod.spec.unwrap();
    assert_eq!(anywhere.node_selector, None);
}

#[rstest]
#[case::of_the_annotation(Some("a"), Some("b"), Some("a"))]
#[case::empty_annotation(Some(""), Some("b"), Some("b"))]
#[case::of_the_spec(None, Some("b"), Some("b"))]
#[case::none(None, None, None)]
fn priority_classes(
    #[case] annotation: Option<&str>,
    #[case] config: Option<&str>,
    #[case] class: Option<&str>,
) {
    let mut catalog = image(json!({"grpcPodConfig": {"priorityClassName": config}}));
    let note = |class: &str| (annotations::PRIORITY_CLASS.to_owned(), class.to_owned());
    catalog.metadata.annotations = annotation.map(|class| [note(class)].into());
    let spec = wants(&catalog).pod.spec.unwrap();
    assert_eq!(spec.priority_class_name.as_deref(), class);
}

#[rstest]
#[case::nothing_said(json!({}), false, false)]
#[case::asked_for(json!({"securityContextConfig": "restricted"}), false, true)]
#[case::by_namespace(json!({}), true, true)]
#[case::legacy_in_a_restricted_namespace(json!({"securityContextConfig": "legacy"}), true, false)]
fn security(#[case] config: Value, #[case] namespace: bool, #[case] restricted: bool) {
    let around = Surroundings { restricted: namespace, ..Surroundings::default() };
    let spec = wants_in(&image(json!({"grpcPodConfig": config})), &around).pod.spec.unwrap();
    let user = spec.security_context.as_ref().and_then(|context| context.run_as_user);
    let container = spec.containers[0].security_context.as_ref().unwrap();
    assert_eq!(user, restricted.then_some(1001));
    assert_eq!(container.read_only_root_filesystem, Some(false));
    assert_eq!(container.allow_privilege_escalation, restricted.then_some(false));
}

#[test]
fn without_a_user_a_restricted_pod_runs_as_its_image_says() {
    let catalog = image(json!({"grpcPodConfig": {"securityContextConfig": "restricted"}}));
    let settings = Settings { user: None, ..settings() };
    let around = Surroundings::default();
    let wanted = wanted(&catalog, &Backend::Image, &settings, &around).unwrap().unwrap();
    let context = json!(wanted.pod.spec.unwrap().security_context);
    assert_eq!(context, json!({"seccompProfile": {"type": "RuntimeDefault"}}));
}

#[test]
fn beside_the_pod_of_an_image() {
    let mut catalog = image(json!({"secrets": ["test-secret", ""]}));
    catalog.metadata.name = Some("img.catalog".to_owned());
    let wanted = wants(&catalog);
    insta::assert_yaml_snapshot!((wanted.account, wanted.service, wanted.policies));
    assert_eq!(wanted.rights, None);
    let secrets = wanted.pod.spec.unwrap().image_pull_secrets.unwrap();
    assert_eq!(json!(secrets), json!([{"name": "test-secret"}]));
}

#[test]
fn the_hash_of_a_service_is_that_of_the_specification() {
    let catalog = catalog("img-catalog", json!({"sourceType": "grpc", "image": "image"}));
    let service = wants(&catalog).service;
    let expected = "1H8PwaNysEYiIxM5Y0b68MWRU0B10QZGDhmKl1";
    assert_eq!(service.labels()[labels::SERVICE_SPEC_HASH], expected);
}

#[test]
fn pull_secrets_are_those_of_the_account_in_the_cluster() {
    let secrets = vec![LocalObjectReference { name: "given".to_owned() }];
    let around = Surroundings { pull_secrets: Some(secrets.clone()), ..Surroundings::default() };
    let spec = wants_in(&image(json!({"secrets": ["asked"]})), &around).pod.spec.unwrap();
    assert_eq!(spec.image_pull_secrets, Some(secrets));
}

#[test]
fn what_serves_a_config_map() {
    let version = Some("42".to_owned());
    let around = Surroundings { config_map_version: version, ..Surroundings::default() };
    let catalog = catalog("cm", json!({"sourceType": "configmap", "configMap": "lists"}));
    let wanted = wants_in(&catalog, &around);
    let hashed = pod::build(&pod::Inputs {
        catalog: &catalog,
        settings: &settings(),
        container: "configmap-registry-server",
        image: "registry:cm",
        account: None,
        pull_secrets: &[],
        labels: BTreeMap::new(),
        readiness_delay: 5,
        liveness_delay: 5,
        restricted: false,
    });
    let hash = &hashed.unwrap().labels()[labels::POD_SPEC_HASH].clone();
    assert_eq!(&wanted.pod.labels()[labels::POD_SPEC_HASH], hash, "without account and command");
    insta::assert_yaml_snapshot!((
        wanted.pod,
        wanted.account,
        wanted.rights,
        wanted.service,
        &wanted.policies[0]
    ));
}

#[test]
fn what_no_pod_can_have_is_reported() {
    let much = image(json!({"grpcPodConfig": {"memoryTarget": "much"}}));
    let error = wanted(&much, &Backend::Image, &settings(), &Surroundings::default());
    let message = error.unwrap_err().to_string();
    assert!(message.starts_with("spec.grpcPodConfig.memoryTarget: \"much\" is not"), "{message}");
    let none = Settings::default();
    let catalog = catalog("cm", json!({"sourceType": "internal", "configMap": "c"}));
    let error = wanted(&catalog, &Backend::ConfigMap, &none, &Surroundings::default());
    assert_eq!(error.unwrap_err().to_string(), "no image for registry");
}
