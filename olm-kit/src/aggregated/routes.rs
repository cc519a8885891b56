//! From a request to its answer: what is asked for, who asks, and whether they may.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use kube::Client;

use super::query::{Target, parameters};
use super::resource::Resource;
use super::responder::Responder;
use super::status::Failure;
use crate::callers::{Access, Authorities, Authorizer, User, identify};
use crate::listen::Caller;

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
    ConnectInfo(caller): ConnectInfo<Caller>,
    request: Request,
) -> Response {
    let (request, _) = request.into_parts();
    match shared.answer(&caller, &request).await {
        Ok(response) => response,
        Err(failure) => failure.into_response(),
    }
}

impl Shared {
    async fn answer(&self, caller: &Caller, request: &Parts) -> Result<Response, Failure> {
        let (kind, path) = (self.resource.kind(), request.uri.path());
        let target = Target::parse(path, kind);
        if target == Some(Target::Alive) {
            return Ok("ok".into_response());
        }
        let user = self.user(caller, &request.headers).await?;
        // Paths without an end can be made up: an unknown caller is not worth a question for each.
        if target.is_none() && user.is_anonymous() {
            return Err(Failure::unauthorized(
                "a token or a client certificate is needed".to_owned(),
            ));
        }
        let access = target.as_ref().and_then(|target| target.access(path, kind));
        self.check(&user, &access.unwrap_or_else(|| Access::Path(path.to_owned()))).await?;
        let target = target.ok_or_else(Failure::no_path)?;
        let query = parameters(request.uri.query().unwrap_or_default());
        self.check_verb(&target, &request.method, &query)?;
        let resource = &*self.resource;
        Responder { resource, query: &query, headers: &request.headers }.give(&target).await
    }

    async fn user(&self, caller: &Caller, headers: &HeaderMap) -> Result<User, Failure> {
        let authorities = self.authorities.load_full();
        let user = identify(&caller.chain, headers, &authorities, &self.client).await;
        user.map_err(Failure::unauthorized)
    }

    async fn check(&self, user: &User, access: &Access) -> Result<(), Failure> {
        let answer = self.authorizer.allows(user, access).await;
        let answer = answer
            .map_err(|error| Failure::internal(format!("rights cannot be checked: {error}")))?;
        answer.map_err(|reason| Failure::forbidden(refusal(user, access, &reason)))
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
}

/// Kubernetes' words.
fn refusal(user: &User, access: &Access, reason: &str) -> String {
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    match access {
        Access::Path(path) => {
            format!("forbidden: User \"{}\" cannot get path \"{path}\"{reason}", user.name)
        }
        Access::Objects { group, resource, verb, namespace, name, .. } => {
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
