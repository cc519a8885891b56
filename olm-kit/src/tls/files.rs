//! Certificates in files, as a Secret is mounted: followed while they change.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::fs;
use tokio::time::sleep;

use super::{ServingIdentity, SharedProfile};
use crate::callers::Authorities;

/// Between two looks at the files. The kubelet exchanges them within a minute or two.
const LOOK: Duration = Duration::from_secs(5);

/// Where certificate, key and the authorities of clients are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain, PEM.
    pub certificate: PathBuf,
    /// Its key, PEM.
    pub key: PathBuf,
    /// Authorities whose clients are known by their certificates, PEM; none if absent.
    pub client_authority: Option<PathBuf>,
}

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// One cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// They hold something else than they should.
    #[error("cannot serve with {path}: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// What was in the files.
#[derive(Clone, Default, PartialEq, Eq)]
struct Content {
    certificate: Vec<u8>,
    key: Vec<u8>,
    clients: Vec<u8>,
}

/// What a server shows, kept in step with files.
pub(crate) struct Followed {
    files: TlsFiles,
    shown: Content,
    pub(crate) identity: ServingIdentity,
    pub(crate) authorities: Arc<ArcSwap<Authorities>>,
}

impl TlsFiles {
    /// The files that three flags name. TLS is off without certificate and key; the command line
    /// sees to it that there are both or none.
    pub fn given(
        certificate: Option<&Path>,
        key: Option<&Path>,
        client_authority: Option<&Path>,
    ) -> Option<Self> {
        Some(Self {
            certificate: certificate?.to_path_buf(),
            key: key?.to_path_buf(),
            client_authority: client_authority
                .filter(|path| !path.as_os_str().is_empty())
                .map(Path::to_path_buf),
        })
    }

    async fn read(&self) -> Result<Content, FilesError> {
        let clients = match &self.client_authority {
            Some(path) => content(path).await?,
            None => Vec::new(),
        };
        let (certificate, key) = (content(&self.certificate).await?, content(&self.key).await?);
        Ok(Content { certificate, key, clients })
    }
}

impl Followed {
    /// Reads the files for the first time, for a server that accepts what `profile` says.
    pub(crate) async fn begin(files: TlsFiles, profile: SharedProfile) -> Result<Self, FilesError> {
        let (identity, authorities) = (ServingIdentity::new(profile), Arc::default());
        let mut followed = Self { files, shown: Content::default(), identity, authorities };
        followed.look().await?;
        Ok(followed)
    }

    /// Looks again and again; never ends. What is wrong is reported once, and the last good content
    /// goes on being shown.
    pub(crate) async fn follow(mut self) {
        let mut reported = None;
        loop {
            sleep(LOOK).await;
            let problem = self.look().await.err().map(|error| crate::tasks::chain(&error));
            if let Some(problem) = problem.as_ref().filter(|_| problem != reported) {
                tracing::warn!(problem, "the certificate of this process cannot be exchanged");
            }
            reported = problem;
        }
    }

    /// Shows what the files hold now.
    pub(crate) async fn look(&mut self) -> Result<(), FilesError> {
        let content = self.files.read().await?;
        if content == self.shown {
            return Ok(());
        }
        let authorities = self.clients(&content.clients)?;
        self.identity.set(&content.certificate, &content.key, &authorities).map_err(|error| {
            FilesError::Malformed {
                path: self.files.certificate.clone(),
                reason: error.to_string(),
            }
        })?;
        self.authorities.store(Arc::new(authorities));
        self.shown = content;
        tracing::info!(certificate = %self.files.certificate.display(), "serving with it");
        Ok(())
    }

    /// Those whose certificates count.
    fn clients(&self, pem: &[u8]) -> Result<Authorities, FilesError> {
        let text = String::from_utf8_lossy(pem);
        Authorities::of_clients(&text).map_err(|reason| FilesError::Malformed {
            path: self.files.client_authority.clone().unwrap_or_default(),
            reason,
        })
    }
}

async fn content(path: &Path) -> Result<Vec<u8>, FilesError> {
    fs::read(path).await.map_err(|source| FilesError::Read { path: path.to_path_buf(), source })
}
