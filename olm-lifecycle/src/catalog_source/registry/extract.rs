//! Catalogs that are taken out of their image and served by our own server
//! (`grpcPodConfig.extractContent`).

use k8s_openapi::api::core::v1::{Container, EmptyDirVolumeSource, PodSpec, Volume, VolumeMount};
use olm_types::api::ExtractContentConfig;

use super::Settings;
use super::pod::{FALLBACK_TO_LOGS, pull_policy};
use super::security::read_only;

/// Where the program that copies is, for the container of the catalog image.
const UTILITIES: &str = "/utilities";
/// Where the catalog and its cache are put.
const EXTRACTED: &str = "/extracted-catalog";

/// Changes a Pod that runs a catalog image into one that takes the catalog out of it.
pub(super) fn apply(
    pod: &mut PodSpec,
    image: &str,
    extract: &ExtractContentConfig,
    settings: &Settings,
) {
    let cache = extract.cache_dir.as_deref().filter(|dir| !dir.is_empty());
    let mut volumes = vec![volume("utilities"), volume("catalog-content")];
    let mut mounts = vec![mount("catalog-content", EXTRACTED)];
    if cache.is_none() {
        // opm makes a cache of its own there.
        volumes.push(volume("tmpdir"));
        mounts.insert(0, mount("tmpdir", "/tmp/"));
    }
    pod.volumes = Some(volumes);
    pod.init_containers = Some(vec![
        fetch_utilities(&settings.util_image),
        fetch_content(image, &extract.catalog_dir, cache),
    ]);
    for server in &mut pod.containers {
        serve(server, &settings.opm_image, cache.is_some());
        server.volume_mounts = Some(mounts.clone());
    }
}

fn fetch_utilities(image: &str) -> Container {
    Container {
        name: "extract-utilities".to_owned(),
        image: Some(image.to_owned()),
        command: Some(vec!["cp".to_owned()]),
        args: Some(vec!["/bin/copy-content".to_owned(), format!("{UTILITIES}/copy-content")]),
        volume_mounts: Some(vec![mount("utilities", UTILITIES)]),
        termination_message_policy: Some(FALLBACK_TO_LOGS.to_owned()),
        security_context: Some(read_only(true)),
        ..Container::default()
    }
}

fn fetch_content(image: &str, catalog: &str, cache: Option<&str>) -> Container {
    let mut args =
        vec![format!("--catalog.from={catalog}"), format!("--catalog.to={EXTRACTED}/catalog")];
    if let Some(cache) = cache {
        args.extend([format!("--cache.from={cache}"), format!("--cache.to={EXTRACTED}/cache")]);
    }
    Container {
        name: "extract-content".to_owned(),
        image: Some(image.to_owned()),
        image_pull_policy: Some(pull_policy(image).to_owned()),
        command: Some(vec![format!("{UTILITIES}/copy-content")]),
        args: Some(args),
        volume_mounts: Some(vec![
            mount("utilities", UTILITIES),
            mount("catalog-content", EXTRACTED),
        ]),
        termination_message_policy: Some(FALLBACK_TO_LOGS.to_owned()),
        security_context: Some(read_only(true)),
        ..Container::default()
    }
}

fn serve(server: &mut Container, image: &str, has_cache: bool) {
    let mut args = vec!["serve".to_owned(), format!("{EXTRACTED}/catalog")];
    if has_cache {
        args.push(format!("--cache-dir={EXTRACTED}/cache"));
    }
    server.image = Some(image.to_owned());
    server.image_pull_policy = Some(pull_policy(image).to_owned());
    server.command = Some(vec!["/bin/opm".to_owned()]);
    server.args = Some(args);
    server.security_context = Some(read_only(true));
}

fn volume(name: &str) -> Volume {
    Volume {
        name: name.to_owned(),
        empty_dir: Some(EmptyDirVolumeSource::default()),
        ..Volume::default()
    }
}

fn mount(name: &str, path: &str) -> VolumeMount {
    VolumeMount { name: name.to_owned(), mount_path: path.to_owned(), ..VolumeMount::default() }
}
