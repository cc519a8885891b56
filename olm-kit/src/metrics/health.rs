//! What the process is, whether it leads, and until when its certificates are good.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::MetricsError;
use super::at_scrape::{Probes, Sample};
use super::catalogue::Catalogue;
use super::family::{Family, Type};
use crate::leader::Leadership;
use crate::tls::ServingIdentity;

const BUILD: Family =
    Family::ours("olm_kit_build_info", "1, with the version of the program", &["version"]);
const LEADER: Family = Family::kubernetes(
    "leader_election_master_status",
    "1 while this process acts, 0 while it waits for its turn; by name of the Lease",
    &["name"],
);
const EXPIRY: Family = Family::ours(
    "olm_kit_certificate_expiration_timestamp_seconds",
    "When the certificate that a server of this process shows ends, in seconds since 1970",
    &["server"],
);

/// Version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is reported about the process as such. Clones share it.
#[derive(Clone)]
pub(super) struct Health {
    leaders: Probes<String, bool>,
    certificates: Probes<String, Option<Timestamp>>,
}

impl Health {
    pub(super) fn register(catalogue: &Catalogue) -> Result<Self, MetricsError> {
        let health = Self { leaders: Probes::default(), certificates: Probes::default() };
        let families = [BUILD, LEADER, EXPIRY].map(|family| family.described(Type::Gauge));
        let read = health.clone();
        catalogue.at_scrape(&families, move || read.samples())?;
        Ok(health)
    }

    pub(super) fn leader(&self, lease: &str, leadership: &Leadership) {
        let leadership = leadership.clone();
        self.leaders.add(lease.to_owned(), move || leadership.is_leader());
    }

    pub(super) fn certificate(&self, server: &str, identity: &ServingIdentity) {
        let identity = identity.clone();
        self.certificates.add(server.to_owned(), move || identity.ends_at());
    }

    /// For people.
    pub(super) fn state(&self) -> Value {
        let certificates = self.certificates.read().into_iter();
        let certificates: Map<_, _> =
            certificates.map(|(server, end)| (server, json!({ "ends": end }))).collect();
        json!({"version": VERSION, "certificates": certificates})
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples = vec![Sample::new(BUILD, &[VERSION], 1.0)];
        let leaders = self.leaders.read().into_iter();
        samples.extend(
            leaders
                .map(|(lease, leads)| Sample::new(LEADER, &[&lease], f64::from(u8::from(leads)))),
        );
        let certificates = self.certificates.read().into_iter();
        samples.extend(certificates.filter_map(|(server, end)| {
            Some(Sample::new(EXPIRY, &[&server], end?.as_duration().as_secs_f64()))
        }));
        samples
    }
}
