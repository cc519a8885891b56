//! From a request to its answer: what is asked for, who asks, whether they may, what there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use kube::Client;
use serde_json::json;

use super::accept::{Form, form};
use super::query::{Target, parameters};
use super::resource::{Item, Resource};
use super::selector::Selection;
use super::status::Failure;
use super::table::{Include, partial, table};
use super::{discovery, openapi, reply};
use crate::callers::{Authorities, Authorizer, User, Wish, identify};
use crate::tls::Peer;

/// What answers are made of.
pub(super) struct Shared {
    pub(super) resource: Arc<dyn Resource>,
    pub(super) authorizer: Authorizer,
    pub(super) authorities: Arc<ArcSwap<Authorities>>,
    pub(super) client: Client,
}

/// Everything goes through one door.
pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(answer).with_state(shared)
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
) -> Response {
    let (request, _) = request.into_parts();
    match shared.answer(&peer, &request).await {
        Ok(response) => response,
        Err(failure) => failure.into_response(),
    }
}

impl Shared {
    async fn answer(&self, peer: &Peer, request: &Parts) -> Result<Response, Failure> {
        let (kind, path) = (self.resource.kind(), request.uri.path());
        let target = Target::parse(path, kind);
        if target == Some(Target::Alive) {
            return Ok("ok".into_response());
        }
        let user = self.user(peer, &request.headers).await?;
        let wish = target.as_ref().and_then(|target| target.wish(path, kind));
        self.check(&user, &wish.unwrap_or_else(|| Wish::Path(path.to_owned()))).await?;
        let target = target.ok_or_else(Failure::no_path)?;
        let query = parameters(request.uri.query().unwrap_or_default());
        self.check_verb(&target, &request.method, &query)?;
        self.give(&target, &query, &request.headers)
    }

    async fn user(&self, peer: &Peer, headers: &HeaderMap) -> Result<User, Failure> {
        let authorities = self.authorities.load_full();
        let user = identify(&peer.0, headers, &authorities, &self.client).await;
        user.map_err(Failure::unauthorized)
    }

    async fn check(&self, user: &User, wish: &Wish) -> Result<(), Failure> {
        let answer = self.authorizer.allows(user, wish).await;
        let answer = answer
            .map_err(|error| Failure::internal(format!("rights cannot be checked: {error}")))?;
        answer.map_err(|reason| Failure::forbidden(refusal(user, wish, &reason)))
    }

    /// Objects can be read and nothing else.
    fn check_verb(
        &self,
        target: &Target,
        method: &Method,
        query: &BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        let verb = match *method {
            Method::GET | Method::HEAD => {
                let watched =
                    query.get("watch").is_some_and(|value| value == "true" || value == "1");
                if !(watched && matches!(target, Target::List(_))) {
                    return Ok(());
                }
                "watch"
            }
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            _ => "delete",
        };
        match target.is_objects() {
            true => Err(Failure::unsupported(self.resource.kind(), verb)),
            false => Err(Failure::no_path()),
        }
    }

    fn give(
        &self,
        target: &Target,
        query: &BTreeMap<String, String>,
        headers: &HeaderMap,
    ) -> Result<Response, Failure> {
        let kind = self.resource.kind();
        let document = match target {
            Target::Alive => return Ok("ok".into_response()),
            Target::Groups if discovery::wants_everything(accept(headers)) => {
                let text = discovery::everything(kind).to_string();
                return Ok(([(CONTENT_TYPE, discovery::EVERYTHING)], text).into_response());
            }
            Target::Groups => discovery::groups(kind),
            Target::Group => discovery::group(kind),
            Target::Resources => discovery::resources(kind),
            Target::OpenApi2 => openapi::version2(kind),
            Target::OpenApi3Index => openapi::index(kind),
            Target::OpenApi3 => openapi::version3(kind),
            Target::List(namespace) => return self.list(namespace.as_deref(), query, headers),
            Target::Get { namespace, name } => return self.get(namespace, name, query, headers),
            Target::Part { namespace, name, part } => {
                return self.part(namespace, name, part, query, headers);
            }
        };
        Ok(reply::value(&document, headers))
    }

