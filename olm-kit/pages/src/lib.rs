//! Lists that come in pages of fewer objects where these are large.
//!
//! An API server counts the objects of a page and not their bytes: whoever may create objects of a kind may
//! make each as large as can be stored, and 500 of them are most of a gigabyte. A page that is too long is
//! not read to its end but asked for again, from the same token on, with fewer objects.
//!
//! Only requests with a limit are: an API that answers with everything at once whatever the limit is, as the one of
//! packages does, is to be asked without one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Method, Request, Response, Uri};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use tower::{BoxError, service_fn};

/// Most bytes of text of a page of several objects: all kinds that a process watches are listed at the same
/// time, and a text is there up to three times while it is read.
const TEXT: usize = 4 << 20;

/// Most objects of a first page, when nothing is known of their size: as many CSVs as usual fit, so that the page is
/// not asked for twice.
const FIRST: u32 = 100;

/// What the objects of a page that is too long are divided by.
const STEP: u32 = 5;

/// A client whose pages have as many objects as are asked for or, where these are large, fewer. How many fit it
/// knows from the page before: who reads several lists at the same time may ask for a page twice.
#[must_use]
pub fn paged(client: &Client) -> Client {
    let (client, next) = (client.clone(), Arc::new(AtomicU32::new(u32::MAX)));
    let namespace = client.default_namespace().to_owned();
    let ask = move |request: Request<Body>| {
        let (client, next) = (client.clone(), Arc::clone(&next));
        async move {
            match PageQuery::by(&request) {
                Some(asked) => {
                    let (parts, _) = request.into_parts();
                    page(&client, &parts, &asked, &next).await
                }
                None => client.send(request).await.map_err(BoxError::from),
            }
        }
    };
    Client::new(service_fn(ask), namespace)
}

/// The text of an answer; none where it is longer than that.
///
/// # Errors
/// The answer breaks off.
pub async fn text_of(mut body: Body, most: usize) -> Result<Option<Vec<u8>>, kube::Error> {
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame?;
        let Some(data) = frame.data_ref() else { continue };
        if text.len().saturating_add(data.len()) > most {
            return Ok(None);
        }
        text.extend_from_slice(data);
    }
    Ok(Some(text))
}

/// How many objects are asked for after so many were too many.
#[must_use]
pub fn fewer(objects: u32) -> u32 {
    (objects / STEP).max(1)
}

/// How many objects are asked for after so many left most of a limit unused: so many more would have fitted.
#[must_use]
pub fn more(objects: u32) -> u32 {
    objects.saturating_mul(STEP)
}

/// Whether so much is so little of a limit that [`more`] objects would have fitted.
#[must_use]
pub fn is_small(taken: usize, limit: usize) -> bool {
    taken <= limit / STEP as usize
}

/// What a request for a page says.
struct PageQuery {
    objects: u32,
    /// Whether it goes on after another page.
    goes_on: bool,
}

impl PageQuery {
    /// Nothing where it is no request for a page.
    fn by(request: &Request<Body>) -> Option<Self> {
        let query = request.uri().query().filter(|_| request.method() == Method::GET)?;
        let limit = query.split('&').find_map(|pair| pair.strip_prefix("limit="))?;
        let goes_on = query.split('&').any(|pair| pair.starts_with("continue="));
        Some(Self { objects: limit.parse().ok()?, goes_on })
    }
}

/// A page of as many objects as fit. `next` is how many of the next page will, as far as is known.
async fn page(
    client: &Client,
    request: &Parts,
    asked: &PageQuery,
    next: &AtomicU32,
) -> Result<Response<Body>, BoxError> {
    let likely = if asked.goes_on { next.load(Ordering::Relaxed) } else { FIRST };
    let mut objects = asked.objects.min(likely);
    loop {
        let answer = client.send(with_limit(request, objects)?).await?;
        // There is no smaller page than one object, and what an API server refuses with is short.
        if objects <= 1 || !answer.status().is_success() {
            next.store(more(objects), Ordering::Relaxed);
            return Ok(answer);
        }
        let (head, body) = answer.into_parts();
        if let Some(text) = text_of(body, TEXT).await? {
            next.store(after(objects, text.len()), Ordering::Relaxed);
            return Ok(Response::from_parts(head, Body::from(text)));
        }
        objects = fewer(objects);
    }
}

/// How many objects to ask for after so many took so many bytes: more, if those would have fitted.
fn after(objects: u32, bytes: usize) -> u32 {
    if is_small(bytes, TEXT) { more(objects) } else { objects }
}

