//! Catalogs: from folders, from servers that a flag names, or from the address of their CatalogSource.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use olm_catalog::connection::CatalogConnection;
use olm_catalog::fbc::ReadLimits;
use olm_catalog::index::Index;
use olm_catalog::registry::client::{ClientOptions, RegistryClient};
use olm_catalog::snapshot::{CatalogSnapshot, Member, SnapshotSet};
use olm_lifecycle::unpack::UnpackedBundle;
use olm_plan::preview::{Asked, Known};
use olm_types::api::{CatalogSource, OperatorGroup};
use olm_types::bundle::{CatalogKey, Entry};

/// How long a server that no flag names may take to answer at first: it may be out of reach.
const REACH: Duration = Duration::from_secs(10);

/// The port of a registry server behind the Service of its CatalogSource.
const PORT: u16 = 50051;

/// Where the contents of a catalog are.
enum Place {
    Folder(PathBuf),
    Server(Box<RegistryClient>),
}

/// The catalogs of a namespace.
pub struct Catalogs {
    /// What the resolver sees.
    pub set: SnapshotSet,
    /// Catalogs that could not be read, and why.
    pub unread: Vec<String>,
    places: BTreeMap<CatalogKey, Place>,
}

impl Catalogs {
    /// The catalogs that flags name.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub async fn of_flags(known: &Known, asked: &Asked, flags: &[String]) -> Result<Self> {
        let mut catalogs =
            Self { set: SnapshotSet::default(), unread: Vec::new(), places: BTreeMap::new() };
        let mut members = Vec::new();
        for flag in flags {
            for (key, place) in parse(flag, known, asked)? {
                let content = load(&key, &place, None).await;
                let content = content.with_context(|| format!("cannot use the catalog {key}"))?;
                let priority = priority(known, &key);
                members.push(Member { key: key.clone(), priority, content: Ok(Arc::new(content)) });
                catalogs.places.insert(key, place);
            }
        }
        catalogs.set = SnapshotSet::new(members);
        Ok(catalogs)
    }

    /// The catalogs that the namespace sees: those that flags name there, the others by their addresses.
    ///
    /// # Errors
    /// One that a flag names cannot be read.
    pub async fn of_cluster(known: &Known, asked: &Asked, flags: &[String]) -> Result<Self> {
        let mut catalogs = Self::of_flags(known, asked, flags).await?;
        let mut members = catalogs.set.members().to_vec();
        for source in sources(known) {
            let metadata = &source.metadata;
            let namespace = metadata.namespace.clone().unwrap_or_default();
            let name = metadata.name.clone().unwrap_or_default();
            let key = CatalogKey::new(&namespace, &name);
            if catalogs.places.contains_key(&key) || !is_visible(known, asked, &namespace) {
                continue;
            }
            let priority = source.spec.priority.unwrap_or_default();
            let content = match reach(&key, &source).await {
                Ok((place, snapshot)) => {
                    catalogs.places.insert(key.clone(), place);
                    Ok(Arc::new(snapshot))
                }
                Err(error) => {
                    catalogs.unread.push(format!(
                        "catalog {key} ({error:#}); --catalog {key}=HOST:PORT names where it is served"
                    ));
                    Err(format!("{error:#}"))
                }
            };
            members.push(Member { key, priority, content });
        }
        catalogs.set = SnapshotSet::new(members);
        Ok(catalogs)
    }

    /// The manifests of a bundle that its catalog holds.
    ///
    /// # Errors
    /// The catalog does not have it, or cannot be asked.
    pub async fn bundle(&self, entry: &Entry) -> Result<UnpackedBundle> {
        let place = self.places.get(&entry.catalog).context("its catalog was not read")?;
        let (csv_name, csv_json, objects) = match place {
            Place::Folder(folder) => {
                let index = Index::build(folder, &ReadLimits::default(), None)?;
                let bundle = index.bundle(&entry.package, &entry.channel, &entry.name)?;
                let bundle = bundle.message()?;
                (bundle.csv_name, bundle.csv_json, bundle.object)
            }
            Place::Server(client) => {
                let found = client.bundle(&entry.package, &entry.channel, &entry.name).await;
                let found = found.map_err(|error| anyhow!("{error}"))?;
                (found.name, found.csv_json, found.objects)
            }
        };
        Ok(UnpackedBundle { csv_name, csv_json, objects })
    }
}

