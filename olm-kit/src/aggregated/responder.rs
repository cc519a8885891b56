//! Responder to callers who may have them: documents of discovery, objects, tables, parts.

use std::collections::BTreeMap;

use axum::http::header::{ACCEPT, CONTENT_TYPE, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use super::accept::{Form, form};
use super::list::List;
use super::query::Target;
use super::resource::{Item, Resource};
use super::selector::Selection;
use super::status::Failure;
use super::table::{self, Include, partial};
use super::{discovery, openapi, reply};
use crate::clock;

/// What an answer depends on, beside the path.
pub(super) struct Responder<'a> {
    pub(super) resource: &'a dyn Resource,
    pub(super) query: &'a BTreeMap<String, String>,
    pub(super) headers: &'a HeaderMap,
}

impl Responder<'_> {
    /// What stands behind a path.
    pub(super) async fn give(&self, target: &Target) -> Result<Response, Failure> {
        let kind = self.resource.kind();
        let document = match target {
            Target::Alive => return Ok("ok".into_response()),
            Target::Groups if discovery::wants_everything(self.accept()) => {
                let text = discovery::everything(kind).to_string();
                return Ok(([(CONTENT_TYPE, discovery::EVERYTHING)], text).into_response());
            }
            Target::Groups => discovery::groups(kind),
            Target::Group => discovery::group(kind),
            Target::Resources => discovery::resources(kind),
            Target::OpenApi2 => openapi::version2(kind),
            Target::OpenApi3Index => openapi::index(kind),
            Target::OpenApi3 => openapi::version3(kind),
            Target::List(namespace) => return self.list(namespace.as_deref()).await,
            Target::Get { namespace, name } => return self.get(namespace, name).await,
            Target::Part { namespace, name, part } => return self.part(namespace, name, part),
        };
        Ok(reply::value(&document, self.headers))
    }

    async fn list(&self, namespace: Option<&str>) -> Result<Response, Failure> {
        let (labels, fields) = (self.parameter("labelSelector"), self.parameter("fieldSelector"));
        let selection = Selection::parse(labels, fields)
            .map_err(|error| Failure::bad_request(error.to_string()))?;
        let mut items = self.resource.list(namespace);
        items.retain(|item| selection.matches(item.name(), item.labels()));
        let list = match form(self.accept()) {
            Form::Objects => self.objects(items),
            Form::Table(version) => self.table(version, items)?,
            Form::Metadata(version) => {
                let start =
                    start_of_list("PartialObjectMetadata", &format!("meta.k8s.io/{version}"));
                List::new(start, items, move |item| Ok(partial(version, item).to_string()))
            }
        };
        list.answer(self.headers).await
    }

    fn objects(&self, items: Vec<Box<dyn Item>>) -> List {
        let kind = self.resource.kind();
        let start = start_of_list(kind.kind, &kind.api_version());
        List::new(start, items, |item| Ok(item.object()?.get().to_owned()))
    }

    fn table(&self, version: &'static str, items: Vec<Box<dyn Item>>) -> Result<List, Failure> {
        let wanted = self.parameter("includeObject");
        let include = Include::parse(wanted).ok_or_else(|| {
            Failure::bad_request(format!("unrecognized includeObject: {wanted:?}"))
        })?;
        let (start, now) = (table::start(self.resource.kind(), version), clock::now());
        Ok(List::new(start, items, move |item| {
            Ok(table::row(version, item, include, now)?.to_string())
        }))
    }

    async fn get(&self, namespace: &str, name: &str) -> Result<Response, Failure> {
        let item = self.resource.get(namespace, name);
        let item = item.ok_or_else(|| Failure::not_found(self.resource.kind(), name))?;
        match form(self.accept()) {
            Form::Objects => {
                let object = item.object().map_err(Failure::internal)?;
                Ok(reply::json(object.get().as_bytes().to_vec(), self.headers))
            }
            Form::Table(version) => self.table(version, vec![item])?.answer(self.headers).await,
            Form::Metadata(version) => Ok(reply::value(&partial(version, &*item), self.headers)),
        }
    }

    /// A caller who names the version that it has, in the URL and as If-None-Match, has it.
    fn part(&self, namespace: &str, name: &str, part: &str) -> Result<Response, Failure> {
        let known = self.headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        let version = self.parameter("resourceVersion");
        if !version.is_empty()
            && known.is_some_and(|known| known.trim_matches('"') == version.trim_matches('"'))
        {
            return Ok(StatusCode::NOT_MODIFIED.into_response());
        }
        let found = self.resource.subresource(namespace, name, part);
        let found = found.ok_or_else(|| Failure::not_found(self.resource.kind(), name))?;
        Ok(reply::part(found, self.headers))
    }

    fn accept(&self) -> &str {
        self.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Empty when it is not there.
    fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// A list of objects of a kind, up to the objects.
fn start_of_list(kind: &str, api_version: &str) -> String {
    format!(r#"{{"kind":"{kind}List","apiVersion":"{api_version}","metadata":{{}},"items":["#)
}
