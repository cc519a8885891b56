//! What was shown beside what was done.

use std::collections::BTreeSet;

use serde_json::Value;

use super::observed_writes::ObservedWrites;

/// What stands for the part of a name that an API server makes up.
const MADE_UP: char = '*';

/// How a line ends about what was shown, and not done.
const NOT_DONE: &str = " was shown, and not done";

/// How a line ends about what was done, and not shown.
const NOT_SHOWN: &str = " was done, and not shown";

/// Lines for what differs; none when all is as shown. `plan` is what `kubectl olm plan -o json` prints.
#[must_use]
pub fn differences(plan: &Value, seen: &ObservedWrites) -> Vec<String> {
    let shown = |action: &str| -> BTreeSet<String> {
        let changes = plan["changes"].as_array().into_iter().flatten();
        changes.filter(|change| change["action"] == action).map(object).collect()
    };
    let mut lines = compare("created", &shown("Create"), &seen.created);
    lines.extend(compare("changed", &shown("Change"), &seen.changed));
    lines.extend(compare("replaced", &shown("Replace"), &seen.replaced));
    lines.extend(compare("deleted", &shown("Delete"), &seen.deleted));
    for (place, action) in ["Create", "Delete"].into_iter().enumerate() {
        let copies = plan["copies"].as_array().into_iter().flatten();
        let count: u64 = copies
            .filter(|one| one["action"] == action)
            .filter_map(|one| one["namespaces"].as_u64())
            .sum();
        let done = seen.copies[place] as u64;
        if count != done {
            lines.push(format!("copies: {action} of {count} was shown, {done} was done"));
        }
    }
    lines
}

/// Whether a line is about an object that was to go, for good or until it is made anew, and is there.
#[must_use]
pub fn is_to_be_collected(line: &str) -> bool {
    let goes = ["deleted: ", "replaced: "].iter().any(|what| line.starts_with(what));
    goes && is_missing(line)
}

/// Whether a line is about something that was shown, and not done.
#[must_use]
pub fn is_missing(line: &str) -> bool {
    line.ends_with(NOT_DONE)
}

/// Whether a line is about something that was done, and not shown.
#[must_use]
pub fn is_more(line: &str) -> bool {
    line.ends_with(NOT_SHOWN)
}

/// The object of a line that says that it was changed, and not shown so: whether it has other contents is not known
/// by the audit log.
#[must_use]
pub fn written_again(line: &str) -> Option<&str> {
    line.strip_prefix("changed: ")?.strip_suffix(NOT_SHOWN)
}

/// The object that a line is about; none of a line about copies of CSVs.
#[must_use]
pub fn object_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(": ")?;
    rest.strip_suffix(NOT_DONE).or_else(|| rest.strip_suffix(NOT_SHOWN))
}

/// Objects as the audit log names them, of all changes that a plan shows.
#[must_use]
pub fn shown_objects(plan: &Value) -> BTreeSet<String> {
    plan["changes"].as_array().into_iter().flatten().map(object).collect()
}

/// `RESOURCE NAMESPACE/NAME` of a change.
fn object(change: &Value) -> String {
    let text = |field: &str| change[field].as_str().unwrap_or_default();
    let resource = plural(text("kind"));
    match text("namespace") {
        "" => format!("{resource} {}", text("name")),
        namespace => format!("{resource} {namespace}/{}", text("name")),
    }
}

/// The resource of a kind, by the rule that names of Kubernetes follow.
fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ if lower.ends_with('s') => lower + "es",
        _ => lower + "s",
    }
}

fn compare(what: &str, shown: &BTreeSet<String>, done: &BTreeSet<String>) -> Vec<String> {
    let fits = |one: &str, other: &str| match one.split_once(MADE_UP) {
        Some((start, _)) => other.starts_with(start) || is_unnamed(other, one),
        None => one == other,
    };
    let missing = shown.iter().filter(|one| !done.iter().any(|other| fits(one, other)));
    let missing = missing.map(|one| format!("{what}: {one}{NOT_DONE}"));
    let more = done.iter().filter(|one| !shown.iter().any(|other| fits(other, one)));
    let more = more.map(|one| format!("{what}: {one}{NOT_SHOWN}"));
    missing.chain(more).collect()
}

/// The audit log has no name for an object whose name the API server makes up.
fn is_unnamed(done: &str, shown: &str) -> bool {
    let resource = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    (done.ends_with(' ') || done.ends_with('/'))
        && shown.contains(MADE_UP)
        && resource(done) == resource(shown)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("Service", "services")]
    #[case("NetworkPolicy", "networkpolicies")]
    #[case("Ingress", "ingresses")]
    #[case("Gateway", "gateways")]
    #[case("OLMConfig", "olmconfigs")]
    fn resources_are_named_after_kinds(#[case] kind: &str, #[case] expected: &str) {
        assert_eq!(plural(kind), expected);
    }

    #[test]
    fn each_difference_is_a_line() {
        let change = |action: &str, kind: &str, name: &str| {
            json!({"action": action, "group": "",
            "kind": kind, "namespace": "ns", "name": name})
        };
        let plan = json!({"changes": [change("Create", "Service", "a"), change("Create", "Role", "r"),
            change("Change", "Service", "b")], "copies": [{"action": "Create", "csv": "c", "namespaces": 2}]});
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let seen = ObservedWrites {
            created: set(&["services ns/a", "secrets ns/s"]),
            changed: set(&["services ns/b"]),
            deleted: set(&[]),
            replaced: set(&[]),
            copies: [1, 0],
        };
        assert_eq!(
            differences(&plan, &seen),
            [
                "created: roles ns/r was shown, and not done",
                "created: secrets ns/s was done, and not shown",
                "copies: Create of 2 was shown, 1 was done",
            ]
        );
        let none = ObservedWrites::default();
        let gone = json!({"changes": [change("Delete", "Service", "a"),
            change("Replace", "Secret", "s"), change("Create", "Role", "r")]});
        let lines = differences(&gone, &none);
        assert_eq!(lines.iter().filter(|line| is_to_be_collected(line)).count(), 2, "{lines:?}");
    }

    #[rstest]
    #[case("created: roles ns/r was shown, and not done", Some("roles ns/r"), None)]
    #[case("changed: roles r was done, and not shown", Some("roles r"), Some("roles r"))]
    #[case("copies: Create of 2 was shown, 1 was done", None, None)]
    fn a_line_names_its_object(
        #[case] line: &str,
        #[case] object: Option<&str>,
        #[case] again: Option<&str>,
    ) {
        assert_eq!((object_of(line), written_again(line)), (object, again));
        assert_eq!(is_more(line) || is_missing(line), object.is_some());
    }

    #[test]
    fn a_made_up_name_fits_by_its_start() {
        let shown: BTreeSet<String> = ["hooks a-*".to_owned()].into();
        assert_eq!(compare("created", &shown, &["hooks a-x7k2p".to_owned()].into()), [""; 0]);
        assert_eq!(compare("created", &shown, &["hooks ".to_owned()].into()), [""; 0]);
        assert_eq!(compare("created", &shown, &["hooks b-x7k2p".to_owned()].into()).len(), 2);
        assert_eq!(compare("created", &shown, &["others ".to_owned()].into()).len(), 2);
    }
}
