//! What a preview reads like.

use k8s_openapi::api::rbac::v1::PolicyRule;
use olm_plan::preview::Copies;
use olm_plan::preview::permissions::Right;
use olm_plan::preview::result::Images;
use serde_json::json;

use super::*;
use crate::output::{Kind, assert_described};

fn preview() -> Preview {
    let bundle = Bundle {
        csv: "a.v2".to_owned(),
        package: "a".to_owned(),
        version: Some("2.0.0".to_owned()),
        channel: "stable".to_owned(),
        catalog: "ns/c".to_owned(),
        replaces: Some("a.v1".to_owned()),
        because: vec!["subscription a".to_owned()],
        is_dependency: false,
        deprecated: vec!["old\u{1b}[2J".to_owned()],
    };
    let field = |path: &str, before: Option<i32>, after: Option<i32>| Field {
        path: path.to_owned(),
        before: before.map(|value| json!(value)),
        after: after.map(|value| json!(value)),
    };
    Preview {
        action: "upgrade",
        namespace: "ns".to_owned(),
        package: "a".to_owned(),
        subscription: "a".to_owned(),
        hops: vec![Hop {
            approval: "Manual",
            is_approved: false,
            bundles: vec![bundle],
            steps: Vec::new(),
            manifests: Vec::new(),
        }],
        also_approved: vec!["b.v1".to_owned()],
        changes: vec![Change {
            action: Action::Change,
            group: String::new(),
            kind: "Service".to_owned(),
            namespace: "ns".to_owned(),
            name: "s".to_owned(),
            fields: vec![field("spec.a", Some(1), Some(2)), field("spec.b", None, Some(3))],
            contents: String::new(),
            not_checked: None,
        }],
        crds: vec![CrdVerdict {
            name: "as.x.io".to_owned(),
            verdict: "refused",
            detail: "spec.replicas".to_owned(),
            custom_resources: Some(2),
        }],
        images: Images { gained: vec!["i:2".to_owned()], lost: vec!["i:1".to_owned()] },
        unknown: vec!["bundle image i".to_owned()],
        plan_hash: "h".to_owned(),
        ..Preview::default()
    }
}

#[test]
fn a_preview_reads_from_what_matters_to_what_is_long() {
    let expected = "\
upgrade a in namespace ns
InstallPlan 1 (waits for approval) installs:
  a.v2 (version 2.0.0) from ns/c, channel stable, replaces a.v1
    because: subscription a
    deprecated: old\u{fffd}[2J
The same approval approves:
  b.v1
CRDs:
  as.x.io refused (2 custom resources): spec.replicas
New images:
  i:2
Images no longer used:
  i:1
Objects:
  ~   Service ns/s
        ~ spec.a: 1 -> 2
        + spec.b: 3
unknown: bundle image i
0 to create, 1 to change, 0 to replace, 0 to delete
plan hash h
";
    assert_eq!(describe(&preview(), Operands::Keep), expected);
}

/// The mark of an object says what becomes of it; `!` is before what reaches further than it looks.
#[test]
fn marks_say_what_becomes_of_an_object() {
    let of = |action, name: &str| Change {
        action,
        kind: "Service".to_owned(),
        name: name.to_owned(),
        fields: Vec::new(),
        ..preview().changes.remove(0)
    };
    let unchecked = Some("namespaces \"ns\" not found".to_owned());
    let created = Change { not_checked: unchecked, ..of(Action::Create, "a") };
    let changes =
        vec![created, of(Action::Replace, "b"), of(Action::Delete, "c"), of(Action::Change, "d")];
    let right = |escalations: &[&str]| Right {
        account: "acc".to_owned(),
        scope: "cluster".to_owned(),
        rule: PolicyRule { verbs: vec!["get".to_owned()], ..PolicyRule::default() },
        escalations: escalations.iter().map(ToString::to_string).collect(),
    };
    let mut whole = Preview { changes, ..preview() };
    whole.rights.gained = vec![right(&["secrets"]), right(&[])];
    whole.rights.reaches = ["hostPath volume in Deployment d".to_owned()].into();
    let text = describe(&whole, Operands::Keep);
    let objects = "\
Objects:
  +   Service ns/a (not checked by the API server)
  -/+ Service ns/b
  -   Service ns/c
  ~   Service ns/d
";
    assert!(text.contains(objects), "{text}");
    let counts = "1 to create, 1 to change, 1 to replace, 1 to delete\n";
    assert!(text.contains(counts), "{text}");
    let rights: Vec<&str> = text.lines().filter(|line| line.contains("acc in cluster")).collect();
    assert!(rights[0].starts_with("  ! acc") && rights[0].ends_with("[secrets]"), "{text}");
    assert!(rights[1].starts_with("    acc") && rights.len() == 2, "{text}");
    let reaches =
        "Reaches beyond the operator:\n  ! hostPath volume in Deployment d\nRights gained:\n";
    assert!(text.contains(reaches), "{text}");
}

#[test]
fn custom_resources_stay_or_go_as_was_asked_for() {
    let operands = vec!["Kettle ns/a".to_owned()];
    let removal = Preview { action: "uninstall", operands, ..Preview::default() };
    let kept = describe(&removal, Operands::Keep);
    assert!(kept.contains("Custom resources that stay:\n  Kettle ns/a\n"), "{kept}");
    let deleted = describe(&removal, Operands::Delete);
    assert!(deleted.contains("that are deleted, too:\n  Kettle ns/a\n"), "{deleted}");
    assert!(!deleted.contains("stay"), "{deleted}");
    let stopped = describe(&removal, Operands::Abort);
    assert!(stopped.contains("for which nothing is removed:\n"), "{stopped}");
}

#[test]
fn the_schema_describes_a_plan() {
    let right = Right {
        account: "a".to_owned(),
        scope: "cluster".to_owned(),
        rule: PolicyRule::default(),
        escalations: vec!["secrets".to_owned()],
    };
    let mut whole = preview();
    whole.rights.gained.push(right);
    whole.rights.reaches.insert("webhook a".to_owned());
    whole.changes[0].not_checked = Some("it goes".to_owned());
    whole.refused.insert("s".to_owned(), "nothing fits".to_owned());
    whole.copies.push(Copies { action: Action::Create, csv: "a.v2".to_owned(), namespaces: 3 });
    whole.notes.push("a note".to_owned());
    whole.operands.push("A ns/a".to_owned());
    whole.unused.push("b".to_owned());
    whole.manifests.push(json!({"kind": "Namespace"}));
    assert_described(Kind::Plan, &whole);
    assert_described(Kind::Plan, &Preview { action: "install", ..Preview::default() });
}