async fn reach(key: &CatalogKey, source: &CatalogSource) -> Result<(Place, CatalogSnapshot)> {
    let named = source.spec.address.clone().filter(|address| !address.is_empty());
    let address = named.unwrap_or_else(|| format!("{}.{}.svc:{PORT}", key.name, key.namespace));
    let place = server(key, &address)?;
    let snapshot = load(key, &place, Some(REACH)).await?;
    Ok((place, snapshot))
}

fn server(key: &CatalogKey, address: &str) -> Result<Place> {
    let client = RegistryClient::open(key.clone(), address, ClientOptions::default())?;
    Ok(Place::Server(Box::new(client)))
}

async fn load(key: &CatalogKey, place: &Place, limit: Option<Duration>) -> Result<CatalogSnapshot> {
    match place {
        Place::Folder(folder) => Ok(CatalogSnapshot::of_folder(key.clone(), folder)?),
        Place::Server(client) => {
            let limit = limit.unwrap_or(ClientOptions::default().load_timeout);
            match tokio::time::timeout(limit, client.load()).await {
                Ok(loaded) => loaded.map_err(|error| anyhow!("{error}")),
                Err(_) => bail!("no answer within {} s", limit.as_secs()),
            }
        }
    }
}

/// The catalogs of one flag.
fn parse(flag: &str, known: &Known, asked: &Asked) -> Result<Vec<(CatalogKey, Place)>> {
    let Some((name, place)) = flag.split_once('=') else {
        return folders(Path::new(flag));
    };
    let key = match name.split_once('/') {
        Some((namespace, name)) => CatalogKey::new(namespace, name),
        None => CatalogKey::new(&namespace_of(known, asked, name), name),
    };
    let folder = Path::new(place);
    let place =
        if folder.is_dir() { Place::Folder(folder.to_owned()) } else { server(&key, place)? };
    Ok(vec![(key, place)])
}

/// The namespace of the CatalogSource of that name that is seen, or that of global catalogs.
fn namespace_of(known: &Known, asked: &Asked, name: &str) -> String {
    let mut found = sources(known).into_iter().filter_map(|source| {
        let namespace = source.metadata.namespace?;
        let is_seen = [&asked.namespace, &asked.global_namespace].contains(&&namespace);
        (source.metadata.name.as_deref() == Some(name) && is_seen).then_some(namespace)
    });
    found.next().unwrap_or_else(|| asked.global_namespace.clone())
}

/// Catalogs in folders `NAMESPACE/NAME`.
fn folders(folder: &Path) -> Result<Vec<(CatalogKey, Place)>> {
    let mut found = Vec::new();
    for (namespace, folder) in children(folder)? {
        for (name, folder) in children(&folder)? {
            found.push((CatalogKey::new(&namespace, &name), Place::Folder(folder)));
        }
    }
    if found.is_empty() {
        bail!("{} has no folders NAMESPACE/NAME with catalogs", folder.display());
    }
    Ok(found)
}

fn children(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let cannot_read = || format!("cannot read the folder {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot_read)? {
        let entry = entry.with_context(cannot_read)?;
        if entry.path().is_dir() {
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

fn sources(known: &Known) -> Vec<CatalogSource> {
    let all = known.objects.iter().filter(|(key, _)| key.kind == CatalogSource::KIND);
    all.filter_map(|(_, object)| serde_json::from_value(object.clone()).ok()).collect()
}

fn priority(known: &Known, key: &CatalogKey) -> i64 {
    let mut all = sources(known).into_iter();
    let found = all.find(|source| {
        source.metadata.name.as_deref() == Some(&*key.name)
            && source.metadata.namespace.as_deref() == Some(&*key.namespace)
    });
    found.and_then(|source| source.spec.priority).unwrap_or_default()
}

/// Whether the catalogs of a namespace are seen: the rule is the operator's.
fn is_visible(known: &Known, asked: &Asked, namespace: &str) -> bool {
    let groups = known
        .objects
        .iter()
        .filter(|(key, _)| key.kind == OperatorGroup::KIND && key.namespace == asked.namespace);
    let groups = groups.filter_map(|(_, object)| serde_json::from_value(object.clone()).ok());
    let home = olm_lifecycle::subscription::resolution::Namespace {
        name: asked.namespace.clone(),
        groups: groups.map(Arc::new).collect(),
        ..Default::default()
    };
    home.visible(&asked.global_namespace).contains(&namespace)
}
