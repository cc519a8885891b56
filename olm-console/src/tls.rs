//! TLS with a certificate in files, as a Secret is mounted: followed while they change.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use olm_client::Notices;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::fs;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use crate::ConsoleError;

/// Between two looks at the files. The kubelet exchanges them within a minute or two.
const LOOK: Duration = Duration::from_secs(5);

/// Where certificate and key are, both PEM.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// What a server shows of itself, kept in step with files.
pub(crate) struct Tls {
    files: Files,
    shown: Mutex<Shown>,
}

struct Shown {
    content: Content,
    acceptor: TlsAcceptor,
}

/// What was in the files.
#[derive(Clone, PartialEq, Eq)]
struct Content {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Tls {
    /// Reads the files for the first time.
    ///
    /// # Errors
    /// They cannot be read, or are no certificate with its key.
    pub(crate) async fn begin(files: Files) -> Result<Self, ConsoleError> {
        let shown = Shown::of(read(&files).await?, &files)?;
        Ok(Self { files, shown: Mutex::new(shown) })
    }

    /// What accepts connections now.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).acceptor.clone()
    }

    /// Looks again and again; never ends. What is wrong is said once, and the last good content goes on being shown.
    pub(crate) async fn follow(&self, notices: &Notices) {
        let mut said = String::new();
        loop {
            sleep(LOOK).await;
            let problem =
                self.look().await.err().map(|error| error.to_string()).unwrap_or_default();
            if !problem.is_empty() && problem != said {
                notices.say(&format!("warning: the certificate cannot be exchanged: {problem}"));
            }
            said = problem;
        }
    }

    /// Shows what the files hold now.
    async fn look(&self) -> Result<(), ConsoleError> {
        let content = read(&self.files).await?;
        if self.shown.lock().unwrap_or_else(PoisonError::into_inner).content == content {
            return Ok(());
        }
        let shown = Shown::of(content, &self.files)?;
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = shown;
        Ok(())
    }
}

impl Shown {
    fn of(content: Content, files: &Files) -> Result<Self, ConsoleError> {
        let config = config(&content).map_err(|reason| ConsoleError::Certificate {
            path: files.certificate.clone(),
            reason,
        })?;
        Ok(Self { content, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}

fn config(content: &Content) -> Result<ServerConfig, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&content.certificate).collect();
    let chain = chain.map_err(|error| error.to_string())?;
    let key = PrivateKeyDer::from_pem_slice(&content.key).map_err(|error| error.to_string())?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

async fn read(files: &Files) -> Result<Content, ConsoleError> {
    let failed = |path: &PathBuf, error: io::Error| ConsoleError::Certificate {
        path: path.clone(),
        reason: error.to_string(),
    };
    let Files { certificate, key } = files;
    Ok(Content {
        certificate: fs::read(certificate).await.map_err(|error| failed(certificate, error))?,
        key: fs::read(key).await.map_err(|error| failed(key, error))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(files: &Files) {
        let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(&files.certificate, issued.cert.pem()).unwrap();
        std::fs::write(&files.key, issued.signing_key.serialize_pem()).unwrap();
    }

    #[tokio::test]
    async fn a_certificate_is_exchanged_and_a_bad_one_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let [certificate, key] = ["tls.crt", "tls.key"].map(|name| folder.path().join(name));
        let files = Files { certificate, key };
        assert!(Tls::begin(files.clone()).await.is_err(), "there are no files");
        write(&files);
        let tls = Tls::begin(files.clone()).await.unwrap();
        let shown = || tls.shown.lock().unwrap().content.certificate.clone();
        let first = shown();
        tls.look().await.unwrap();
        assert_eq!(shown(), first);
        write(&files);
        tls.look().await.unwrap();
        let second = shown();
        assert_ne!(second, first);
        std::fs::write(&files.key, "none").unwrap();
        let error = tls.look().await.unwrap_err().to_string();
        assert!(error.contains("tls.crt"), "{error}");
        assert_eq!(shown(), second);
    }
}
