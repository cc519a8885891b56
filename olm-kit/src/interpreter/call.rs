//! One HTTP request per effect.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request};
use kube::Client;
use kube::client::Body;
use olm_effect::{Action, Propagation, Refusal, Subresource, Target};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::response::ApiResponse;
use crate::path::{collection, invalid, segment};

const JSON: &str = "application/json";

/// A request that is ready to be sent.
#[derive(Debug)]
pub(super) struct Call {
    method: Method,
    path: String,
    content_type: &'static str,
    body: Vec<u8>,
    /// Name of the object, to distinguish its absence from the absence of its kind or namespace.
    name: String,
}

impl Call {
    /// The request for `action` on `target`.
    pub(super) fn new(target: &Target, action: &Action, manager: &str) -> Result<Self, Refusal> {
        let (method, content_type) = match action {
            Action::Create(_) | Action::Event(_) => (Method::POST, JSON),
            Action::Replace { .. } | Action::Status { .. } => (Method::PUT, JSON),
            Action::MergePatch { .. } => (Method::PATCH, "application/merge-patch+json"),
            Action::StrategicPatch { .. } => {
                (Method::PATCH, "application/strategic-merge-patch+json")
            }
            Action::Apply { .. } => (Method::PATCH, "application/apply-patch+yaml"),
            Action::Delete { .. } => (Method::DELETE, JSON),
        };
        let path = path(target, action, manager)?;
        let body = body(action).map_err(|error| invalid(error.to_string()))?;
        Ok(Self { method, path, content_type, body, name: target.name.clone() })
    }

    /// Sends the request, under the identity of `token` where there is one.
    pub(super) async fn send(
        self,
        client: &Client,
        token: Option<&str>,
    ) -> Result<ApiResponse, Refusal> {
        let name = self.name.clone();
        let request = self.request(token).map_err(|error| invalid(error.to_string()))?;
        ApiResponse::read(client.send(request).await, name).await
    }

    fn request(self, token: Option<&str>) -> Result<Request<Body>, http::Error> {
        let mut request = Request::builder()
            .method(self.method)
            .uri(self.path)
            .header(ACCEPT, JSON)
            .header(CONTENT_TYPE, self.content_type);
        if let Some(token) = token {
            let mut bearer = HeaderValue::try_from(format!("Bearer {token}"))?;
            bearer.set_sensitive(true);
            request = request.header(AUTHORIZATION, bearer);
        }
        request.body(Body::from(self.body))
    }
}

fn body(action: &Action) -> serde_json::Result<Vec<u8>> {
    match action {
        Action::Create(object) | Action::Replace { object, .. } | Action::Apply { object, .. } => {
            serde_json::to_vec(object)
        }
        Action::Status { object, .. } => serde_json::to_vec(&WithoutSpec(object)),
        Action::MergePatch { patch, .. } | Action::StrategicPatch { patch, .. } => {
            serde_json::to_vec(patch)
        }
        Action::Delete { uid, propagation, grace_seconds } => {
            serde_json::to_vec(&delete_options(uid.as_deref(), *propagation, *grace_seconds))
        }
        Action::Event(_) => serde_json::to_vec(&Value::Null),
    }
}

/// An object without its spec, which an API server leaves as it is when a status is put; that of a CSV may be
/// a hundred times as large as its status.
struct WithoutSpec<'a>(&'a Value);

impl Serialize for WithoutSpec<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => {
                serializer.collect_map(fields.iter().filter(|(name, _)| *name != "spec"))
            }
            other => other.serialize(serializer),
        }
    }
}

fn delete_options(uid: Option<&str>, propagation: Propagation, grace: Option<u32>) -> Value {
    let policy = match propagation {
        Propagation::Background => "Background",
        Propagation::Foreground => "Foreground",
        Propagation::Orphan => "Orphan",
    };
    let mut options = Map::new();
    options.insert("apiVersion".to_owned(), "v1".into());
    options.insert("kind".to_owned(), "DeleteOptions".into());
    options.insert("propagationPolicy".to_owned(), policy.into());
    if let Some(uid) = uid {
        options.insert("preconditions".to_owned(), json!({ "uid": uid }));
    }
    if let Some(grace) = grace {
        options.insert("gracePeriodSeconds".to_owned(), grace.into());
    }
    Value::Object(options)
}

/// Path and query of the request.
fn path(target: &Target, action: &Action, manager: &str) -> Result<String, Refusal> {
    let collection = collection(&target.resource, target.namespace.as_deref())?;
    let object = || Ok(format!("{collection}/{}", segment("name", &target.name)?));
    let managed =
        |manager: &str| Ok(format!("fieldManager={}", segment("field manager", manager)?));
    Ok(match action {
        Action::Create(_) | Action::Event(_) => format!("{collection}?{}", managed(manager)?),
        Action::Delete { .. } => object()?,
        Action::Apply { manager, force, .. } => {
            format!("{}?{}&force={force}", object()?, managed(manager)?)
        }
        Action::Status { .. } | Action::MergePatch { subresource: Subresource::Status, .. } => {
            format!("{}/status?{}", object()?, managed(manager)?)
        }
        Action::Replace { .. }
        | Action::StrategicPatch { .. }
        | Action::MergePatch { subresource: Subresource::Main, .. } => {
            format!("{}?{}", object()?, managed(manager)?)
        }
    })
}
