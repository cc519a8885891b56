//! How kind is configured to make a cluster.

/// One node, with kind's defaults for everything else.
pub(super) const CLUSTER: &str = "\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
";
