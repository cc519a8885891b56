//! What a request asks for.

use std::collections::BTreeMap;

use super::resource::Kind;
use crate::callers::Access;

/// Longest names of a namespace and of an object, in bytes: Kubernetes has no longer ones.
const NAMESPACE: usize = 63;
const NAME: usize = 253;

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Whether the server lives; every caller may know.
    Alive,
    /// The groups that are served: one.
    Groups,
    /// The group.
    Group,
    /// The resources of the version.
    Resources,
    /// The old form of OpenAPI.
    OpenApi2,
    /// Where the new form of OpenAPI is.
    OpenApi3Index,
    /// The new form of OpenAPI.
    OpenApi3,
    /// Objects of a namespace, or of all.
    List(Option<String>),
    /// One object.
    Get {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A part of an object.
    Part {
        /// Namespace of the object.
        namespace: String,
        /// Name of the object.
        name: String,
        /// Name of the part.
        part: String,
    },
}

impl Target {
    /// Understands a path; nothing when it leads nowhere.
    pub(super) fn parse(path: &str, kind: &Kind) -> Option<Self> {
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        let rest = match segments.as_slice() {
            ["healthz" | "livez" | "readyz", ..] => return Some(Self::Alive),
            ["apis"] => return Some(Self::Groups),
            ["openapi", "v2"] => return Some(Self::OpenApi2),
            ["openapi", "v3"] => return Some(Self::OpenApi3Index),
            ["openapi", "v3", "apis", group, version] if is(kind, group, version) => {
                return Some(Self::OpenApi3);
            }
            ["apis", group] if *group == kind.group => return Some(Self::Group),
            ["apis", group, version, rest @ ..] if is(kind, group, version) => rest,
            _ => return None,
        };
        match rest {
            [] => Some(Self::Resources),
            [plural] if *plural == kind.plural => Some(Self::List(None)),
            ["namespaces", namespace, plural, object @ ..]
                if *plural == kind.plural && namespace.len() <= NAMESPACE =>
            {
                Self::in_namespace(namespace, object, kind)
            }
            _ => None,
        }
    }

    fn in_namespace(namespace: &str, object: &[&str], kind: &Kind) -> Option<Self> {
        let namespace = namespace.to_owned();
        if object.first().is_some_and(|name| name.len() > NAME) {
            return None;
        }
        match object {
            [] => Some(Self::List(Some(namespace))),
            [name] => Some(Self::Get { namespace, name: (*name).to_owned() }),
            [name, part] if kind.subresources.contains_key(part) => {
                Some(Self::Part { namespace, name: (*name).to_owned(), part: (*part).to_owned() })
            }
            _ => None,
        }
    }

    /// What a caller needs to be allowed; nothing for what every caller may.
    pub(super) fn access(&self, path: &str, kind: &Kind) -> Option<Access> {
        let (verb, namespace, name, part) = match self {
            Self::Alive => return None,
            Self::List(namespace) => ("list", namespace.clone(), None, None),
            Self::Get { namespace, name } => ("get", Some(namespace.clone()), Some(name), None),
            Self::Part { namespace, name, part } => {
                ("get", Some(namespace.clone()), Some(name), Some(part))
            }
            _ => return Some(Access::Path(path.to_owned())),
        };
        Some(Access::Objects {
            group: kind.group.to_owned(),
            version: kind.version.to_owned(),
            resource: kind.plural.to_owned(),
            subresource: part.cloned(),
            verb,
            namespace,
            name: name.cloned(),
        })
    }

    /// Whether it is about objects.
    pub(super) fn is_objects(&self) -> bool {
        matches!(self, Self::List(_) | Self::Get { .. } | Self::Part { .. })
    }
}

fn is(kind: &Kind, group: &str, version: &str) -> bool {
    group == kind.group && version == kind.version
}

/// Parameters behind the question mark; the first of a name counts.
pub(super) fn parameters(query: &str) -> BTreeMap<String, String> {
    let mut parameters = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        parameters.entry(decode(name)).or_insert_with(|| decode(value));
    }
    parameters
}

/// Percent-encoded text. What is not properly encoded stays as it is.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let encoded = (*first == b'%').then(|| others.split_at_checked(2)).flatten();
        let value = encoded.and_then(|(digits, left)| {
            let digits = std::str::from_utf8(digits).ok()?;
            Some((u8::from_str_radix(digits, 16).ok()?, left))
        });
        let (byte, left) = match value {
            Some(value) => value,
            None if *first == b'+' => (b' ', others),
            None => (*first, others),
        };
        bytes.push(byte);
        rest = left;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    pub(in crate::aggregated) fn kind() -> Kind {
        Kind {
            group: "g.io",
            version: "v1",
            kind: "Thing",
            plural: "things",
            singular: "thing",
            subresources: [("icon", &["image/png"][..])].into(),
            columns: Vec::new(),
            schema: json!({"type": "object"}),
        }
    }

    fn get(namespace: &str, name: &str) -> Target {
        Target::Get { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    #[rstest]
    #[case("/healthz", Some(Target::Alive))]
    #[case("/readyz/ping", Some(Target::Alive))]
    #[case("/apis", Some(Target::Groups))]
    #[case("/apis/", Some(Target::Groups))]
    #[case("/apis/g.io", Some(Target::Group))]
    #[case("/apis/other", None)]
    #[case("/apis/g.io/v1", Some(Target::Resources))]
    #[case("/apis/g.io/v2", None)]
    #[case("/apis/g.io/v1/things", Some(Target::List(None)))]
    #[case("/apis/g.io/v1/namespaces/a/things", Some(Target::List(Some("a".to_owned()))))]
    #[case("/apis/g.io/v1/namespaces/a/things/b", Some(get("a", "b")))]
    #[case("/apis/g.io/v1/namespaces/a/things/b/icon", Some(Target::Part {
        namespace: "a".to_owned(), name: "b".to_owned(), part: "icon".to_owned(),
    }))]
    #[case("/apis/g.io/v1/namespaces/a/things/b/status", None)]
    #[case("/openapi/v2", Some(Target::OpenApi2))]
    #[case("/openapi/v3", Some(Target::OpenApi3Index))]
    #[case("/openapi/v3/apis/g.io/v1", Some(Target::OpenApi3))]
    #[case("/", None)]
    fn paths(#[case] path: &str, #[case] expected: Option<Target>) {
        assert_eq!(Target::parse(path, &kind()), expected);
    }

    #[test]
    fn parts_need_rights_of_their_own() {
        let target = Target::parse("/apis/g.io/v1/namespaces/a/things/b/icon", &kind()).unwrap();
        let Some(Access::Objects { subresource, verb, name, .. }) = target.access("", &kind())
        else {
            panic!("no objects")
        };
        assert_eq!(
            (subresource.as_deref(), verb, name.as_deref()),
            (Some("icon"), "get", Some("b"))
        );
    }

    #[rstest]
    #[case("a=b&c", &[("a", "b"), ("c", "")])]
    #[case("labelSelector=x%3Dy%2Cz+w", &[("labelSelector", "x=y,z w")])]
    #[case("a=%zz%4", &[("a", "%zz%4")])]
    #[case("", &[])]
    fn parameters_are_decoded(#[case] query: &str, #[case] expected: &[(&str, &str)]) {
        let expected = expected.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        assert_eq!(parameters(query), expected.collect());
    }
}
