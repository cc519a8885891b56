//! A registry that answers as it is scripted, and not as it should.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is answered to a path: the whole of it, head and body.
pub(crate) type StubResponses = BTreeMap<String, StubResponse>;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) enum StubResponse {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// These bytes, then zeros for ever.
    Endless(Vec<u8>),
    /// These bytes, then another one each second for ever.
    Dripping(Vec<u8>),
    /// The first to who asks for the head alone, else the second.
    Head(Box<StubResponse>, Box<StubResponse>),
    /// The first to those who say this in `Authorization`, else the second.
    For(&'static str, Box<StubResponse>, Box<StubResponse>),
}

/// `200` with a body.
pub(crate) fn ok(body: impl AsRef<[u8]>) -> StubResponse {
    answer("200 OK", "", body)
}

/// Any status, more header lines, and a body.
pub(crate) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> StubResponse {
    let length = body.as_ref().len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n");
    StubResponse::Bytes([head.as_bytes(), body.as_ref()].concat())
}

/// Serves answers on a port of this machine, whose `host:port` is returned, while the test runs.
pub(crate) async fn serve(answers: impl Fn(&str) -> StubResponses) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answers = Arc::new(answers(&address));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(converse(stream, Arc::clone(&answers)));
        }
    });
    address
}

async fn converse(mut stream: TcpStream, answers: Arc<StubResponses>) {
    let mut head = String::new();
    let mut byte = [0; 1];
    while !head.ends_with("\r\n\r\n") {
        match stream.read(&mut byte).await {
            Ok(1) => head.push(char::from(byte[0])),
            _ => return,
        }
    }
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let missing = answer("404 Not Found", "", "no such thing");
    let found = answers.get(&path).unwrap_or(&missing);
    // The client may leave at any time.
    let _ = give(&mut stream, found, &head.to_lowercase()).await;
}

async fn give(stream: &mut TcpStream, answer: &StubResponse, head: &str) -> std::io::Result<()> {
    match answer {
        StubResponse::Bytes(bytes) => {
            stream.write_all(bytes).await?;
            stream.shutdown().await
        }
        StubResponse::Endless(start) => {
            stream.write_all(start).await?;
            loop {
                stream.write_all(&[0; 4_096]).await?;
            }
        }
        StubResponse::Dripping(start) => {
            stream.write_all(start).await?;
            loop {
                stream.write_all(b" ").await?;
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
        }
        StubResponse::Head(yes, no) => {
            let alone = head.starts_with("head ");
            Box::pin(give(stream, if alone { yes } else { no }, head)).await
        }
        StubResponse::For(who, yes, no) => {
            let known = head.contains(&format!("authorization: {}\r\n", who.to_lowercase()));
            Box::pin(give(stream, if known { yes } else { no }, head)).await
        }
    }
}
