//! A TLS server that shows whatever certificate lies in its files at the moment.
//!
//! Each answer ends its connection, so that each request shakes hands anew and meets the newest
//! certificate: a test of rotation sees every state that there is.

use std::future::Future;
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::answers;
use crate::arguments::{Api, Responder};

/// The longest request.
const LONGEST_BODY: usize = 4 << 20;

/// How long a client may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How often the files are looked for while they are not there or do not fit together.
const LOOK: Duration = Duration::from_millis(50);

/// How long calls are answered after the end was asked for: until all callers know that this Pod is
/// about to go, calls are sent to it.
const DRAIN: Duration = Duration::from_secs(3);

/// Answers every request until `ended`, and for a while after it.
pub async fn serve(answer: Responder, ended: impl Future<Output = ()>) -> Result<()> {
    let listener = TcpListener::bind(answer.address).await?;
    println!("answers at {}", listener.local_addr()?);
    let answer = Arc::new(answer);
    let accept = async {
        loop {
            // A client that goes wrong harms only itself.
            if let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(timeout(TIMEOUT, connection(stream, Arc::clone(&answer))));
            }
        }
    };
    let drained = async {
        ended.await;
        sleep(DRAIN).await;
    };
    tokio::select! {
        () = drained => Ok(()),
        () = accept => Ok(()),
    }
}

async fn connection(stream: TcpStream, answer: Arc<Responder>) -> Result<()> {
    let stream = TlsAcceptor::from(newest(&answer).await).accept(stream).await?;
    let reply = service_fn(|request| reply(request, answer.api.as_ref()));
    let mut server = http1::Builder::new();
    server.keep_alive(false);
    server.serve_connection(TokioIo::new(stream), reply).await.map_err(Error::other)
}

async fn reply(request: Request<Incoming>, api: Option<&Api>) -> Result<Response<Full<Bytes>>> {
    let path = request.uri().path().to_owned();
    let body = Limited::new(request.into_body(), LONGEST_BODY).collect().await;
    let body = body.map_err(Error::other)?.to_bytes();
    let (status, value) = answers::answer(&path, &body, api);
    Response::builder()
        .status(status)
        .header("Content-Type", "application/json")
        .body(Full::new(value.to_string().into()))
        .map_err(Error::other)
}

/// Waits for a certificate and a key that fit together: while files are replaced they may not.
async fn newest(answer: &Responder) -> Arc<ServerConfig> {
    loop {
        match load(answer) {
            Ok(config) => return config,
            Err(_) => sleep(LOOK).await,
        }
    }
}

fn load(answer: &Responder) -> Result<Arc<ServerConfig>> {
    let invalid = |error| Error::new(ErrorKind::InvalidData, error);
    let broken = |error: rustls::pki_types::pem::Error| Error::other(error.to_string());
    let chain = CertificateDer::pem_file_iter(&answer.certificate).map_err(broken)?;
    let chain = chain.collect::<std::result::Result<Vec<_>, _>>().map_err(broken)?;
    let key = PrivateKeyDer::from_pem_file(&answer.key).map_err(broken)?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let certified = CertifiedKey::from_der(chain, key, &provider).map_err(invalid)?;
    certified.keys_match().map_err(invalid)?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(invalid)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    fn mk(dir: &std::path::Path, name: &str) -> String {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["a".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        fs::write(dir.join(format!("{name}.crt")), &certificate).unwrap();
        fs::write(dir.join(format!("{name}.key")), key.serialize_pem()).unwrap();
        certificate
    }

    fn files(dir: &std::path::Path, certificate: &str, key: &str) -> Responder {
        Responder {
            address: "127.0.0.1:0".parse().unwrap(),
            certificate: dir.join(certificate),
            key: dir.join(key),
            api: None,
        }
    }

    #[test]
    fn a_certificate_is_shown_only_with_its_own_key() {
        let dir = tempfile::tempdir().unwrap();
        mk(dir.path(), "one");
        mk(dir.path(), "two");
        assert!(load(&files(dir.path(), "one.crt", "one.key")).is_ok());
        assert!(load(&files(dir.path(), "one.crt", "two.key")).is_err());
        assert!(load(&files(dir.path(), "one.crt", "none.key")).is_err());
        assert!(load(&files(dir.path(), "one.key", "one.key")).is_err());
    }
}
