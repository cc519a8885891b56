//! Whether an InstallPlan is the one that was shown, down to its manifests; only that one is approved.

use olm_plan::observed::name;
use olm_plan::preview::Hop;
use olm_plan::preview::comparable::comparable;
use olm_types::api::InstallPlan;

/// A step as KIND/NAME, and its manifest.
type Written<'a> = (String, &'a str);

/// What an InstallPlan installs that was not shown; none when it is one of those that were shown.
#[must_use]
pub fn difference(plan: &InstallPlan, hops: &[Hop]) -> Option<String> {
    let planned = planned(plan);
    let named = |steps: &[Written<'_>]| steps.iter().map(|step| step.0.clone()).collect::<Vec<_>>();
    let mut what = "something else than was shown; `kubectl olm approve` shows it".to_owned();
    for shown in hops.iter().map(shown) {
        if shown.is_empty() || named(&shown) != named(&planned) {
            continue;
        }
        let pairs = shown.iter().zip(&planned);
        let others = pairs.filter(|(shown, planned)| !is_same(shown.1, planned.1));
        let others: Vec<&str> = others.map(|(step, _)| step.0.as_str()).collect();
        if others.is_empty() {
            return None;
        }
        what = format!(
            "other contents of {} than were shown; the same command shows them",
            others.join(", ")
        );
    }
    Some(format!("InstallPlan {} installs {what}", name(&plan.metadata)))
}

/// The steps of a plan by name: their order says nothing about what is approved, and in v0 it is random.
fn planned(plan: &InstallPlan) -> Vec<Written<'_>> {
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let steps = steps.map(|step| {
        let resource = &step.resource;
        let manifest = resource.manifest.as_deref().unwrap_or_default();
        (format!("{}/{}", resource.kind, resource.name), manifest)
    });
    by_name(steps.collect())
}

fn shown(hop: &Hop) -> Vec<Written<'_>> {
    let manifests = hop.manifests.iter().map(String::as_str);
    by_name(hop.steps.iter().cloned().zip(manifests).collect())
}

fn by_name(mut steps: Vec<Written<'_>>) -> Vec<Written<'_>> {
    steps.sort_by(|a, b| a.0.cmp(&b.0));
    steps
}

fn is_same(shown: &str, planned: &str) -> bool {
    let values = || Some((comparable(shown)?, comparable(planned)?));
    shown == planned || values().is_some_and(|(shown, planned)| shown == planned)
}

/// Images of the plan that may hold something else than when they were shown.
#[must_use]
pub fn without_digest(plan: &InstallPlan) -> Vec<&str> {
    let lookups = plan.status.iter().flat_map(|status| &status.bundle_lookups);
    let images = lookups.map(|lookup| lookup.path.as_str());
    images.filter(|image| !image.contains('@')).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    const SECRET: &str = r#"{"kind": "Secret", "data": {"a": "MQ=="}}"#;
    const CSV: &str =
        r#"{"metadata": {"annotations": {"operatorframework.io/properties": "1", "b": "c"}}}"#;
    const REFERENCE: &str = r#"{"kind": "ConfigMap", "name": "a", "catalogSourceNamespace": "ns",
        "properties": "1"}"#;

    fn plan(steps: &[(&str, &str)]) -> InstallPlan {
        let step = |(name, manifest): &(&str, &str)| {
            json!({"resolving": "a.v1", "status": "Unknown", "resource": {"group": "", "version": "v1",
                "kind": "Secret", "name": name, "sourceName": "c", "sourceNamespace": "ns",
                "manifest": manifest}})
        };
        let steps: Vec<Value> = steps.iter().map(step).collect();
        from_value(json!({"metadata": {"name": "p"},
            "spec": {"approval": "Manual", "approved": false, "clusterServiceVersionNames": []},
            "status": {"phase": "RequiresApproval", "plan": steps,
                "bundleLookups": [{"path": "q.io/a:1"}, {"path": "q.io/b@sha256:0"}]}}))
        .unwrap()
    }

    fn hop(steps: &[(&str, &str)]) -> Hop {
        Hop {
            approval: "Manual",
            is_approved: false,
            bundles: Vec::new(),
            steps: steps.iter().map(|(name, _)| format!("Secret/{name}")).collect(),
            manifests: steps.iter().map(|(_, manifest)| (*manifest).to_owned()).collect(),
        }
    }

    #[rstest]
    #[case::same(&[("a", SECRET), ("b", CSV)], None)]
    #[case::other_order(&[("b", CSV), ("a", SECRET)], None)]
    #[case::fewer(&[("a", SECRET)], Some("something else than was shown"))]
    #[case::none(&[], Some("something else than was shown"))]
    #[case::more(&[("a", SECRET), ("b", CSV), ("c", "{}")], Some("something else than was shown"))]
    #[case::republished(&[("a", r#"{"kind": "Secret", "data": {"a": "Mg=="}}"#), ("b", CSV)],
        Some("other contents of Secret/a than were shown"))]
    fn only_what_was_shown_is_approved(
        #[case] steps: &[(&str, &str)],
        #[case] expected: Option<&str>,
    ) {
        let hops = [hop(&[("z", SECRET)]), hop(&[("a", SECRET), ("b", CSV)])];
        let found = difference(&plan(steps), &hops);
        let expected = expected.map(|text| format!("InstallPlan p installs {text}"));
        let found = found.as_deref().and_then(|text| text.split(';').next()).map(str::to_owned);
        assert_eq!(found, expected);
    }

    #[test]
    fn what_was_not_read_was_not_shown() {
        assert!(difference(&plan(&[]), &[hop(&[])]).is_some());
        assert!(difference(&plan(&[("a", SECRET)]), &[hop(&[])]).is_some());
    }

    #[rstest]
    #[case::form(SECRET, "{\"data\":{\"a\":\"MQ==\"},\"kind\":\"Secret\"}\n", true)]
    #[case::numbers(r#"{"a": 1.0}"#, r#"{"a": 1}"#, true)]
    #[case::value(r#"{"a": 1}"#, r#"{"a": 2}"#, false)]
    #[case::properties(CSV, r#"{"metadata": {"annotations": {"b": "c"}}}"#, true)]
    #[case::annotation(CSV, r#"{"metadata": {"annotations": {"b": "d"}}}"#, false)]
    #[case::reference(
        REFERENCE,
        r#"{"kind": "ConfigMap", "name": "a", "catalogSourceNamespace": "ns"}"#,
        true
    )]
    #[case::other_image(
        REFERENCE,
        r#"{"kind": "ConfigMap", "name": "b", "catalogSourceNamespace": "ns"}"#,
        false
    )]
    #[case::no_json("a", "b", false)]
    #[case::text("a", "a", true)]
    fn manifests_are_compared_by_what_they_say(
        #[case] shown: &str,
        #[case] planned: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(is_same(shown, planned), expected);
    }

    #[test]
    fn images_without_a_digest_may_change() {
        assert_eq!(without_digest(&plan(&[])), ["q.io/a:1"]);
    }
}
