//! Pages of all objects of a kind, each of as many objects as fit into little memory.
//!
//! An API server counts the objects of a page and not what they take: whoever may create objects of a kind
//! may make each as large as can be stored, and of values that take a hundred times as much once they are
//! read. So a page that is too large is asked for again with fewer objects, before any of it is parsed.

use std::collections::BTreeMap;

use http::StatusCode;
use kube::Client;
use kube::api::{ListParams, ObjectList, Request};
use kube::client::Body;
use kube::core::response::Status;
use olm_effect::{Refusal, Resource};
use olm_pages::{fewer, is_small, more, text_of};
use olm_types::document::memory_of;
use parking_lot::Mutex;
use serde_json::Value;

use crate::interpreter::refusal_of;
use crate::path::{collection, invalid};
use crate::tasks::in_place;

/// Objects of a page, where they are small.
const OBJECTS: u32 = 250;

/// Most bytes of text of a page of several objects.
const TEXT: usize = 16 << 20;

/// Most bytes of memory that the values of a page of several objects may take.
const MEMORY: usize = 64 << 20;

/// Most bytes of text of an object. By default no API server takes one of more than 3 MiB.
const LARGEST: usize = 32 << 20;

/// Objects, and the token of the page after theirs.
type Page = (Vec<Value>, Option<String>);

/// Reads pages, and knows of how many objects the last one of each kind was, so that not every page of large ones is
/// asked for several times. Readers of one kind at the same time share what they know.
#[derive(Debug, Default)]
pub struct Pages(Mutex<BTreeMap<String, u32>>);

impl Pages {
    /// One page of all objects of a kind, in all namespaces, after the page that gave `token`; and the
    /// token of the next page.
    ///
    /// # Errors
    /// The API server refuses or cannot be asked. Code 410 means that it forgot the token.
    pub async fn page(
        &self,
        client: &Client,
        resource: &Resource,
        token: Option<String>,
    ) -> Result<Page, Refusal> {
        let path = collection(resource, None)?;
        let known = token.as_ref().and_then(|_| self.0.lock().get(&path).copied());
        let mut objects = known.unwrap_or(OBJECTS);
        loop {
            match attempt(client, &path, objects, token.as_deref()).await? {
                Some((page, has_space)) => {
                    let next = if has_space { more(objects).min(OBJECTS) } else { objects };
                    self.note(path, next, &page);
                    return Ok(page);
                }
                None if objects > 1 => objects = fewer(objects),
                None => return Err(too_large(resource)),
            }
        }
    }

    /// Notes how many objects the next page is asked for; forgets a kind with its last page.
    fn note(&self, path: String, objects: u32, page: &Page) {
        let goes_on = page.1.as_ref().is_some_and(|token| !token.is_empty());
        match goes_on {
            true => self.0.lock().insert(path, objects),
            false => self.0.lock().remove(&path),
        };
    }
}

/// A page of so many objects at most, and whether more would fit; none where they take too much.
async fn attempt(
    client: &Client,
    path: &str,
    objects: u32,
    token: Option<&str>,
) -> Result<Option<(Page, bool)>, Refusal> {
    let continue_token = token.map(str::to_owned);
    let params = ListParams { limit: Some(objects), continue_token, ..ListParams::default() };
    let request = Request::new(path).list(&params);
    let request = request.map_err(|error| refusal_of(&kube::Error::BuildRequest(error)))?;
    let answer = client.send(request.map(Body::from)).await;
    let answer = answer.map_err(|error| refusal_of(&error))?;
    let code = answer.status();
    // There is no smaller page than one object.
    let (most, memory) = if objects > 1 { (TEXT, MEMORY) } else { (LARGEST, usize::MAX) };
    let text = text_of(answer.into_body(), most).await.map_err(|error| refusal_of(&error))?;
    let Some(text) = text else { return Ok(None) };
    if !code.is_success() {
        return Err(refused(code, &text));
    }
    let taken = memory_of(&text);
    if taken > memory {
        return Ok(None);
    }
    let has_space = is_small(text.len(), TEXT) && is_small(taken, MEMORY);
    in_place::read(text.len(), || read(&text)).map(|page| Some((page, has_space)))
}

fn read(text: &[u8]) -> Result<Page, Refusal> {
    let list = serde_json::from_slice::<ObjectList<Value>>(text);
    let list = list.map_err(|error| refusal_of(&kube::Error::SerdeError(error)))?;
    Ok((list.items, list.metadata.continue_))
}

