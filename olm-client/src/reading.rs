//! Where catalogs, objects and manifests are read.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use k8s_openapi::api::apps::v1::Deployment;
use olm_plan::preview::Known;
use olm_plan::settings::{Flavour, Settings};
use olm_types::version::{Version, VersionError};

use crate::contents::Pulling;

/// Where catalogs and objects are read.
#[derive(Args, Clone, Debug, Default)]
pub struct Sources {
    /// Ask no cluster: --catalog and --state are all there is
    #[arg(long)]
    pub offline: bool,
    /// [NAMESPACE/]NAME=HOST:PORT or =FOLDER, or a folder with folders NAMESPACE/NAME; repeatable
    #[arg(long, value_name = "CATALOG")]
    pub catalog: Vec<String>,
    /// Objects as `kubectl get -o yaml` prints them, with --offline; repeatable
    #[arg(long, value_name = "FILE")]
    pub state: Vec<PathBuf>,
    /// Which OLM decides, with --offline; otherwise as its Deployments in --state say, or olm-rs
    #[arg(long, visible_alias = "flavour", value_enum, value_name = "OLM")]
    pub flavor: Option<Flavor>,
    /// Version of Kubernetes that operators are compared with, with --offline, such as 1.33
    #[arg(long, value_name = "VERSION", value_parser = kube_version)]
    pub kube_version: Option<String>,
    /// Namespace of global catalogs; otherwise as the programs of OLM say, or olm
    #[arg(long, value_name = "NAME")]
    pub olm_namespace: Option<String>,
}

/// A version as an API server gives it: the numbers that are left out are 0.
fn kube_version(text: &str) -> Result<String, VersionError> {
    Version::parse_tolerant(text).map(|version| format!("v{version}"))
}

/// Which OLM decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Flavor {
    /// OLM v0 without flags
    V0,
    /// This project's, without flags
    OlmRs,
}

impl From<Flavor> for Flavour {
    fn from(flavor: Flavor) -> Self {
        match flavor {
            Flavor::V0 => Self::V0,
            Flavor::OlmRs => Self::OlmRs,
        }
    }
}

impl Sources {
    /// How OLM decides where no cluster is asked: as flags say, then the Deployments of its programs among what files
    /// say, then as olm-rs without flags.
    #[must_use]
    pub fn settings(&self, known: &Known) -> Settings {
        let asked = self.flavor.map(Flavour::from);
        let found = Settings::of(&known.typed::<Deployment>("Deployment"));
        let found = found.filter(|found| asked.is_none_or(|asked| asked == found.flavour));
        let mut settings =
            found.unwrap_or_else(|| Settings::of_flavour(asked.unwrap_or(Flavour::OlmRs)));
        if let Some(global) = &self.olm_namespace {
            settings.global_namespace.clone_from(global);
        }
        settings
    }
}

/// Where manifests are read, too.
#[derive(Args, Clone, Debug, Default)]
pub struct Reading {
    /// Catalogs and objects
    #[command(flatten)]
    pub sources: Sources,
    /// A folder with bundles, for those whose image is not read
    #[arg(long, value_name = "FOLDER")]
    pub bundles: Option<PathBuf>,
    /// Do not ask the API server what it would make of each object
    #[arg(long)]
    pub no_server_check: bool,
    /// Bundle images
    #[command(flatten)]
    pub pulling: Pulling,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// The programs of an OLM in namespace `market`.
    fn state(programs: &[&str]) -> Known {
        let mut known = Known { is_everything: true, ..Known::default() };
        for app in programs {
            known.add(json!({"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": app, "namespace": "market", "labels": {"app": app}},
                "spec": {"selector": {}, "template": {"spec": {"containers": [{"name": "c",
                    "args": ["--namespace=market"]}]}}}}));
        }
        known
    }

    #[rstest]
    #[case("1.33", Some("v1.33.0"))]
    #[case("v1.33.2", Some("v1.33.2"))]
    #[case("new", None)]
    fn a_version_of_kubernetes_may_be_short(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(kube_version(text).ok().as_deref(), expected);
    }

    #[rstest]
    #[case::nothing(None, &[], Flavour::OlmRs, "olm")]
    #[case::flag(Some(Flavor::V0), &[], Flavour::V0, "olm")]
    #[case::files(None, &["catalog-operator", "packageserver"], Flavour::V0, "market")]
    #[case::both(Some(Flavor::OlmRs), &["catalog-operator"], Flavour::OlmRs, "market")]
    #[case::another(Some(Flavor::V0), &["catalog-operator"], Flavour::V0, "olm")]
    fn flags_count_before_files(
        #[case] flavor: Option<Flavor>,
        #[case] programs: &[&str],
        #[case] expected: Flavour,
        #[case] global: &str,
    ) {
        let sources = Sources { flavor, ..Sources::default() };
        let found = sources.settings(&state(programs));
        assert_eq!((found.flavour, &*found.global_namespace), (expected, global));
        let named = Sources { olm_namespace: Some("x".to_owned()), ..sources };
        assert_eq!(named.settings(&state(programs)).global_namespace, "x");
    }
}
