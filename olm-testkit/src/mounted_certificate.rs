//! The certificate of a server whose Pods are played by a process.
//!
//! A task takes the place of the kubelet: it keeps the certificate in files as the Secret has it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::wait;

/// The file with the certificate, and its key in the Secret.
pub(crate) const CERTIFICATE: &str = "tls.crt";

/// The same of the private key.
pub(crate) const PRIVATE_KEY: &str = "tls.key";

/// Files with what a Secret says, until dropped.
#[derive(Debug)]
pub(crate) struct MountedCertificate {
    files: TempDir,
    kubelet: JoinHandle<()>,
}

impl MountedCertificate {
    /// The files are there from the moment at which the Secret is.
    pub(crate) fn of(client: &Client, namespace: &str, secret: &str) -> Result<Self> {
        let secrets = Api::namespaced(client.clone(), namespace);
        Ok(Self::kept(folder()?, secrets, secret))
    }

    /// The same for a server that does not start without its files: waits for the Secret.
    pub(crate) async fn once_there(client: &Client, namespace: &str, secret: &str) -> Result<Self> {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let first = wait::until(&secrets, secret, "hold a certificate", is_whole).await?;
        let files = folder()?;
        write(&first, files.path()).context("cannot write a certificate")?;
        Ok(Self::kept(files, secrets, secret))
    }

    fn kept(files: TempDir, secrets: Api<Secret>, secret: &str) -> Self {
        let kubelet = keep(secrets, secret.to_owned(), files.path().to_owned());
        Self { files, kubelet: tokio::spawn(kubelet) }
    }

    /// The folder of [`CERTIFICATE`] and [`PRIVATE_KEY`].
    pub(crate) fn folder(&self) -> &Path {
        self.files.path()
    }
}

impl Drop for MountedCertificate {
    fn drop(&mut self) {
        self.kubelet.abort();
    }
}

fn folder() -> Result<TempDir> {
    tempfile::tempdir().context("cannot create a folder for certificates")
}

fn is_whole(secret: &Secret) -> bool {
    let has = |key: &str| secret.data.as_ref().is_some_and(|data| data.contains_key(key));
    has(CERTIFICATE) && has(PRIVATE_KEY)
}

/// Writes each version of the Secret at once, which a kubelet would take a while for.
async fn keep(secrets: Api<Secret>, name: String, folder: PathBuf) {
    let only = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let versions = watcher(secrets, only).default_backoff().applied_objects();
    let mut versions = std::pin::pin!(versions);
    while let Some(version) = versions.next().await {
        // A watch that fails starts again by itself.
        let Ok(secret) = version else { continue };
        let _ = write(&secret, &folder);
    }
}

/// A reader never sees half a file.
fn write(secret: &Secret, folder: &Path) -> std::io::Result<()> {
    for (key, content) in secret.data.iter().flatten() {
        if [CERTIFICATE, PRIVATE_KEY].contains(&key.as_str()) {
            let partial = folder.join(format!("{key}.partial"));
            std::fs::write(&partial, &content.0)?;
            std::fs::rename(&partial, folder.join(key))?;
        }
    }
    Ok(())
}
