//! How registries of images are asked: without TLS, by whom they are trusted, through which proxy, at
//! which mirrors. Files are followed while they change, and so are OpenShift's mirror sets where there
//! are such kinds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use olm_catalog::image::{MirrorSet, Mirrors, Registry, RegistryOptions};
use olm_catalog::registry::client::Proxy;
use olm_kit::discovery::ApiKinds;
use olm_kit::tasks::Tasks;
use olm_kit::watch::{Config, Store, Watch};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::args::Args;
use crate::digest::CatalogPolling;
use crate::hosting::CatalogServer;
use crate::unpack::Unpacker;

/// Between two looks at the files. The kubelet exchanges them within a minute or two.
const LOOK: Duration = Duration::from_secs(5);

/// Between two looks for kinds that the cluster did not have.
const LOOK_FOR_KINDS: Duration = Duration::from_secs(60);

/// OpenShift's kinds about mirrors.
const SETS: [(&str, MirrorSet); 2] =
    [("ImageDigestMirrorSet", MirrorSet::Digests), ("ImageTagMirrorSet", MirrorSet::Tags)];

/// The files that flags name.
#[derive(Clone)]
struct Files {
    authorities: Vec<PathBuf>,
    mirrors: Option<PathBuf>,
}

/// What is in them.
#[derive(Clone, Default, PartialEq)]
struct Content {
    authorities: Vec<Vec<u8>>,
    mirrors: String,
}

/// A client of registries as the command line says.
pub(super) fn registry(args: &Args) -> Result<Registry> {
    let content = Files::of(args).read()?;
    let without_tls = args.insecure_registries.iter().filter(|name| !name.is_empty());
    let options = RegistryOptions {
        without_tls: without_tls.cloned().collect(),
        mirrors: content.rules().context("cannot use --registries-config")?,
        authorities: content.authorities,
        proxy: Proxy::for_images(|name| std::env::var(name).ok()),
        ..RegistryOptions::default()
    };
    Registry::with(options).context("cannot use certificates of authorities")
}

/// Has a client of registries follow files and mirror sets. Nothing is followed where this process pulls
/// nothing.
pub(super) async fn follow(args: &Args, registry: &Registry, client: &Client, tasks: &Tasks) {
    let pulls = args.hosting.catalogs == CatalogServer::Process
        || args.bundle_unpack == Unpacker::Process
        || args.catalog_polling == CatalogPolling::Digest;
    if !pulls {
        return;
    }
    let changed = Arc::new(Notify::new());
    let mut sets = MirrorSets::new(client, tasks, &changed);
    sets.look().await;
    let (files, registry, token) = (Files::of(args), registry.clone(), tasks.token());
    tasks.spawn("rules about registries", async move {
        tokio::select! {
            () = apply(&files, &mut sets, &registry, &changed) => {}
            () = token.cancelled() => {}
        }
    });
}

/// Applies what changed, for ever.
async fn apply(files: &Files, sets: &mut MirrorSets, registry: &Registry, changed: &Notify) {
    let mut known = files.read().unwrap_or_default();
    let mut rules = known.rules().unwrap_or_default();
    loop {
        registry.mirror(sets.watched.iter().fold(rules.clone(), with));
        tokio::select! {
            () = changed.notified() => {}
            () = sets.until_another(), if !sets.is_complete() => {}
            content = until_other(files, &known) => {
                if content.authorities != known.authorities {
                    report("authorities", registry.trust(&content.authorities));
                }
                match content.rules() {
                    Ok(read) => rules = read,
                    Err(error) => report("mirrors", Err(error)),
                }
                known = content;
            }
        }
    }
}

fn with(rules: Mirrors, (kind, store): &(MirrorSet, Store<DynamicObject>)) -> Mirrors {
    let all = store.list();
    let of = |object: &Arc<DynamicObject>| {
        object.data.get("spec").map(|spec| Mirrors::of_set(*kind, spec)).unwrap_or_default()
    };
    all.iter().map(of).fold(rules, Mirrors::with)
}

