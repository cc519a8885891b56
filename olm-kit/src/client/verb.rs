//! The verb of a request, as RBAC and audit logs of Kubernetes name it.

use http::{Method, Uri};

/// The verb of requests whose answer does not end.
pub(super) const WATCH: &str = "watch";

/// Parts of a namespace that are not objects inside it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

/// The verb; paths that are no objects are got.
pub(super) fn verb(method: &Method, uri: &Uri) -> &'static str {
    let object = names_object(uri.path());
    match *method {
        Method::GET | Method::HEAD if is_watch(uri.query()) => WATCH,
        Method::GET | Method::HEAD if object == Some(false) => "list",
        Method::GET | Method::HEAD => "get",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if object == Some(false) => "deletecollection",
        Method::DELETE => "delete",
        _ => "other",
    }
}

/// Whether the path names one object, or all of a kind; nothing when it is about neither. The API
/// server may be behind a prefix.
fn names_object(path: &str) -> Option<bool> {
    let mut parts = path.split('/').skip_while(|part| *part != "api" && *part != "apis");
    let group = usize::from(parts.next()? == "apis");
    let parts: Vec<&str> = parts.skip(group + 1).filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [] => None,
        ["namespaces", _, part] if NAMESPACE_SUBRESOURCES.contains(part) => Some(true),
        ["namespaces", _, _kind, rest @ ..] => Some(!rest.is_empty()),
        [_kind, rest @ ..] => Some(!rest.is_empty()),
    }
}

fn is_watch(query: Option<&str>) -> bool {
    let parameters = query.unwrap_or_default().split('&');
    parameters.into_iter().any(|parameter| matches!(parameter, "watch=true" | "watch=1"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("GET", "/api/v1/pods?limit=500", "list")]
    #[case("GET", "/api/v1/pods?&watch=true&timeoutSeconds=290", "watch")]
    #[case("GET", "/api/v1/namespaces", "list")]
    #[case("GET", "/api/v1/namespaces/a", "get")]
    #[case("PUT", "/api/v1/namespaces/a/finalize", "update")]
    #[case("GET", "/api/v1/namespaces/a/status", "get")]
    #[case("GET", "/api/v1/namespaces/a/pods", "list")]
    #[case("GET", "/api/v1/namespaces/a/pods/b/log", "get")]
    #[case("DELETE", "/api/v1/namespaces/a/pods/b", "delete")]
    #[case("DELETE", "/api/v1/namespaces/a/pods", "deletecollection")]
    #[case("GET", "/apis/apps/v1/deployments", "list")]
    #[case("PATCH", "/apis/apps/v1/namespaces/a/deployments/b", "patch")]
    #[case("GET", "/k8s/clusters/x/apis/apps/v1/namespaces/a/deployments/b", "get")]
    #[case("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "create")]
    #[case("GET", "/version", "get")]
    #[case("GET", "/apis", "get")]
    #[case("GET", "/apis/apps/v1", "get")]
    #[case("OPTIONS", "/", "other")]
    fn verbs(#[case] method: &str, #[case] uri: &str, #[case] expected: &str) {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        assert_eq!(verb(&method, &uri.parse().unwrap()), expected);
    }
}
