//! What a removal has taken away, and what stays.

use olm_plan::preview::{Action, Change, Preview};

use super::{Operands, deleted_csvs};

/// What a removal has taken away, and what stays: one line each.
#[must_use]
pub fn report(preview: &Preview, operands: Operands, is_dry: bool) -> String {
    let done = if is_dry { "would be deleted" } else { "deleted" };
    let mut text = format!("Subscription {} {done}\n", preview.subscription);
    for csv in deleted_csvs(preview) {
        text.push_str(&format!("ClusterServiceVersion {csv} {done}\n"));
    }
    for hooks in webhooks(preview) {
        text.push_str(&format!("{} {}: OLM deletes it\n", hooks.kind, hooks.name));
    }
    let count = preview.operands.len();
    match operands {
        Operands::Delete => text.push_str(&format!("{count} custom resources {done}\n")),
        _ if count > 0 => text.push_str(&format!("{count} custom resources stay\n")),
        _ => {}
    }
    for crd in &preview.crds {
        let name = &crd.name;
        text.push_str(&format!(
            "CRD {name} stays: deleting it deletes the custom resources of all namespaces\n"
        ));
    }
    for name in &preview.unused {
        text.push_str(&format!("Subscription {name} is needed by nothing else; it stays\n"));
    }
    text
}

/// The webhook configurations of the CSVs, which olm-operator takes away with them.
fn webhooks(preview: &Preview) -> impl Iterator<Item = &Change> {
    preview.changes.iter().filter(|change| {
        change.action == Action::Delete && change.group == "admissionregistration.k8s.io"
    })
}

#[cfg(test)]
mod tests {
    use olm_plan::preview::CrdVerdict;

    use super::*;

    fn gone(group: &str, kind: &str, name: &str) -> Change {
        Change {
            action: Action::Delete,
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
            fields: Vec::new(),
            contents: String::new(),
            not_checked: None,
        }
    }

    #[test]
    fn a_report_names_what_goes_and_what_stays() {
        let hooks = "admissionregistration.k8s.io";
        let preview = Preview {
            subscription: "kettle".to_owned(),
            changes: vec![
                gone("operators.coreos.com", "ClusterServiceVersion", "kettle.v1"),
                gone(hooks, "ValidatingWebhookConfiguration", "vkettle-x"),
                gone(hooks, "MutatingWebhookConfiguration", "mkettle-y"),
                gone("", "Service", "kettle-service"),
            ],
            crds: vec![CrdVerdict {
                name: "kettles.example.com".to_owned(),
                verdict: "stays",
                detail: String::new(),
                custom_resources: Some(1),
            }],
            operands: vec!["Kettle ns/mine".to_owned()],
            unused: vec!["stove".to_owned()],
            ..Preview::default()
        };
        let expected = "\
Subscription kettle deleted
ClusterServiceVersion kettle.v1 deleted
ValidatingWebhookConfiguration vkettle-x: OLM deletes it
MutatingWebhookConfiguration mkettle-y: OLM deletes it
1 custom resources stay
CRD kettles.example.com stays: deleting it deletes the custom resources of all namespaces
Subscription stove is needed by nothing else; it stays
";
        assert_eq!(report(&preview, Operands::Keep, false), expected);
        let dry = report(&preview, Operands::Delete, true);
        assert!(dry.contains("1 custom resources would be deleted\n"), "{dry}");
    }
}
