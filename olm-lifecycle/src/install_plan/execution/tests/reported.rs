//! What is reported about steps: warnings, objects that were another owner's, CRDs that are
//! upgraded although objects do not fit.

use super::*;

fn notes(cluster: &mut Cluster, steps: &[Step]) -> Vec<(usize, String)> {
    let ended = run(cluster, scope(), steps);
    assert_eq!(ended.failure.map(|error| error.to_string()), None);
    ended.notes.iter().map(|note| (note.step, note.text(&ended.steps[note.step]))).collect()
}

#[test]
fn warnings_are_reported_step_by_step() {
    let mut cluster = Cluster { warns: Some(("ConfigMap", "old")), ..Cluster::default() };
    let mut unresolved = core("ConfigMap", named("b"));
    unresolved.resolving = "csv.v1".to_owned();
    let reported = notes(&mut cluster, &[csv_step(), core("ConfigMap", named("a")), unresolved]);
    let text = |name| {
        format!(
            "1 warning(s) generated during installation of operator \"csv.v1\" (ConfigMap \"{name}\"): old"
        )
    };
    assert_eq!(reported, [(1, text("a")), (2, text("b"))]);
}

#[test]
fn a_step_of_no_operator_is_reported_without_one() {
    let note = Note { step: 0, what: NoteKind::Warnings(vec!["a".to_owned(), "b".to_owned()]) };
    let step = Step { resolving: String::new(), ..core("Service", named("s")) };
    let text = "2 warning(s) generated during operator installation (Service \"s\"): a, b";
    assert_eq!(note.text(&step), text);
}

#[test]
fn an_object_of_another_owner_is_not_taken_over_silently() {
    let mut cluster = Cluster::default();
    let theirs = json!({"metadata": {"name": "c", "namespace": "ns"}, "data": {"theirs": "1"}});
    cluster.put("ConfigMap", Some("ns"), "c", theirs);
    let steps =
        [csv_step(), core("ConfigMap", json!({"metadata": {"name": "c"}, "data": {"ours": "1"}}))];
    let reported = notes(&mut cluster, &steps);
    let [(1, text)] = reported.as_slice() else { panic!("{reported:?}") };
    assert!(
        text.starts_with("ConfigMap \"c\" existed before and was not managed by OLM"),
        "{text}"
    );
    assert_eq!(notes(&mut cluster, &steps), [], "it is ours now");
}

#[test]
fn an_object_that_another_owner_has_and_that_stays_is_not_reported() {
    let mut cluster = Cluster::default();
    cluster.put("Subscription", Some("ns"), "sub", named("sub"));
    let step = step("operators.coreos.com", "Subscription", named("sub"));
    assert_eq!(notes(&mut cluster, &[step]), []);
}

fn strict(max: i64, webhook: bool) -> Step {
    let strategy = if webhook { "Webhook" } else { "None" };
    let schema = json!({"properties": {"spec": {"properties": {"size": {"maximum": max}}}}});
    let object = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "names": {"kind": "Thing", "plural": "things"},
            "conversion": {"strategy": strategy},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]},
    });
    step("apiextensions.k8s.io", "CustomResourceDefinition", object)
}

#[rstest]
#[case::none(false)]
#[case::webhook(true)]
fn objects_that_do_not_fit_stop_an_upgrade_without_conversion(#[case] webhook: bool) {
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[strict(10, false)]);
    cluster.put(
        "Thing",
        Some("a"),
        "big",
        json!({"metadata": {"namespace": "a", "name": "big"}, "spec": {"size": 9}}),
    );
    let ended = run(&mut cluster, scope(), &[strict(5, webhook)]);
    let finding = "error validating existing CRs against new CRD's schema for \"things.example.com\": error validating \
        example.com/v1, Kind=Thing \"a/big\": updated validation is too restrictive: [].spec.size: Invalid value: 9: \
        spec.size in body should be less than or equal to 5";
    if webhook {
        assert!(ended.failure.is_none());
        let [Note { what: NoteKind::CrdValidation(text), .. }] = ended.notes.as_slice() else {
            panic!()
        };
        assert!(text.ends_with(finding), "{text}");
    } else {
        assert_eq!(ended.failure.unwrap().to_string(), finding);
    }
}
