//! The command lines of the parts of a local control plane.

use std::fs;

use anyhow::{Context, Result};

use super::home::Home;
use super::slot::Slot;
use crate::cluster::tools::Tools;
use crate::process::{Launch, Lifetime};

/// What the API server announces as its own address. It must not be a loopback address and is
/// never dialled here, so it is one that is reserved for documentation.
const ADVERTISED: &str = "192.0.2.1";

/// Writes to `audit.log`, without bodies: enough to count who wrote what.
const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    verbs: [create, update, patch, delete, deletecollection]
  - level: None
";

/// Writes the files that command lines name, apart from keys.
pub(super) fn write_configuration(home: &Home) -> Result<()> {
    fs::create_dir_all(home.path("logs")).context("cannot create the log directory")?;
    fs::write(home.path("audit-policy.yaml"), AUDIT_POLICY).context("cannot write the audit policy")
}

/// Starts parts of one cluster.
pub(super) struct Components<'a> {
    pub home: &'a Home,
    pub slot: Slot,
    pub tools: &'a Tools,
    pub lifetime: Lifetime,
}

impl Components<'_> {
    /// The store.
    pub(super) fn etcd(&self) -> Launch {
        let (client, peer) = (self.slot.etcd(), self.slot.etcd_peer());
        self.part(
            "etcd",
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
    pub(super) fn api_server(&self) -> Launch {
        let mut args = vec![
            format!("--etcd-servers={}", self.slot.etcd()),
            "--bind-address=127.0.0.1".into(),
            format!("--secure-port={}", self.slot.api_port()),
            format!("--advertise-address={ADVERTISED}"),
            format!("--service-cluster-ip-range={}", self.slot.service_range()),
            "--authorization-mode=RBAC".into(),
            "--allow-privileged=true".into(),
            "--shutdown-delay-duration=0s".into(),
        ];
        args.extend(self.api_server_identity());
        args.extend(self.api_server_audit());
        self.part("kube-apiserver", args)
    }

    /// Turns manifests into dependent objects.
    pub(super) fn controller_manager(&self) -> Launch {
        let kubeconfig = self.home.arg("controller-manager.kubeconfig");
        self.part(
            "kube-controller-manager",
            vec![
                format!("--kubeconfig={kubeconfig}"),
                format!("--root-ca-file={}", self.home.arg("ca.crt")),
                format!(
                    "--service-account-private-key-file={}",
                    self.home.arg("service-account.key")
                ),
                format!("--cluster-signing-cert-file={}", self.home.arg("ca.crt")),
                format!("--cluster-signing-key-file={}", self.home.arg("ca.key")),
                "--use-service-account-credentials=true".into(),
                "--leader-elect=false".into(),
                "--secure-port=0".into(),
                "--kube-api-qps=300".into(),
                "--kube-api-burst=600".into(),
            ],
        )
    }

    /// Gives pods to the node.
    pub(super) fn scheduler(&self) -> Launch {
        self.part(
            "kube-scheduler",
            vec![
                format!("--kubeconfig={}", self.home.arg("scheduler.kubeconfig")),
                "--leader-elect=false".into(),
                "--secure-port=0".into(),
            ],
        )
    }

    /// Pretends to be a kubelet.
    pub(super) fn kwok(&self) -> Launch {
        let args = vec![
            format!("--kubeconfig={}", self.home.arg("kubeconfig")),
            "--manage-all-nodes=true".into(),
            // Without leases the node controller calls the node NotReady after 50 seconds.
            "--node-lease-duration-seconds=40".into(),
        ];
        Launch { program: self.tools.kwok(), ..self.launch("kwok", args) }
    }

    fn api_server_identity(&self) -> Vec<String> {
        let file = |flag: &str, name: &str| format!("--{flag}={}", self.home.arg(name));
        vec![
            file("cert-dir", "."),
            file("tls-cert-file", "apiserver.crt"),
            file("tls-private-key-file", "apiserver.key"),
            file("client-ca-file", "ca.crt"),
            "--service-account-issuer=https://kubernetes.default.svc".into(),
            file("service-account-key-file", "service-account.pub"),
            file("service-account-signing-key-file", "service-account.key"),
            file("requestheader-client-ca-file", "front-proxy-ca.crt"),
            "--requestheader-allowed-names=front-proxy-client".into(),
            "--requestheader-username-headers=X-Remote-User".into(),
            "--requestheader-group-headers=X-Remote-Group".into(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".into(),
            file("proxy-client-cert-file", "front-proxy.crt"),
            file("proxy-client-key-file", "front-proxy.key"),
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

    /// A part of the one binary.
    fn part(&self, name: &str, args: Vec<String>) -> Launch {
        let args = std::iter::once(name.to_owned()).chain(args).collect();
        self.launch(name, args)
    }

    fn launch(&self, name: &str, args: Vec<String>) -> Launch {
        Launch {
            name: name.to_owned(),
            program: self.tools.control_plane(),
            args,
            env: Vec::new(),
            log: self.home.path(&format!("logs/{name}.log")),
            lifetime: self.lifetime,
        }
    }
}
