//! Each controller with what it needs.

use std::sync::{Arc, OnceLock};

use dashmap::DashMap;
use olm_kit::discovery::{ApiKinds, OptionalKind, ServerVersion};
use olm_kit::live::Pages;
use olm_lifecycle::catalog_source::registry::Settings;
use olm_lifecycle::cluster_operator::API as CLUSTER_OPERATOR;
use olm_lifecycle::unpack::job::Images;

use super::Parts;
use super::hosting::{Hosting, pull_secrets};
use crate::controllers::catalog_source::CatalogSourceReconciler;
use crate::controllers::cluster_operator::ClusterOperatorReconciler;
use crate::controllers::install_plan::{Calls, InstallPlanReconciler};
use crate::controllers::resolution::{
    DeferredPlans, Outcomes, Refusals, ResolutionReconciler, Rules, Solver, Unchanged,
};
use crate::controllers::subscription::SubscriptionReconciler;
use crate::digest::{CatalogPolling, DigestSource, RegistryDigests};
use crate::packages::PackageReconciler;
use crate::unpack::{BundleUnpacker, Bundles, Cluster, JobUnpacker, ProcessUnpacker, Unpacker};

impl Parts {
    pub(super) fn refresh(&self) -> PackageReconciler {
        PackageReconciler {
            store: self.stores.catalogs.clone(),
            catalogs: self.content.catalogs.clone(),
            packages: self.content.packages.clone(),
            made_of: DashMap::new(),
        }
    }

    pub(super) fn catalog_sources(&self) -> CatalogSourceReconciler {
        CatalogSourceReconciler {
            store: self.stores.catalogs.clone(),
            servers: self.stores.servers.clone(),
            catalogs: self.content.catalogs.clone(),
            settings: Settings {
                opm_image: self.args.opm_image.clone(),
                util_image: self.args.util_image.clone(),
                config_map_server_image: self.args.configmap_server_image.clone(),
                user: self.args.workload_user(),
            },
            digests: self.digests(),
            hosts: self.hosting.as_ref().map(Hosting::hosts),
            version: ServerVersion::new(self.client.clone()),
            client: self.client.clone(),
            interpreter: self.interpreter.clone(),
            leadership: self.participant.leadership().clone(),
            acting_since: OnceLock::new(),
            metrics: self.metrics.clone(),
        }
    }

    pub(super) fn cluster_operators(&self) -> ClusterOperatorReconciler {
        ClusterOperatorReconciler {
            stores: self.stores.clone(),
            kind: OptionalKind::new(self.client.clone(), CLUSTER_OPERATOR),
            interpreter: self.interpreter.clone(),
            namespace: self.args.namespace.clone(),
            release: std::env::var("RELEASE_VERSION").ok(),
        }
    }

    /// What is asked for the digests of catalog images, if anything is.
    fn digests(&self) -> Option<Arc<dyn DigestSource>> {
        (self.args.catalog_polling == CatalogPolling::Digest).then(|| {
            let (registry, secrets) =
                (self.registry.clone(), pull_secrets(&self.args, &self.client));
            Arc::new(RegistryDigests { secrets, registry }) as Arc<_>
        })
    }

    pub(super) fn subscriptions(&self) -> SubscriptionReconciler {
        SubscriptionReconciler {
            stores: self.stores.clone(),
            catalogs: self.content.catalogs.clone(),
            client: self.client.clone(),
            interpreter: self.interpreter.clone(),
            namespaces: self.queues.namespaces.clone(),
            global_namespace: self.args.global_catalog_namespace().to_owned(),
            metrics: self.metrics.clone(),
        }
    }

    pub(super) fn resolutions(&self) -> ResolutionReconciler {
        ResolutionReconciler {
            stores: self.stores.clone(),
            solver: self.solver(),
            bundles: self.bundles(),
            interpreter: self.interpreter.clone(),
            tenancy: self.tenancy.clone(),
            complaints: DashMap::new(),
            outcomes: Outcomes::default(),
            unchanged: Unchanged::default(),
            refusals: Refusals::default(),
            orphans: DashMap::new(),
            deferred: DeferredPlans::default(),
            retry_timeout: self.args.install_plan_retry_timeout,
        }
    }

    fn solver(&self) -> Solver {
        Solver {
            stores: self.stores.clone(),
            catalogs: self.content.catalogs.clone(),
            global_namespace: self.args.global_catalog_namespace().to_owned(),
            rules: Rules {
                policy: self.args.resolution,
                cluster: self.args.check_cluster_version.then(|| self.client.clone()),
                resolver: self.resolver.clone(),
            },
            metrics: self.metrics.clone(),
        }
    }

    fn bundles(&self) -> Bundles {
        let cluster = Cluster {
            stores: self.stores.clone(),
            client: self.client.clone(),
            interpreter: self.interpreter.clone(),
        };
        let unpacker: Arc<dyn BundleUnpacker> = match self.args.bundle_unpack {
            Unpacker::Process => Arc::new(ProcessUnpacker {
                pulls: self.content.pulls.clone(),
                secrets: pull_secrets(&self.args, &self.client),
            }),
            Unpacker::Job => Arc::new(JobUnpacker {
                images: Images {
                    opm: self.args.opm_image.clone(),
                    util: self.args.util_image.clone(),
                    user: self.args.workload_user(),
                },
            }),
        };
        Bundles {
            cluster,
            unpacker,
            timeout: self.args.bundle_unpack_timeout,
            global_namespace: self.args.global_catalog_namespace().to_owned(),
        }
    }

    pub(super) fn install_plans(&self) -> InstallPlanReconciler {
        InstallPlanReconciler {
            stores: self.stores.clone(),
            calls: Calls {
                client: self.client.clone(),
                interpreter: self.interpreter.clone(),
                kinds: ApiKinds::new(self.client.clone()),
                pages: Pages::default(),
            },
            solver: self.solver(),
            rights: self.rights.clone(),
            tenancy: self.tenancy.clone(),
            complaints: DashMap::new(),
            operator_namespace: self.args.namespace.clone(),
            retry_timeout: self.args.install_plan_retry_timeout,
            keeps_stored_versions: !self.args.retire_stored_versions,
            metrics: self.metrics.clone(),
        }
    }
}
