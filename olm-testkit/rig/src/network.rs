//! The addresses of a real cluster: a part of 10.0.0.0/8 for each number.
//!
//! | range | use |
//! |---|---|
//! | 10.N.0.0/18 | pods; the node has the first /24 of it |
//! | 10.N.64.0/18 | Services; .1 is `kubernetes`, .10 is the cluster DNS |
//! | 10.N.128.0/30 | the cable between the machine (.1) and the node (.2) |

use std::net::Ipv4Addr;

use olm_testkit::cluster::control_plane::Network;
use olm_testkit::cluster::home::ClusterDir;
use olm_testkit::cluster::slot::Slot;

/// The addresses of the cluster with this number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses(u8);

impl Addresses {
    pub(super) fn of(slot: Slot) -> Self {
        Self(slot.number())
    }

    /// Everything together.
    pub(super) fn all(self) -> String {
        format!("10.{}.0.0/16", self.0)
    }

    /// Addresses of pods.
    pub(super) fn pods(self) -> String {
        format!("10.{}.0.0/18", self.0)
    }

    /// Addresses of pods on the one node.
    pub(super) fn node_pods(self) -> String {
        format!("10.{}.0.0/24", self.0)
    }

    /// Addresses of Services.
    pub(super) fn services(self) -> String {
        format!("10.{}.64.0/18", self.0)
    }

    /// The Service `kubernetes`.
    pub(super) fn first_service(self) -> String {
        format!("10.{}.64.1", self.0)
    }

    /// The Service of the cluster DNS.
    pub(super) fn dns(self) -> String {
        format!("10.{}.64.10", self.0)
    }

    /// The machine, as the node sees it.
    pub(super) fn machine(self) -> String {
        format!("10.{}.128.1", self.0)
    }

    /// The node: its InternalIP.
    pub(super) fn node(self) -> String {
        format!("10.{}.128.2", self.0)
    }

    /// The network device of the machine that leads to the node.
    pub(super) fn device(self) -> String {
        format!("olm-rs-{}", self.0)
    }
}

/// How the control plane is connected.
pub(super) fn control_plane(home: &ClusterDir, addresses: Addresses) -> Network {
    let file = |flag: &str, name: &str| format!("--{flag}={}", home.arg(name));
    Network {
        // Only the machine and the pods see the addresses of this network namespace.
        bind_address: "0.0.0.0",
        advertised_address: addresses.node(),
        service_range: addresses.services(),
        server_addresses: vec![addresses.first_service(), addresses.node()],
        api_server: vec![
            "--authorization-mode=Node,RBAC".to_owned(),
            "--enable-admission-plugins=NodeRestriction".to_owned(),
            // Aggregated APIs are called at the addresses of their pods.
            "--enable-aggregator-routing=true".to_owned(),
            // Or logs and exec look the node's name up in DNS.
            "--kubelet-preferred-address-types=InternalIP".to_owned(),
            file("kubelet-certificate-authority", "ca.crt"),
            file("kubelet-client-certificate", "kubelet-client.crt"),
            file("kubelet-client-key", "kubelet-client.key"),
        ],
        controller_manager: vec![
            "--allocate-node-cidrs=true".to_owned(),
            format!("--cluster-cidr={}", addresses.pods()),
        ],
    }
}

/// Whether this machine reaches none of the addresses of a number elsewhere. `routes` is
/// `/proc/net/route`. Wider routes do no harm: the one to the node is more specific.
pub(super) fn is_free(slot: Slot, routes: &str) -> bool {
    let taken = |(destination, mask): (Ipv4Addr, Ipv4Addr)| {
        let [first, second, ..] = destination.octets();
        let inside = first == 10 && second == slot.number();
        inside && mask.octets().starts_with(&[255, 255])
    };
    !routes.lines().skip(1).filter_map(route).any(taken)
}

/// Destination and mask of a line: hexadecimal, in the byte order of a little-endian machine.
fn route(line: &str) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let address = |field: &str| {
        let number = u32::from_str_radix(field, 16).ok()?;
        Some(Ipv4Addr::from(number.swap_bytes()))
    };
    Some((address(fields.get(1)?)?, address(fields.get(7)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT";

    fn free(number: u8, line: &str) -> bool {
        let slot: Slot = serde_json::from_value(number.into()).unwrap();
        is_free(slot, &format!("{HEAD}\n{line}\n"))
    }

    #[test]
    fn a_number_whose_network_the_machine_uses_is_passed_over() {
        // 10.96.0.0/16, as a cluster has it.
        let cluster = "olm-rs-96 0000600A 0280600A 0003 0 0 0 0000FFFF 0 0 0";
        assert!(!free(96, cluster));
        assert!(free(97, cluster));
        // 10.97.3.0/24, a small network inside.
        assert!(!free(97, "eth1 0003610A 00000000 0001 0 0 0 00FFFFFF 0 0 0"));
    }

    #[test]
    fn wider_routes_and_nonsense_are_no_obstacle() {
        // 10.0.0.0/8 of a VPN, and the default route.
        assert!(free(96, "tun0 0000000A 00000000 0001 0 0 0 000000FF 0 0 0"));
        assert!(free(96, "eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0"));
        assert!(free(96, "eth0 zz"));
    }
}
