//! Every page of clusters that are not as they should be.

use http_body_util::BodyExt;
use kube::Client;
use olm_client::reading::Reading;
use serde_json::{Value, json};

use super::*;

/// What every page looks at.
const ALL: [Page; 6] =
    [Page::Catalog, Page::Installed, Page::AllInstalled, Page::Operator, Page::Plan, Page::Health];

/// Kinds that are there; of all others there is none.
const SERVED: [&str; 4] =
    ["subscriptions", "clusterserviceversions", "installplans", "catalogsources"];

/// A user of an API server that has what is known of a path, and otherwise answers with a code.
fn user(code: u16, known: fn(&str) -> Option<Value>) -> Identity {
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let found = known(request.uri().path());
        async move {
            let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {},
                "status": "Failure", "reason": "No", "message": "no", "code": code});
            let code = if found.is_some() { 200 } else { code };
            let body = Body::from(found.unwrap_or(status).to_string());
            let answer = http::Response::builder().status(code).body(body).unwrap();
            Ok::<_, std::io::Error>(answer)
        }
    });
    let (identity, _) = Identity::for_tests();
    let cluster = Cluster { client: Client::new(service, "ns"), ..identity.cluster.clone() };
    Identity { cluster, ..identity }
}

/// A Subscription, and no more than half of the kinds.
fn half(path: &str) -> Option<Value> {
    let kind = SERVED.iter().find(|kind| path.ends_with(&format!("/{kind}")))?;
    let subscription = json!({"metadata": {"name": "kettle", "namespace": "ns"},
        "spec": {"name": "kettle", "source": "kitchen", "sourceNamespace": "ns"}});
    let items = if *kind == "subscriptions" { vec![subscription] } else { Vec::new() };
    Some(json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}))
}

fn nothing(_: &str) -> Option<Value> {
    None
}

/// What is shown.
async fn text(identity: &Identity, page: Page) -> String {
    let console = Console {
        cluster: identity.cluster.clone(),
        reading: Reading::default(),
        flags: Vec::new(),
    };
    let context = PageContext::new(console, Live::new(None));
    let name = (page == Page::Operator).then(|| "kettle".to_owned());
    let params = Params { name, ..Params::default() };
    let response = read(&context, identity, page, &params).await;
    assert_eq!(response.status(), StatusCode::OK, "{page:?}");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn where_half_of_the_kinds_are_missing_the_rest_is_shown() {
    let identity = user(404, half);
    for (page, parts) in [
        (Page::Catalog, ["the packages API cannot be read", "id=\"search\""]),
        (Page::Installed, [">kettle</a>", "cannot read packagemanifests: the cluster has no"]),
        (Page::AllInstalled, [">kettle</a>", "cannot read packagemanifests: the cluster has no"]),
        (Page::Operator, ["Subscription kettle", "cannot read pods: the cluster has no such kind"]),
        (Page::Plan, ["waits for an approval", "cannot read packagemanifests"]),
        (Page::Health, ["Not looked at", "OLM021"]),
    ] {
        let text = text(&identity, page).await;
        for part in parts {
            assert!(text.contains(part), "{page:?} without {part}: {text}");
        }
    }
}

#[tokio::test]
async fn where_olm_is_missing_every_page_says_so() {
    let identity = user(404, nothing);
    for page in ALL {
        let text = text(&identity, page).await;
        assert!(text.contains("OLM is not installed"), "{page:?}: {text}");
    }
}

#[tokio::test]
async fn a_token_that_has_expired_is_named_on_every_page() {
    let identity = user(401, nothing);
    for page in ALL {
        let text = text(&identity, page).await;
        assert!(text.contains("not signed in"), "{page:?}: {text}");
    }
}
