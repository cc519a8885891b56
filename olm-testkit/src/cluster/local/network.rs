//! How a local cluster is connected: everything on loopback addresses.
//!
//! A Service range inside 127.0.0.0/8 makes every ClusterIP an address of this machine, so
//! webhooks and aggregated APIs of processes outside the cluster are called through their
//! Services. Each cluster has its own range, or clusters side by side call each other's.

use crate::cluster::control_plane::Network;
use crate::cluster::slot::Slot;

/// What the API server announces as its own address. It must not be a loopback address and is
/// never dialled here, so it is one that is reserved for documentation.
const ADVERTISED: &str = "192.0.2.1";

/// The connections of the cluster with this number.
pub(super) fn of(slot: Slot) -> Network {
    Network {
        bind_address: "127.0.0.1",
        advertised_address: ADVERTISED.to_owned(),
        service_range: format!("127.{}.0.0/16", slot.number()),
        server_addresses: vec![format!("127.{}.0.1", slot.number())],
        api_server: vec!["--authorization-mode=RBAC".to_owned()],
        controller_manager: Vec::new(),
    }
}
