//! A layer that lets no name lead a request elsewhere.
//!
//! Names in paths may come from a status, a manifest or a spec of any user: of a ServiceAccount, a ConfigMap, a
//! pull secret. kube puts them into paths as they are, so `x/token?` asks for a token, `..` may mean something
//! to a proxy before the API server, and `?watch=true` makes an answer of a read that never ends.

use http::{Request, Response, Uri};
use kube::client::Body;
use tower::BoxError;

use super::rule::{ResponseFuture, Rule, RuleLayer};
use crate::path::segment;

/// What requests to an API server are refined by; nothing else comes from here.
const PARAMETERS: [&str; 14] = [
    "allowWatchBookmarks",
    "continue",
    "dryRun",
    "fieldManager",
    "fieldSelector",
    "force",
    "labelSelector",
    "limit",
    "pretty",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
];

/// A request was not sent.
#[derive(Debug, thiserror::Error)]
#[error(
    "a name leads the request elsewhere: {path:?} is no path of an object; a name has letters, digits, \
     \"-\" and \".\""
)]
pub(super) struct UnexpectedPath {
    path: String,
}

/// Sends requests whose paths are made of names alone.
pub(super) type PathGuardLayer = RuleLayer<PathGuard>;

impl PathGuardLayer {
    pub(super) fn new() -> Self {
        Self(PathGuard)
    }
}

/// Paths are made of names alone.
#[derive(Clone)]
pub(super) struct PathGuard;

impl Rule for PathGuard {
    fn call<F, B, E>(
        &self,
        request: Request<Body>,
        send: impl FnOnce(Request<Body>) -> F,
    ) -> ResponseFuture<B>
    where
        F: Future<Output = Result<Response<B>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        if !is_object_path(request.uri()) {
            let path = request.uri().path().chars().take(MOST_SHOWN).collect();
            return Box::pin(async { Err(UnexpectedPath { path }.into()) });
        }
        let call = send(request);
        Box::pin(async { call.await.map_err(Into::into) })
    }
}

/// Most characters of a path that an error repeats.
const MOST_SHOWN: usize = 200;

fn is_object_path(uri: &Uri) -> bool {
    let path = uri.path().strip_prefix('/').unwrap_or_default();
    let is_name = |part: &str| segment("name", part).is_ok();
    let is_known = |parameter: &str| {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        key.is_empty() || PARAMETERS.contains(&key) && !value.contains(['?', '/'])
    };
    path.split('/').all(is_name) && uri.query().unwrap_or_default().split('&').all(is_known)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use tower::{Layer, ServiceExt};

    use super::*;

    #[rstest]
    #[case::object("/api/v1/namespaces/a/pods/b", true)]
    #[case::role("/apis/rbac.authorization.k8s.io/v1/clusterroles/system:auth-delegator", true)]
    #[case::kinds("/apis/apps/v1", true)]
    #[case::version("/version", true)]
    #[case::list("/api/v1/pods?&limit=500&continue=ab%2Fc%3D&labelSelector=a%3Db%2Fc", true)]
    #[case::watch("/api/v1/pods?&watch=true&timeoutSeconds=290&allowWatchBookmarks=true", true)]
    #[case::write("/api/v1/namespaces/a/pods?fieldManager=olm", true)]
    #[case::token("/api/v1/namespaces/a/serviceaccounts/b/token?", true)]
    #[case::a_subresource_of_another("/api/v1/namespaces/a/serviceaccounts/b/token?/token?", false)]
    #[case::up("/api/v1/namespaces/a/configmaps/../../olm/secrets/key", false)]
    #[case::here("/api/v1/namespaces/a/configmaps/.", false)]
    #[case::no_name("/api/v1/namespaces/olm/secrets/?watch=true", false)]
    #[case::escaped("/api/v1/namespaces/a/configmaps/%2e%2e%2fsecrets", false)]
    #[case::unknown("/api/v1/namespaces/a/configmaps/b?x=y", false)]
    #[tokio::test]
    async fn requests_go_where_their_paths_say(#[case] uri: &str, #[case] sent: bool) {
        let server =
            tower::service_fn(|_: Request<Body>| async { Ok::<_, BoxError>(Response::new(())) });
        let service = PathGuardLayer::new().layer(server);
        let request = Request::get(uri).body(Body::empty()).unwrap();
        assert_eq!(service.oneshot(request).await.is_ok(), sent);
    }
}
