//! A cluster for tests: an API server that knows some answers.

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use crate::catalogs::{Cache, Folders, Route};
use crate::cluster::{Cluster, Remembered};
use crate::notices::Notices;

/// A cluster whose API server has what is known of an address, and nothing else.
pub(crate) fn cluster(known: impl Fn(&str) -> Option<Value> + Send + 'static) -> Cluster {
    let missing = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "reason": "NotFound", "message": "no", "code": 404});
    let service = tower::service_fn(move |request: Request<Body>| {
        let found = known(&request.uri().to_string());
        let code = if found.is_some() { 200_u16 } else { 404 };
        let body = found.as_ref().unwrap_or(&missing).to_string().into_bytes();
        let answer = Response::builder().status(code).body(Body::from(body)).unwrap();
        async move { Ok::<_, std::io::Error>(answer) }
    });
    Cluster {
        client: Client::new(service, "ns"),
        namespace: "ns".to_owned(),
        is_named: false,
        server: String::new(),
        cache: Cache::default(),
        folders: Folders::default(),
        timeout: None,
        notices: Notices::new(|_| {}),
        route: Route::default(),
        remembered: Remembered::default(),
    }
}
