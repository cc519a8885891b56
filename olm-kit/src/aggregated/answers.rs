//! Answers to callers who may have them: documents of discovery, objects, tables, parts.

use std::collections::BTreeMap;

use axum::http::header::{ACCEPT, CONTENT_TYPE, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde_json::json;

use super::accept::{Form, form};
use super::query::Target;
use super::resource::{Item, Resource};
use super::selector::Selection;
use super::status::Failure;
use super::table::{Include, partial, table};
use super::{discovery, openapi, reply};

/// What an answer depends on, beside the path.
pub(super) struct Answers<'a> {
    pub(super) resource: &'a dyn Resource,
    pub(super) query: &'a BTreeMap<String, String>,
    pub(super) headers: &'a HeaderMap,
}

impl Answers<'_> {
    /// What stands behind a path.
    pub(super) fn give(&self, target: &Target) -> Result<Response, Failure> {
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
            Target::List(namespace) => return self.list(namespace.as_deref()),
            Target::Get { namespace, name } => return self.get(namespace, name),
            Target::Part { namespace, name, part } => return self.part(namespace, name, part),
        };
        Ok(reply::value(&document, self.headers))
    }

    fn list(&self, namespace: Option<&str>) -> Result<Response, Failure> {
        let (labels, fields) = (self.parameter("labelSelector"), self.parameter("fieldSelector"));
        let selection = Selection::parse(labels, fields)
            .map_err(|error| Failure::bad_request(error.to_string()))?;
        let mut items = self.resource.list(namespace);
        items.retain(|item| selection.matches(item.name(), item.labels()));
        match form(self.accept()) {
            Form::Objects => self.objects(&items),
            Form::Table(version) => self.table(version, &items),
            Form::Metadata(version) => {
                let items: Vec<_> = items.iter().map(|item| partial(version, &**item)).collect();
                let list = json!({
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": format!("meta.k8s.io/{version}"), "metadata": {}, "items": items,
                });
                Ok(reply::value(&list, self.headers))
            }
        }
    }

    fn objects(&self, items: &[Box<dyn Item>]) -> Result<Response, Failure> {
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
        Ok(reply::json(text, self.headers))
    }

    fn table(&self, version: &str, items: &[Box<dyn Item>]) -> Result<Response, Failure> {
        let wanted = self.parameter("includeObject");
        let include = Include::parse(wanted).ok_or_else(|| {
            Failure::bad_request(format!("unrecognized includeObject: {wanted:?}"))
        })?;
        let table = table(self.resource.kind(), version, items, include, Timestamp::now());
        Ok(reply::value(&table.map_err(Failure::internal)?, self.headers))
    }

    fn get(&self, namespace: &str, name: &str) -> Result<Response, Failure> {
        let item = self.resource.get(namespace, name);
        let item = item.ok_or_else(|| Failure::not_found(self.resource.kind(), name))?;
        match form(self.accept()) {
            Form::Objects => {
                let object = item.object().map_err(Failure::internal)?;
                Ok(reply::json(object.get().to_owned(), self.headers))
            }
            Form::Table(version) => self.table(version, &[item]),
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