    fn list(
        &self,
        namespace: Option<&str>,
        query: &BTreeMap<String, String>,
        headers: &HeaderMap,
    ) -> Result<Response, Failure> {
        let text = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
        let selection = Selection::parse(text("labelSelector"), text("fieldSelector"))
            .map_err(|error| Failure::bad_request(error.to_string()))?;
        let mut items = self.resource.list(namespace);
        items.retain(|item| selection.matches(item.name(), item.labels()));
        match form(accept(headers)) {
            Form::Objects => self.objects(&items, headers),
            Form::Table(version) => self.table(version, &items, query, headers),
            Form::Metadata(version) => {
                let items: Vec<_> = items.iter().map(|item| partial(version, &**item)).collect();
                let list = json!({
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": format!("meta.k8s.io/{version}"), "metadata": {}, "items": items,
                });
                Ok(reply::value(&list, headers))
            }
        }
    }

    fn objects(&self, items: &[Box<dyn Item>], headers: &HeaderMap) -> Result<Response, Failure> {
        let kind = self.resource.kind();
        let mut text = format!(
            r#"{{"kind":"{}List","apiVersion":"{}","metadata":{{}},"items":["#,
            kind.kind,
            kind.api_version()
        );
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(item.object().map_err(Failure::internal)?.get());
        }
        text.push_str("]}");
        Ok(reply::json(text, headers))
    }

    fn table(
        &self,
        version: &str,
        items: &[Box<dyn Item>],
        query: &BTreeMap<String, String>,
        headers: &HeaderMap,
    ) -> Result<Response, Failure> {
        let wanted = query.get("includeObject").map(String::as_str).unwrap_or_default();
        let include = Include::parse(wanted).ok_or_else(|| {
            Failure::bad_request(format!("unrecognized includeObject: {wanted:?}"))
        })?;
        let table = table(self.resource.kind(), version, items, include, Timestamp::now());
        Ok(reply::value(&table.map_err(Failure::internal)?, headers))
    }

    fn get(
        &self,
        namespace: &str,
        name: &str,
        query: &BTreeMap<String, String>,
        headers: &HeaderMap,
    ) -> Result<Response, Failure> {
        let item = self.resource.get(namespace, name);
        let item = item.ok_or_else(|| Failure::not_found(self.resource.kind(), name))?;
        match form(accept(headers)) {
            Form::Objects => {
                let object = item.object().map_err(Failure::internal)?;
                Ok(reply::json(object.get().to_owned(), headers))
            }
            Form::Table(version) => self.table(version, &[item], query, headers),
            Form::Metadata(version) => Ok(reply::value(&partial(version, &*item), headers)),
        }
    }

    /// A caller who names the version that it has, in the URL and as If-None-Match, has it.
    fn part(
        &self,
        namespace: &str,
        name: &str,
        part: &str,
        query: &BTreeMap<String, String>,
        headers: &HeaderMap,
    ) -> Result<Response, Failure> {
        let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        let version = query.get("resourceVersion").filter(|version| !version.is_empty());
        if let (Some(known), Some(version)) = (known, version)
            && known.trim_matches('"') == version.trim_matches('"')
        {
            return Ok(StatusCode::NOT_MODIFIED.into_response());
        }
        let found = self.resource.subresource(namespace, name, part);
        let found = found.ok_or_else(|| Failure::not_found(self.resource.kind(), name))?;
        Ok(reply::part(found, headers))
    }
}

fn accept(headers: &HeaderMap) -> &str {
    headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Kubernetes' words.
fn refusal(user: &User, wish: &Wish, reason: &str) -> String {
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    match wish {
        Wish::Path(path) => {
            format!("forbidden: User \"{}\" cannot get path \"{path}\"{reason}", user.name)
        }
        Wish::Objects { group, resource, verb, namespace, name, .. } => {
            let name = name.as_deref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
            let place = match namespace {
                Some(namespace) => format!("in the namespace \"{namespace}\""),
                None => "at the cluster scope".to_owned(),
            };
            format!(
                "{resource}.{group}{name} is forbidden: User \"{}\" cannot {verb} resource \
                 \"{resource}\" in API group \"{group}\" {place}{reason}",
                user.name
            )
        }
    }
}