async fn until_other(files: &Files, known: &Content) -> Content {
    loop {
        sleep(LOOK).await;
        match files.read() {
            Ok(content) if content != *known => return content,
            Ok(_) => {}
            Err(error) => report("files", Err(error)),
        }
    }
}

/// What cannot be used leaves what was used before.
fn report<E: std::fmt::Display>(what: &str, result: Result<(), E>) {
    match result {
        Ok(()) => tracing::info!(what, "rules about registries changed"),
        Err(error) => tracing::error!(what, %error, "changed rules about registries are not used"),
    }
}

/// Mirror sets of the kinds that the cluster has by now.
struct MirrorSets {
    client: Client,
    kinds: ApiKinds,
    tasks: Tasks,
    changed: Arc<Notify>,
    watched: Vec<(MirrorSet, Store<DynamicObject>)>,
}

impl MirrorSets {
    fn new(client: &Client, tasks: &Tasks, changed: &Arc<Notify>) -> Self {
        Self {
            client: client.clone(),
            kinds: ApiKinds::new(client.clone()),
            tasks: tasks.clone(),
            changed: Arc::clone(changed),
            watched: Vec::new(),
        }
    }

    /// Whether all kinds are watched.
    fn is_complete(&self) -> bool {
        self.watched.len() >= SETS.len()
    }

    /// Returns when the cluster has one of the kinds that it did not have.
    async fn until_another(&mut self) {
        let before = self.watched.len();
        while self.watched.len() == before {
            sleep(LOOK_FOR_KINDS).await;
            self.look().await;
        }
    }

    /// Watches the kinds that the cluster has.
    async fn look(&mut self) {
        for (kind, set) in SETS {
            if self.watched.iter().any(|(known, _)| *known == set) {
                continue;
            }
            match self.kinds.resolve("config.openshift.io", "v1", kind).await {
                Ok(Some(found)) => self.watch(kind, set, &found.resource.plural),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(kind, %error, "it is not known whether there are mirror sets");
                }
            }
        }
    }

    fn watch(&mut self, kind: &'static str, set: MirrorSet, plural: &str) {
        let gvk = GroupVersionKind::gvk("config.openshift.io", "v1", kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let changed = Arc::clone(&self.changed);
        let watch = Watch::dynamic(api, resource, Config::default());
        let store = watch.on_change(move |_| changed.notify_one()).start(&self.tasks);
        self.watched.push((set, store));
        tracing::info!(kind, "mirrors of this kind are followed");
    }
}

impl Files {
    fn of(args: &Args) -> Self {
        let authorities = args.hosting.registry_ca_files.iter();
        let authorities = authorities.filter(|path| !path.as_os_str().is_empty());
        Self {
            authorities: authorities.cloned().collect(),
            mirrors: args.hosting.registries_config.clone(),
        }
    }

    fn read(&self) -> Result<Content> {
        let authorities = self.authorities.iter().map(|path| read(path));
        let mirrors = self.mirrors.as_ref().map(|path| read(path)).transpose()?;
        let mirrors = String::from_utf8(mirrors.unwrap_or_default());
        Ok(Content {
            authorities: authorities.collect::<Result<_>>()?,
            mirrors: mirrors.context("--registries-config is not UTF-8")?,
        })
    }
}

impl Content {
    fn rules(&self) -> Result<Mirrors> {
        Ok(Mirrors::parse(&self.mirrors)?)
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Certificates of authorities are read again while they change; what cannot be read changes nothing.
    #[tokio::test(start_paused = true)]
    async fn changed_files_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("authority");
        fs::write(&path, "one").unwrap();
        let files = Files { authorities: vec![path.clone()], mirrors: None };
        let known = files.read().unwrap();
        let unchanged = tokio::time::timeout(10 * LOOK, until_other(&files, &known));
        assert!(unchanged.await.is_err(), "nothing has changed");
        fs::remove_file(&path).unwrap();
        let unreadable = tokio::time::timeout(10 * LOOK, until_other(&files, &known));
        assert!(unreadable.await.is_err(), "it is being exchanged");
        fs::write(&path, "two").unwrap();
        assert_eq!(until_other(&files, &known).await.authorities, [b"two".to_vec()]);
    }
}
