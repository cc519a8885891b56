//! One question to the DNS of a cluster, asked at its Service: RFC 1035, an A record.

use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Service;
use kube::{Api, Client};
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Identifies the question.
const ID: [u8; 2] = [0x4f, 0x4c];

/// The address of a name.
pub(super) async fn address(client: &Client, name: &str) -> Result<Ipv4Addr> {
    let services: Api<Service> = Api::namespaced(client.clone(), "kube-system");
    let server = services.get("kube-dns").await?.spec.and_then(|spec| spec.cluster_ip);
    let server = server.context("the Service kube-dns has no address")?;
    let socket = UdpSocket::bind("0.0.0.0:0").await.context("cannot open a socket")?;
    socket.connect((server.as_str(), 53)).await.context("the DNS cannot be reached")?;
    socket.send(&question(name)).await.context("cannot ask the DNS")?;
    let mut answer = [0; 512];
    let length = timeout(LIMIT, socket.recv(&mut answer)).await;
    let length = length.with_context(|| format!("the DNS is silent for {LIMIT:?}"))??;
    read(answer.get(..length).unwrap_or_default()).with_context(|| format!("no answer for {name}"))
}

/// A header with one question and recursion desired, the name in labels, type A, class IN.
fn question(name: &str) -> Vec<u8> {
    let mut message = [ID.as_slice(), &[1, 0, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
    for label in name.split('.') {
        message.extend(u8::try_from(label.len()));
        message.extend(label.bytes());
    }
    message.extend([0, 0, 1, 0, 1]);
    message
}

/// The data of an A record are the last four bytes of an answer that has nothing else.
fn read(answer: &[u8]) -> Result<Ipv4Addr> {
    ensure!(answer.starts_with(&ID), "another question was answered");
    let code = answer.get(3).map(|flags| flags & 0x0f);
    ensure!(code == Some(0), "the DNS answered with code {code:?}");
    ensure!(answer.get(6..12) == Some(&[0, 1, 0, 0, 0, 0]), "there is not one answer");
    let data: Option<&[u8; 4]> = answer.last_chunk();
    Ok(Ipv4Addr::from(*data.context("the answer is too short")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_a_header_and_labels() {
        let message = question("a.svc");
        assert_eq!(message[12..], [1, b'a', 3, b's', b'v', b'c', 0, 0, 1, 0, 1]);
    }

    #[test]
    fn an_answer_ends_with_the_address() {
        let head = [ID.as_slice(), &[0x85, 0, 0, 1, 0, 1, 0, 0, 0, 0]].concat();
        let answer = [head.as_slice(), &[0, 4, 10, 96, 64, 10]].concat();
        assert_eq!(read(&answer).unwrap(), Ipv4Addr::new(10, 96, 64, 10));
        let mut refused = answer.clone();
        refused[3] = 3;
        assert!(read(&refused).unwrap_err().to_string().contains("code Some(3)"));
        assert!(read(&answer[..5]).is_err());
        assert!(read(&[]).is_err());
    }
}
