//! A client of a catalog inside a cluster: reads it again and again, and says over HTTP how that went.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http2::handshake;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::server;

/// The time from the end of a read to the next one.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a read may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How many failures are kept.
const FAILURES: usize = 5;

/// What was seen so far.
#[derive(Debug, Default)]
struct ReadCounts {
    reads: u64,
    failed: u64,
    refused: u64,
    failures: Vec<String>,
    slowest: Duration,
    packages: Vec<String>,
}

impl ReadCounts {
    fn note(&mut self, took: Duration, read: Result<Vec<String>, String>) {
        self.reads += 1;
        self.slowest = self.slowest.max(took);
        match read {
            Ok(packages) => self.packages = packages,
            Err(problem) => {
                self.failed += 1;
                self.failures.push(format!("read {}: {problem}", self.reads));
                self.failures.truncate(FAILURES);
            }
        }
    }

    fn said(&self) -> String {
        let said = json!({
            "reads": self.reads, "failed": self.failed, "failures": self.failures,
            "refused": self.refused,
            "slowestSeconds": self.slowest.as_secs_f64(), "packages": self.packages,
        });
        format!("{said}\n")
    }
}

/// Lists the packages of the catalog at `from`, over a connection of its own each time, and answers every
/// HTTP request with what was seen, until `ended`. Of several addresses the next one is the first that is
/// tried; one that refuses a connection is counted, and another one tried.
pub async fn serve(
    port: u16,
    from: &[String],
    ended: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let seen = Rc::new(RefCell::new(ReadCounts::default()));
    let body = || -> Rc<str> { seen.borrow().said().into() };
    tokio::select! {
        served = server::serve(port, "a reader", body, ended) => served,
        () = read_on(from, &seen) => Ok(()),
    }
}

async fn read_on(from: &[String], seen: &RefCell<ReadCounts>) {
    for number in 0.. {
        let begun = Instant::now();
        let read = timeout(TIMEOUT, read(from, number, seen)).await;
        let read = read.unwrap_or_else(|_| Err("it takes too long".to_owned()));
        seen.borrow_mut().note(begun.elapsed(), read);
        sleep(PAUSE).await;
    }
}

async fn read(
    from: &[String],
    number: usize,
    seen: &RefCell<ReadCounts>,
) -> Result<Vec<String>, String> {
    let mut problem = "there is no address".to_owned();
    for address in from.iter().cycle().skip(number % from.len().max(1)).take(from.len()) {
        match TcpStream::connect(address).await {
            Ok(stream) => return packages(stream, address).await,
            Err(error) => {
                problem = error.to_string();
                seen.borrow_mut().refused += 1;
            }
        }
    }
    Err(problem)
}

/// One call of `ListPackages`.
async fn packages(stream: TcpStream, from: &str) -> Result<Vec<String>, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let connected = handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
    let (mut calls, connection) = connected.map_err(|error| said(&error))?;
    let connection = tokio::spawn(connection);
    // A message without fields.
    let request = Request::post(format!("http://{from}/api.Registry/ListPackages"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::new(Bytes::from_static(&[0; 5])))
        .map_err(|error| said(&error))?;
    let response = calls.send_request(request).await.map_err(|error| said(&error))?;
    let (head, body) = response.into_parts();
    let body = body.collect().await.map_err(|error| said(&error))?;
    connection.abort();
    let of_answer = body.trailers().and_then(|trailers| trailers.get("grpc-status"));
    let status = of_answer.or_else(|| head.headers.get("grpc-status"));
    if status.is_none_or(|status| status.as_bytes() != b"0") {
        return Err(format!("answered with {} and status {status:?}", head.status));
    }
    names(&body.to_bytes()).ok_or_else(|| "the answer cannot be read".to_owned())
}

/// The names in messages of `PackageName`, whose one field has the number 1.
fn names(mut answer: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    while !answer.is_empty() {
        let (frame, rest) = answer.split_at_checked(5)?;
        let length = u32::from_be_bytes(frame.get(1..)?.try_into().ok()?);
        let (message, rest) = rest.split_at_checked(length.try_into().ok()?)?;
        // A name of fewer than 128 bytes has one byte for its length.
        let (head, name) = message.split_at_checked(2)?;
        if head != [0x0a, u8::try_from(name.len()).ok()?] || name.len() > 127 {
            return None;
        }
        names.push(String::from_utf8(name.to_vec()).ok()?);
        answer = rest;
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(b"", Some(&[][..]))]
    #[case::two(b"\0\0\0\0\x05\x0a\x03abc\0\0\0\0\x03\x0a\x01d", Some(&["abc", "d"][..]))]
    #[case::cut(b"\0\0\0\0\x05\x0a\x03ab", None)]
    #[case::another_field(b"\0\0\0\0\x03\x12\x01d", None)]
    fn answers_are_read(#[case] answer: &[u8], #[case] expected: Option<&[&str]>) {
        let expected = expected.map(|all| all.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(names(answer), expected);
    }

    #[test]
    fn failures_are_counted_and_some_are_kept() {
        let mut seen = ReadCounts::default();
        seen.note(Duration::from_millis(20), Ok(vec!["a".to_owned()]));
        for _ in 0..9 {
            seen.note(Duration::from_millis(10), Err("no".to_owned()));
        }
        assert_eq!((seen.reads, seen.failed, seen.failures.len()), (10, 9, FAILURES));
        assert_eq!(seen.failures.first().map(String::as_str), Some("read 2: no"));
        assert_eq!((seen.slowest, seen.packages), (Duration::from_millis(20), vec!["a".into()]));
    }
}
