//! The parts of a control plane that every backend on this machine starts, and their command
//! lines. What a backend needs beyond that comes as a [`Network`].

pub mod certificates;
mod memory;
pub mod readiness;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::home::ClusterDir;
use super::slot::Slot;
use super::tools::{Part, Tools};
use crate::process::{Launch, Lifetime};

/// How a backend connects its control plane.
pub struct Network {
    /// Where the API server listens, besides what kubeconfigs say: 127.0.0.1.
    pub bind_address: &'static str,
    /// What the API server announces as its own address; never a loopback address.
    pub advertised_address: String,
    /// The range of Service addresses.
    pub service_range: String,
    /// Addresses in the API server's certificate, besides 127.0.0.1.
    pub server_addresses: Vec<String>,
    /// More arguments of the API server.
    pub api_server: Vec<String>,
    /// More arguments of the controller manager.
    pub controller_manager: Vec<String>,
}

/// Writes and lists to `audit.log`, without bodies: enough to count who wrote and read what. Of the
/// operators every request: their rights are compared with what they use. Statuses of Subscriptions and
/// CatalogSources whole: what they say of readiness is compared with what others make of it.
const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Request
    verbs: [update]
    resources:
      - {group: operators.coreos.com, resources: [subscriptions/status, catalogsources/status]}
  - level: Metadata
    userGroups: ['system:serviceaccounts:operator-lifecycle-manager']
  - level: Metadata
    verbs: [create, update, patch, delete, deletecollection, list]
  - level: None
";

/// Writes the files that command lines name, apart from keys.
pub fn write_configuration(home: &ClusterDir) -> Result<()> {
    fs::create_dir_all(home.path("logs")).context("cannot create the log directory")?;
    fs::write(home.path("audit-policy.yaml"), AUDIT_POLICY).context("cannot write the audit policy")
}

/// Starts parts of one cluster.
pub struct ControlPlane<'a> {
    /// The directory of the cluster.
    pub home: &'a ClusterDir,
    /// Its number, from which its ports follow.
    pub slot: Slot,
    /// How it is connected.
    pub network: &'a Network,
    /// The programs.
    pub tools: &'a Tools,
    /// When its processes end at the latest.
    pub lifetime: Lifetime,
}

impl ControlPlane<'_> {
    /// The store.
    pub fn etcd(&self) -> Launch {
        let (client, peer) = (self.slot.etcd(), self.slot.etcd_peer());
        self.part(
            Part::Etcd,
            vec![
                "--name=default".into(),
                format!("--data-dir={}", self.home.arg("etcd")),
                format!("--listen-client-urls={client}"),
                format!("--advertise-client-urls={client}"),
                format!("--listen-peer-urls={peer}"),
                format!("--initial-advertise-peer-urls={peer}"),
                format!("--initial-cluster=default={peer}"),
                // Losing the data of a test with the machine's power is fine.
                "--unsafe-no-fsync".into(),
                "--quota-backend-bytes=8589934592".into(),
                "--log-level=warn".into(),
            ],
        )
    }

    /// The API server.
    pub fn api_server(&self) -> Launch {
        let mut args = vec![
            format!("--etcd-servers={}", self.slot.etcd()),
            format!("--bind-address={}", self.network.bind_address),
            format!("--secure-port={}", self.slot.api_port()),
            format!("--advertise-address={}", self.network.advertised_address),
            format!("--service-cluster-ip-range={}", self.network.service_range),
            "--allow-privileged=true".into(),
            "--shutdown-delay-duration=0s".into(),
        ];
        args.extend(self.api_server_identity());
        args.extend(self.api_server_audit());
        args.extend(self.network.api_server.iter().cloned());
        self.part(Part::KubeApiserver, args)
    }

    /// Turns manifests into dependent objects.
    pub fn controller_manager(&self) -> Launch {
        let mut args = vec![
            self.file("kubeconfig", "controller-manager.kubeconfig"),
            self.file("root-ca-file", "ca.crt"),
            self.file("service-account-private-key-file", "service-account.key"),
            self.file("cluster-signing-cert-file", "ca.crt"),
            self.file("cluster-signing-key-file", "ca.key"),
            "--use-service-account-credentials=true".into(),
            "--leader-elect=false".into(),
            "--secure-port=0".into(),
            "--kube-api-qps=300".into(),
            "--kube-api-burst=600".into(),
        ];
        args.extend(self.network.controller_manager.iter().cloned());
        self.part(Part::KubeControllerManager, args)
    }

    /// Gives pods to the node.
    pub fn scheduler(&self) -> Launch {
        self.part(
            Part::KubeScheduler,
            vec![
                self.file("kubeconfig", "scheduler.kubeconfig"),
                "--leader-elect=false".into(),
                "--secure-port=0".into(),
            ],
        )
    }

    fn api_server_identity(&self) -> Vec<String> {
        vec![
            self.file("cert-dir", "."),
            self.file("tls-cert-file", "apiserver.crt"),
            self.file("tls-private-key-file", "apiserver.key"),
            self.file("client-ca-file", "ca.crt"),
            "--service-account-issuer=https://kubernetes.default.svc".into(),
            self.file("service-account-key-file", "service-account.pub"),
            self.file("service-account-signing-key-file", "service-account.key"),
            self.file("requestheader-client-ca-file", "front-proxy-ca.crt"),
            "--requestheader-allowed-names=front-proxy-client".into(),
            "--requestheader-username-headers=X-Remote-User".into(),
            "--requestheader-group-headers=X-Remote-Group".into(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".into(),
            self.file("proxy-client-cert-file", "front-proxy.crt"),
            self.file("proxy-client-key-file", "front-proxy.key"),
        ]
    }

    fn api_server_audit(&self) -> Vec<String> {
        vec![
            format!("--audit-policy-file={}", self.home.arg("audit-policy.yaml")),
            format!("--audit-log-path={}", self.home.arg("audit.log")),
            // A write is in the log when it is answered: tests count them.
            "--audit-log-mode=blocking".into(),
            // Megabytes, more than any test writes: positions in the log stay valid.
            "--audit-log-maxsize=100000".into(),
        ]
    }

    /// A flag that names a file of the cluster.
    fn file(&self, flag: &str, name: &str) -> String {
        format!("--{flag}={}", self.home.arg(name))
    }

    /// A part of every cluster.
    pub fn part(&self, part: Part, args: Vec<String>) -> Launch {
        self.launch(part.name(), self.tools.program(part), args)
    }

    /// A program with its log file.
    pub fn launch(&self, name: &str, program: PathBuf, args: Vec<String>) -> Launch {
        Launch {
            name: name.to_owned(),
            program,
            args,
            env: memory::variables(name),
            log: self.home.path(&format!("logs/{name}.log")),
            lifetime: self.lifetime,
        }
    }
}
