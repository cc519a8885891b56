//! The controllers beside that of CSVs: copies, Operators, adoption, OperatorConditions, labels.

use std::sync::Arc;

use olm_kit::discovery::OptionalKind;
use olm_lifecycle::cluster_operator::API as CLUSTER_OPERATOR;
use tokio::sync::Semaphore;

use super::Parts;
use crate::args::Args;
use crate::controllers::adoption::{CsvAdoptionReconciler, SubscriptionAdoptionReconciler};
use crate::controllers::api_service::ApiServiceReconciler;
use crate::controllers::cluster_operator::{ClusterOperatorReconciler, Names, Report};
use crate::controllers::copied_csv::{AT_ONCE, Claims, CopyReconciler, LONGEST};
use crate::controllers::labeller::LabelReconciler;
use crate::controllers::olm_config::ConfigReconciler;
use crate::controllers::operator::OperatorReconciler;
use crate::controllers::operator_condition::ConditionReconciler;
use crate::status_delay::StatusDelay;
use crate::triggers::Triggers;

/// Sets of copies that are worked on at the same time; each writes to several namespaces at once.
const COPY_WORKERS: usize = 4;

/// Keys of each of these controllers that are worked on at the same time.
const WORKERS: usize = 2;

impl Parts {
    /// Starts what keeps copies of CSVs.
    pub(super) fn start_copies(&self) {
        let Triggers { stores, queues, originals, .. } = &self.triggers;
        let copies = CopyReconciler {
            stores: stores.clone(),
            interpreter: self.interpreter.clone(),
            client: self.client.clone(),
            originals: originals.clone(),
            protected: self.protected.clone(),
            announced: Arc::default(),
            status_delay: StatusDelay::no_longer_than(LONGEST),
            refreshes: self.refreshes.clone(),
            queue: queues.copies.clone(),
            claims: Claims::new(queues.copies.clone()),
            permits: Arc::new(Semaphore::new(AT_ONCE)),
        };
        let configs = ConfigReconciler {
            stores: stores.clone(),
            interpreter: self.interpreter.clone(),
            protected: self.protected.clone(),
        };
        self.start("copiedcsv", &queues.copies, copies, COPY_WORKERS);
        self.start("olmconfig", &queues.configs, configs, 1);
    }

    /// Starts them once all stores are filled.
    pub(super) fn start_related(&self) {
        let Triggers { stores, queues, components, dependents, .. } = &self.triggers;
        let interpreter = &self.interpreter;
        let operators = OperatorReconciler {
            stores: stores.clone(),
            index: components.clone(),
            interpreter: interpreter.clone(),
            status_delay: StatusDelay::default(),
        };
        let adopter = CsvAdoptionReconciler {
            stores: stores.clone(),
            index: components.clone(),
            tenancy: self.tenancy.clone(),
            interpreter: interpreter.clone(),
        };
        let subscriptions = SubscriptionAdoptionReconciler {
            stores: stores.clone(),
            interpreter: interpreter.clone(),
            status_delay: StatusDelay::default(),
        };
        let conditions =
            ConditionReconciler { stores: stores.clone(), interpreter: interpreter.clone() };
        let api_services = ApiServiceReconciler {
            stores: stores.clone(),
            dependents: dependents.clone(),
            interpreter: interpreter.clone(),
        };
        let labeller = LabelReconciler { stores: stores.clone(), interpreter: interpreter.clone() };
        self.start("operator", &queues.operators, operators, WORKERS);
        self.start("adoption_csv", &queues.adoptions, adopter, WORKERS);
        self.start("adoption_subscription", &queues.subscriptions, subscriptions, WORKERS);
        self.start("operator_condition", &queues.conditions, conditions, WORKERS);
        self.start("apiservice", &queues.api_services, api_services, 1);
        self.start("labeller", &queues.labels, labeller, 1);
    }

    /// Starts reporting to OpenShift, where flags ask for it.
    pub(super) fn start_reports(&self) {
        let Triggers { stores, queues, .. } = &self.triggers;
        if self.report.names.given().next().is_none() {
            return;
        }
        let reports = ClusterOperatorReconciler {
            stores: stores.clone(),
            tenancy: self.tenancy.clone(),
            kind: OptionalKind::new(self.client.clone(), CLUSTER_OPERATOR),
            interpreter: self.interpreter.clone(),
            report: self.report.clone(),
        };
        self.start("clusteroperator", &queues.reports, reports, 1);
        queues.add_reports();
    }
}

/// What flags ask to be reported.
pub(super) fn report(args: &Args) -> Report {
    let names = Names {
        olm: args.write_status_name.clone(),
        package_server: args.write_package_server_status_name.clone(),
    };
    Report::new(names, &args.namespace)
}
