//! An HTTP server with one answer for every request, for probes and for tests that ask who runs.

use std::future::Future;
use std::io::Result;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

/// The longest head of a request.
const LONGEST_HEAD: usize = 16 * 1024;

/// How long a client may take with its request and with reading the answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How many clients are served at a time; more wait in the listener's queue.
const CLIENTS: usize = 256;

/// Answers every request with 200 and what `body` says then, until `ended`; then those under way are
/// answered, too.
pub async fn serve(
    port: u16,
    name: &str,
    body: impl Fn() -> Rc<str>,
    ended: impl Future<Output = ()>,
) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await?;
    println!("{name} serves port {port}");
    serve_on(&listener, body, ended).await
}

async fn serve_on(
    listener: &TcpListener,
    body: impl Fn() -> Rc<str>,
    ended: impl Future<Output = ()>,
) -> Result<()> {
    let mut ended = std::pin::pin!(ended);
    let mut clients = JoinSet::new();
    let local = LocalSet::new();
    local
        .run_until(async {
            loop {
                tokio::select! {
                    () = &mut ended => break,
                    Some(_) = clients.join_next() => {}
                    accepted = listener.accept(), if clients.len() < CLIENTS => {
                        if let Ok((stream, _)) = accepted {
                            clients.spawn_local(answer(stream, body()));
                        }
                    }
                }
            }
            while clients.join_next().await.is_some() {}
        })
        .await;
    Ok(())
}

/// A client that goes wrong harms only itself.
async fn answer(mut stream: TcpStream, body: Rc<str>) {
    let _ = timeout(TIMEOUT, async {
        let head = read_head(&mut stream).await?;
        stream.write_all(response(&head, &body).as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}

async fn read_head(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut limited = stream.take(LONGEST_HEAD as u64);
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if limited.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    Ok(head)
}

fn response(head: &[u8], body: &str) -> String {
    let (status, content) = match head.ends_with(b"\r\n\r\n") {
        true if head.starts_with(b"HEAD ") => ("200 OK", ""),
        true => ("200 OK", body),
        // A body after the head belongs to a request, too.
        false if head.windows(4).any(|window| window == b"\r\n\r\n") => ("200 OK", body),
        false => ("400 Bad Request", body),
    };
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{content}"
    )
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use tokio::sync::oneshot;

    use super::*;

    #[rstest]
    #[case::any_path("GET /a/b?c HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK", "etcd 1.2.3\n")]
    #[case::body("POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "200 OK", "etcd 1.2.3\n")]
    #[case::head("HEAD /healthz HTTP/1.1\r\n\r\n", "200 OK", "")]
    #[case::half("GET / HTT", "400 Bad Request", "etcd 1.2.3\n")]
    #[tokio::test]
    async fn every_request_is_answered(
        #[case] request: &str,
        #[case] status: &str,
        #[case] body: &str,
    ) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let client = async {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            end.send(()).unwrap();
            answer
        };
        let ended = async { ended.await.unwrap() };
        let (served, answer) =
            tokio::join!(serve_on(&listener, || "etcd 1.2.3\n".into(), ended), client);
        served.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
        assert!(answer.contains("Content-Length: 11\r\n"), "{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\n{body}")), "{answer}");
    }
}