fn refused(code: StatusCode, text: &[u8]) -> Refusal {
    let plain = || Status::failure(String::from_utf8_lossy(text).trim(), "");
    let status = serde_json::from_slice(text).unwrap_or_else(|_| plain());
    refusal_of(&kube::Error::Api(status.with_code(code.as_u16()).boxed()))
}

fn too_large(resource: &Resource) -> Refusal {
    let (plural, group) = (&resource.plural, &resource.group);
    invalid(format!("one of the {plural}.{group} has more than {LARGEST} bytes: make it smaller"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scripted::Script;

    fn resource() -> Resource {
        Resource::new("g", "v1", "Tool", "tools")
    }

    async fn page(
        client: &Client,
        resource: &Resource,
        token: Option<String>,
    ) -> Result<Page, Refusal> {
        Pages::default().page(client, resource, token).await
    }

    fn get(query: &str) -> String {
        format!("GET /apis/g/v1/tools?&{query}")
    }

    fn tool(spec: Value) -> Value {
        json!({"apiVersion": "g/v1", "kind": "Tool", "metadata": {"name": "a"}, "spec": spec})
    }

    fn list(items: &[Value], next: &str) -> Value {
        let metadata = json!({"resourceVersion": "7", "continue": next});
        json!({"apiVersion": "g/v1", "kind": "ToolList", "metadata": metadata, "items": items})
    }

    #[tokio::test]
    async fn small_objects_come_in_large_pages() {
        let answer = list(&[tool(json!({})), tool(json!({}))], "next");
        let script = Script::new().answer(&get("limit=250&continue=here"), 200, answer);
        let token = Some("here".to_owned());
        let (items, next) = page(&script.client(), &resource(), token).await.unwrap();
        assert_eq!((items.len(), next.as_deref()), (2, Some("next")));
        script.finish();
    }

    /// Seven bytes of text are nearly a thousand of memory.
    #[tokio::test]
    async fn a_page_that_takes_too_much_is_asked_for_with_fewer_objects() {
        let hostile = tool(json!(vec![json!({"": 0}); 50_000]));
        let two = list(&[hostile.clone(), hostile.clone()], "");
        let mut script = Script::new();
        for limit in [250, 50, 10, 2] {
            script = script.answer(&get(&format!("limit={limit}")), 200, two.clone());
        }
        let script = script.answer(&get("limit=1"), 200, list(&[hostile], "next"));
        let (items, next) = page(&script.client(), &resource(), None).await.unwrap();
        assert_eq!((items.len(), next.as_deref()), (1, Some("next")));
        script.finish();
    }

    /// The next page begins with as many as fitted, and grows again; another listing begins anew.
    #[tokio::test]
    async fn how_many_fit_is_known_from_the_page_before() {
        let hostile = tool(json!(vec![json!({"": 0}); 50_000]));
        let two = list(&[hostile.clone(), hostile.clone()], "");
        let mut script = Script::new();
        for limit in [250, 50, 10, 2] {
            script = script.answer(&get(&format!("limit={limit}")), 200, two.clone());
        }
        let small = list(&[tool(json!({}))], "c");
        let script = script
            .answer(&get("limit=1"), 200, list(std::slice::from_ref(&hostile), "a"))
            .answer(&get("limit=1&continue=a"), 200, list(&[hostile], "b"))
            .answer(&get("limit=1&continue=b"), 200, small.clone())
            .answer(&get("limit=5&continue=c"), 200, small)
            .answer(&get("limit=25&continue=c"), 200, list(&[], ""))
            .answer(&get("limit=250"), 200, list(&[], ""));
        let (client, pages, mut token) = (script.client(), Pages::default(), None);
        for expected in ["a", "b", "c", "c", "", ""] {
            let (_, next) = pages.page(&client, &resource(), token.take()).await.unwrap();
            assert_eq!(next.as_deref().unwrap_or_default(), expected);
            token = next.filter(|token| !token.is_empty());
        }
        assert!(pages.0.lock().is_empty());
        script.finish();
    }

    #[tokio::test]
    async fn refusals_keep_their_code_and_their_words() {
        let script = Script::new().refuse(&get("limit=250"), 410, "Expired", "too old");
        let refusal = page(&script.client(), &resource(), None).await.unwrap_err();
        let expected = Refusal { code: 410, reason: "Expired".into(), message: "too old".into() };
        assert_eq!(refusal, expected);
        script.finish();
    }

    #[tokio::test]
    async fn no_name_leads_a_listing_elsewhere() {
        let script = Script::new();
        let resource = Resource::new("g", "v1", "Tool", "tools?watch=true");
        assert_eq!(page(&script.client(), &resource, None).await.unwrap_err().code, 422);
        script.finish();
    }
}
