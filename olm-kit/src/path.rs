//! Paths of the Kubernetes API.
//!
//! Groups, namespaces and names may come from a catalog. They are put into a path only after every
//! character has been checked, so that no text can lead a request elsewhere.

use olm_effect::{Refusal, Resource};

/// Path of all objects of a kind, in one namespace where there is one.
pub(crate) fn collection(resource: &Resource, namespace: Option<&str>) -> Result<String, Refusal> {
    let version = segment("API version", &resource.version)?;
    let root = match resource.group.as_str() {
        "" => format!("/api/{version}"),
        group => format!("/apis/{}/{version}", segment("API group", group)?),
    };
    let plural = segment("plural", &resource.plural)?;
    Ok(match namespace {
        Some(namespace) => {
            format!("{root}/namespaces/{}/{plural}", segment("namespace", namespace)?)
        }
        None => format!("{root}/{plural}"),
    })
}

/// A text that may come from a catalog, as one segment of a path. Every character that a name may
/// have in Kubernetes stands for itself; anything else could lead the request elsewhere.
pub(crate) fn segment<'t>(what: &str, text: &'t str) -> Result<&'t str, Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._:@*+=~,()!$'".contains(c);
    let traversal = matches!(text, "" | "." | "..");
    if traversal || !text.chars().all(plain) {
        return Err(invalid(format!("invalid {what} {text:?}")));
    }
    Ok(text)
}

/// The refusal of a request that cannot be sent.
pub(crate) fn invalid(message: String) -> Refusal {
    Refusal { code: 422, reason: "Invalid".to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(group: &str, plural: &str, namespace: Option<&str>) -> Result<String, String> {
        let resource = Resource::new(group, "v1", "Kind", plural);
        collection(&resource, namespace).map_err(|refusal| refusal.message)
    }

    #[rstest::rstest]
    #[case("", "pods", Some("ns"), "/api/v1/namespaces/ns/pods")]
    #[case("", "nodes", None, "/api/v1/nodes")]
    #[case("apps", "deployments", Some("ns"), "/apis/apps/v1/namespaces/ns/deployments")]
    fn collections(
        #[case] group: &str,
        #[case] plural: &str,
        #[case] namespace: Option<&str>,
        #[case] expected: &str,
    ) {
        assert_eq!(path(group, plural, namespace).as_deref(), Ok(expected));
    }

    #[rstest::rstest]
    #[case("a/b", "pods", None, "invalid API group \"a/b\"")]
    #[case("", "", None, "invalid plural \"\"")]
    #[case("", "pods", Some(".."), "invalid namespace \"..\"")]
    #[case("", "pods#x", None, "invalid plural \"pods#x\"")]
    #[case("", "p\u{e4}ds", None, "invalid plural \"p\u{e4}ds\"")]
    fn hostile_texts(
        #[case] group: &str,
        #[case] plural: &str,
        #[case] namespace: Option<&str>,
        #[case] expected: &str,
    ) {
        assert_eq!(path(group, plural, namespace), Err(expected.to_owned()));
    }
}
