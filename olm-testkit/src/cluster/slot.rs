//! What keeps clusters on one machine apart: a number N that no other cluster uses.
//!
//! N gives a block of ports, and each backend makes its networks of it. The ports lie below the
//! range from which the kernel takes those of outgoing connections, so they stay free once found
//! free.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::ops::RangeInclusive;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The numbers in use by clusters; 127.0 and its neighbours are left to others.
const NUMBERS: RangeInclusive<u8> = 96..=223;

/// The first port of number 0, and the size of a block.
const FIRST_PORT: u16 = 20_000;
const BLOCK: u16 = 10;

/// The number of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(u8);

impl Slot {
    /// The lowest number that no cluster uses, whose ports are free and that suits the backend.
    pub fn choose(used: &BTreeSet<Slot>, suits: impl Fn(Slot) -> bool) -> Result<Self> {
        NUMBERS
            .map(Slot)
            .find(|slot| !used.contains(slot) && suits(*slot) && slot.is_free())
            .context("no block of ports is free: end clusters with `cargo xtask cluster down`")
    }

    /// The number itself.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Where etcd serves clients.
    pub fn etcd(self) -> String {
        format!("http://127.0.0.1:{}", self.port(0))
    }

    /// Where etcd serves other members, of which there are none.
    pub fn etcd_peer(self) -> String {
        format!("http://127.0.0.1:{}", self.port(1))
    }

    /// The port of the API server.
    pub fn api_port(self) -> u16 {
        self.port(2)
    }

    /// The port of the image registry, where there is one.
    pub fn registry_port(self) -> u16 {
        self.port(3)
    }

    /// The address of the API server.
    pub fn api_server(self) -> String {
        format!("https://127.0.0.1:{}", self.api_port())
    }

    fn port(self, offset: u16) -> u16 {
        FIRST_PORT + u16::from(self.0) * BLOCK + offset
    }

    fn is_free(self) -> bool {
        (0..4).all(|offset| TcpListener::bind(("127.0.0.1", self.port(offset))).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_never_share_a_port_or_a_range() {
        let mut seen = BTreeSet::new();
        for slot in NUMBERS.map(Slot) {
            assert!((0..BLOCK).all(|offset| seen.insert(slot.port(offset))));
            assert!(slot.port(BLOCK - 1) < 32_768, "an outgoing connection may take it");
        }
    }

    #[test]
    fn a_used_number_and_a_busy_port_are_passed_over() {
        let first = Slot::choose(&BTreeSet::new(), |_| true).unwrap();
        let second = Slot::choose(&BTreeSet::from([first]), |_| true).unwrap();
        assert!(first < second);
        let _busy = TcpListener::bind(("127.0.0.1", second.api_port())).unwrap();
        assert!(second < Slot::choose(&BTreeSet::from([first]), |_| true).unwrap());
    }
}