/// The request for a page, with this limit.
fn with_limit(request: &Parts, objects: u32) -> Result<Request<Body>, BoxError> {
    let mut request = request.clone();
    let query = request.uri.query().unwrap_or_default();
    let limited = |pair: &str| {
        if pair.starts_with("limit=") { format!("limit={objects}") } else { pair.to_owned() }
    };
    let query = query.split('&').map(limited).collect::<Vec<_>>().join("&");
    let target: PathAndQuery = format!("{}?{query}", request.uri.path()).parse()?;
    let mut parts = request.uri.into_parts();
    parts.path_and_query = Some(target);
    request.uri = Uri::from_parts(parts)?;
    Ok(Request::from_parts(request, Body::empty()))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use serde_json::{Value, json};

    use super::*;

    /// What is asked for, and the code and text of the answer.
    type Expected = (&'static str, u16, Value);

    /// An API server that is asked for these, one after the other, and how many are left.
    fn server(expected: Vec<Expected>) -> (Client, Arc<Mutex<VecDeque<Expected>>>) {
        let left = Arc::new(Mutex::new(VecDeque::from(expected)));
        let answers = Arc::clone(&left);
        let service = service_fn(move |request: Request<Body>| {
            let (wanted, code, text) = answers.lock().unwrap().pop_front().unwrap();
            assert_eq!(request.uri().to_string(), wanted);
            let body = Body::from(text.to_string().into_bytes());
            let answer = Response::builder().status(code).body(body).unwrap();
            async move { Ok::<_, BoxError>(answer) }
        });
        (Client::new(service, "default"), left)
    }

    fn list(bytes: usize) -> Value {
        json!({"items": ["x".repeat(bytes)]})
    }

    async fn get(client: &Client, query: &str) -> usize {
        let request = Request::get(format!("/a?{query}")).header("accept", "b").body(Vec::new());
        let list: Value = client.request(request.unwrap()).await.unwrap();
        list["items"][0].as_str().unwrap().len()
    }

    /// Pages of large objects are small, and those after them are as large as they were before.
    #[tokio::test]
    async fn a_page_that_is_too_long_is_asked_for_with_fewer_objects() {
        let (client, left) = server(vec![
            ("/a?&limit=100", 200, list(TEXT)),
            ("/a?&limit=20", 200, list(TEXT / 2)),
            ("/a?&limit=20&continue=b", 200, list(7)),
            ("/a?&limit=100&continue=c", 200, list(8)),
            ("/a?&limit=500&continue=d", 200, list(9)),
            ("/a?&limit=500&continue=e", 200, list(10)),
        ]);
        let client = paged(&client);
        assert_eq!(get(&client, "&limit=500").await, TEXT / 2);
        for (token, bytes) in [("b", 7), ("c", 8), ("d", 9), ("e", 10)] {
            assert_eq!(get(&client, &format!("&limit=500&continue={token}")).await, bytes);
        }
        assert!(left.lock().unwrap().is_empty());
    }

    /// As large as CSVs are: 500 are too long, and those of the first page say so.
    #[tokio::test]
    async fn no_page_of_usual_objects_is_asked_for_twice() {
        let (client, left) = server(vec![
            ("/a?&limit=100", 200, list(TEXT / 4)),
            ("/a?&limit=100&continue=b", 200, list(TEXT / 4)),
        ]);
        let client = paged(&client);
        get(&client, "&limit=500").await;
        get(&client, "&limit=500&continue=b").await;
        assert!(left.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn one_object_may_be_as_long_as_it_is_and_so_may_what_has_no_limit() {
        let queries = ["limit=1", "watch=true", "labelSelector=a"];
        let (client, left) =
            server(["/a?limit=1", "/a?watch=true", "/a?labelSelector=a"].map(large).into());
        let client = paged(&client);
        for query in queries {
            assert_eq!(get(&client, query).await, TEXT, "{query}");
        }
        assert!(left.lock().unwrap().is_empty());
    }

    fn large(wanted: &'static str) -> Expected {
        (wanted, 200, list(TEXT))
    }

    /// Whoever lists begins anew then, and with as many objects as before.
    #[tokio::test]
    async fn a_token_that_is_forgotten_is_said_as_it_is() {
        let expired = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "reason": "Expired", "message": "too old", "code": 410});
        let (client, left) =
            server(vec![("/a?limit=9&continue=b", 410, expired), ("/a?limit=9", 200, list(3))]);
        let client = paged(&client);
        let request = Request::get("/a?limit=9&continue=b").body(Vec::new()).unwrap();
        let refused = client.request::<Value>(request).await.unwrap_err();
        assert!(matches!(refused, kube::Error::Api(status) if status.code == 410));
        assert_eq!(get(&client, "limit=9").await, 3);
        assert!(left.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_text_is_read_no_further_than_it_may_be_long() {
        let body = || Body::from(vec![b'x'; 11]);
        assert_eq!(text_of(body(), 11).await.unwrap().map(|text| text.len()), Some(11));
        assert_eq!(text_of(body(), 10).await.unwrap(), None);
    }
}
