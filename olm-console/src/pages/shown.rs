//! A plan as pages show it: what comes with it and why, rights with escalations in front, and every object.

use olm_plan::preview::change::Field;
use olm_plan::preview::permissions::right;
use olm_plan::preview::{Change, CrdVerdict, Preview};
use serde_json::Value;

use super::bounds::Budget;

/// Fields of one object that are shown.
const FIELDS: usize = 12;

/// Objects that are shown.
const OBJECTS: usize = 200;

/// Lines of one list that are shown.
const LINES: usize = 500;

/// Bytes of all lists, and of all objects: a page has 150 KiB at most.
const LISTED: usize = 64 * 1024;
const CHANGED: usize = 48 * 1024;

/// Bytes of markup around a line of a list, and around an object.
const LINE_MARKUP: usize = 10;
const OBJECT_MARKUP: usize = 110;
const FIELD_MARKUP: usize = 23;

/// A preview, ready to be written.
pub(super) struct Shown {
    pub(super) preview: Preview,
    pub(super) lists: Vec<(&'static str, Vec<String>)>,
    pub(super) objects: Vec<Object>,
    pub(super) more: usize,
    /// What a user would write, as YAML.
    pub(super) manifests: String,
}

/// An object that changes.
pub(super) struct Object {
    pub(super) mark: &'static str,
    pub(super) place: String,
    pub(super) not_checked: bool,
    pub(super) fields: Vec<String>,
    pub(super) more: usize,
}

/// A preview as a page shows it.
pub(super) fn shown(preview: Preview) -> Shown {
    let reason = |(name, why): (&String, &String)| format!("{name}: {why}");
    let rights = &preview.rights;
    // Those that reach further than they look come first.
    let mut gained: Vec<String> = rights.gained.iter().map(right).collect();
    gained.sort_by_key(|line| !line.starts_with('!'));
    let lists = vec![
        ("Problems", preview.problems.clone()),
        ("The same approval approves", preview.also_approved.clone()),
        ("Refused", preview.refused.iter().map(reason).collect()),
        ("Held back", preview.blocked.iter().map(reason).collect()),
        ("Reaches beyond the operator", rights.reaches.iter().cloned().collect()),
        ("Rights gained; those with ! reach further than they look", gained),
        ("Rights lost", rights.lost.iter().map(right).collect()),
        ("CRDs", preview.crds.iter().map(CrdVerdict::line).collect()),
        ("Custom resources", preview.operands.clone()),
        ("Subscriptions that nothing else needs", preview.unused.clone()),
        ("New images", preview.images.gained.clone()),
        ("Images no longer used", preview.images.lost.clone()),
        ("Notes of the plan", preview.notes.clone()),
    ];
    let lists = lists.into_iter().filter(|(_, lines): &(_, Vec<String>)| !lines.is_empty());
    let (mut listed, mut changed) = (Budget::new(LISTED), Budget::new(CHANGED));
    let objects = preview.changes.iter().take(OBJECTS).map(object);
    let objects: Vec<Object> = objects.take_while(|object| object.fits(&mut changed)).collect();
    Shown {
        lists: lists.map(|(title, lines)| (title, bounded(lines, &mut listed))).collect(),
        more: preview.changes.len().saturating_sub(objects.len()),
        objects,
        manifests: documents(&preview.manifests),
        preview,
    }
}

/// Objects as YAML, the documents of one text: to be copied, or to be changed.
pub(super) fn documents(objects: &[Value]) -> String {
    let texts = objects
        .iter()
        .map(|object| yaml_serde::to_string(object).unwrap_or_else(|_| format!("{object:#}\n")));
    texts.collect::<Vec<_>>().join("---\n")
}

/// The lines that fit.
fn bounded(mut lines: Vec<String>, budget: &mut Budget) -> Vec<String> {
    let fits = |line: &&String| budget.holds(LINE_MARKUP, &[line.as_str()]);
    let fitting = lines.iter().take(LINES).take_while(fits).count();
    let more = lines.len().saturating_sub(fitting);
    if more > 0 {
        lines.truncate(fitting);
        lines.push(format!("and {more} more"));
    }
    lines
}

impl Object {
    fn fits(&self, budget: &mut Budget) -> bool {
        let mut texts = vec![self.place.as_str()];
        texts.extend(self.fields.iter().map(String::as_str));
        budget.holds(OBJECT_MARKUP + FIELD_MARKUP * self.fields.len(), &texts)
    }
}

fn object(change: &Change) -> Object {
    let Change { action, fields, .. } = change;
    Object {
        mark: action.mark(),
        place: change.place(),
        not_checked: change.not_checked.is_some(),
        fields: fields.iter().take(FIELDS).filter_map(Field::line).collect(),
        more: fields.len().saturating_sub(FIELDS),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::rbac::v1::PolicyRule;
    use olm_plan::preview::permissions::{Right, Rights};
    use olm_plan::preview::result::Images;
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_bounded_and_empty_ones_left_out() {
        let images: Vec<String> = (0..LINES + 2).map(|number| format!("i{number}")).collect();
        let images = Images { gained: images, ..Images::default() };
        let preview = Preview { images, ..Preview::default() };
        let found = shown(preview);
        let [(title, lines)] = found.lists.as_slice() else { panic!("{:?}", found.lists) };
        assert_eq!((*title, lines.len()), ("New images", LINES + 1));
        assert_eq!(lines.last().map(String::as_str), Some("and 2 more"));
    }

    #[test]
    fn escalations_come_first_and_crds_have_verdicts() {
        let gained = |account: &str, escalations: &[&str]| Right {
            account: account.to_owned(),
            scope: "cluster".to_owned(),
            rule: PolicyRule::default(),
            escalations: escalations.iter().map(|&one| one.to_owned()).collect(),
        };
        let gained = vec![gained("a", &[]), gained("b", &["reads Secrets"])];
        let crd = CrdVerdict {
            name: "kettles.example.com".to_owned(),
            verdict: "compatible",
            detail: String::new(),
            custom_resources: Some(2),
        };
        let rights = Rights { gained, ..Rights::default() };
        let found = shown(Preview { rights, crds: vec![crd], ..Preview::default() });
        let [(_, rights), (title, crds)] = found.lists.as_slice() else {
            panic!("{:?}", found.lists)
        };
        assert!(rights[0].starts_with("! b in cluster"), "{rights:?}");
        assert!(rights[1].starts_with("  a in cluster"), "{rights:?}");
        let expected = "kettles.example.com compatible (2 custom resources)".to_owned();
        assert_eq!((*title, crds), ("CRDs", &vec![expected]));
    }

    #[test]
    fn objects_are_documents() {
        let text = documents(&[json!({"kind": "A"}), json!({"kind": "B"})]);
        assert_eq!(text, "kind: A\n---\nkind: B\n");
        assert_eq!(documents(&[]), "");
    }

    #[test]
    fn all_lists_and_objects_together_are_bounded() {
        let long = |number: usize| format!("{number} {}", "&".repeat(1000));
        let texts: Vec<String> = (0..100).map(long).collect();
        let object = |number: usize| Object {
            mark: "+",
            place: long(number),
            not_checked: false,
            fields: texts.clone(),
            more: 0,
        };
        let mut budget = Budget::new(LISTED);
        let [first, second] = [(); 2].map(|()| bounded(texts.clone(), &mut budget));
        let last = |lines: &[String]| lines.last().cloned().unwrap_or_default();
        assert_eq!((first.len(), last(&first)), (14, "and 87 more".to_owned()));
        assert_eq!(second, ["and 100 more"]);
        assert!(!object(0).fits(&mut Budget::new(CHANGED)));
    }
}
