//! Replacing certificates that end soon while servers go on answering.

use std::collections::BTreeMap;

use jiff::Timestamp;
use olm_effect::{CertificateOrder, Effect};
use olm_types::api::ClusterServiceVersion;

use super::bundle::join;
use super::demand::{Demand, demands};
use super::judge::{Judgement, Unusable, judge};
use super::observed::ServingObjects;
use super::order::order;
use super::provision;
use super::secret::ServingSecret;

/// The state of all certificates of a CSV together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All are good.
    Good {
        /// When the first of them is due; absent for a CSV without servers.
        rotate_at: Option<Timestamp>,
        /// Whether more is trusted than the active authorities.
        has_surplus: bool,
    },
    /// Clients accept all of them, and at least one ends soon.
    Due,
    /// Clients do not accept one of them.
    Unusable {
        /// Name of the Secret.
        secret: String,
        /// What is wrong.
        reason: Unusable,
    },
}

/// The first step of a rotation: what comes next is put beside what is active.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Announcement {
    /// The writes of Secrets.
    pub secrets: Vec<Effect>,
    /// Whom clients are to trust from now on, as PEM, by the name of the Deployment.
    pub trusted: BTreeMap<String, Vec<u8>>,
}

/// Judges all certificates of a CSV.
pub fn condition(
    csv: &ClusterServiceVersion,
    objects: &ServingObjects,
    now: Timestamp,
) -> Condition {
    let (mut first, mut has_surplus, mut is_due) = (None, false, false);
    for demand in demands(csv) {
        match judgement(&demand, objects, now) {
            Judgement::Good { rotate_at } => {
                first = [first, Some(rotate_at)].into_iter().flatten().min();
                has_surplus |= has_more(&demand, objects);
            }
            Judgement::Due => is_due = true,
            Judgement::Unusable(reason) => {
                return Condition::Unusable { secret: demand.names.secret(), reason };
            }
        }
    }
    match is_due {
        true => Condition::Due,
        false => Condition::Good { rotate_at: first, has_surplus },
    }
}

/// Puts new certificates beside those that are due. What was announced before a crash is kept.
///
/// # Errors
/// The certificates that have to be issued first.
pub fn announce(
    csv: &ClusterServiceVersion,
    objects: &ServingObjects,
    now: Timestamp,
) -> Result<Announcement, CertificateOrder> {
    let due: Vec<Demand<'_>> = demands(csv)
        .into_iter()
        .filter(|demand| judgement(demand, objects, now) == Judgement::Due)
        .collect();
    let new: Vec<&Demand<'_>> =
        due.iter().filter(|demand| !has_good_next(demand, objects, now)).collect();
    let ordered = || {
        let servers = new.iter().map(|demand| (demand.names.secret(), demand.names.hosts()));
        order(servers.collect(), now)
    };
    let mut announcement = Announcement::default();
    for demand in demands(csv) {
        let Some(secret) = objects.secrets.get(&demand.names.secret()) else { continue };
        let mut trusted = ServingSecret::new(secret).trusted();
        if new.iter().any(|one| one.names == demand.names) {
            let issued = objects.issued.as_ref().ok_or_else(ordered)?;
            let server = issued.servers.get(&demand.names.secret()).ok_or_else(ordered)?;
            let next = provision::material(issued, server);
            announcement.secrets.push(provision::announce(csv, &demand, secret, next));
            trusted = join([trusted.as_slice(), next.authority]);
        }
        announcement.trusted.insert(demand.entry.name.clone(), trusted);
    }
    Ok(announcement)
}

/// Whether a certificate waits to become active.
pub(crate) fn is_announced(csv: &ClusterServiceVersion, objects: &ServingObjects) -> bool {
    let mut secrets = demands(csv).into_iter();
    secrets.any(|demand| {
        let secret = objects.secrets.get(&demand.names.secret());
        secret.is_some_and(|secret| ServingSecret::new(secret).next().is_some())
    })
}

/// The last step of a rotation: only the active authorities are trusted any more.
pub fn trim(csv: &ClusterServiceVersion, objects: &ServingObjects) -> Announcement {
    let mut trimmed = Announcement::default();
    for demand in demands(csv) {
        let Some(secret) = objects.secrets.get(&demand.names.secret()) else { continue };
        let active = ServingSecret::new(secret).active();
        trimmed.trusted.insert(demand.entry.name.clone(), active.authority.to_vec());
        if has_more(&demand, objects) {
            trimmed.secrets.push(provision::trim(csv, &demand, secret));
        }
    }
    trimmed
}

fn judgement(demand: &Demand<'_>, objects: &ServingObjects, now: Timestamp) -> Judgement {
    match objects.secrets.get(&demand.names.secret()) {
        None => Judgement::Unusable(Unusable::NoSecret),
        Some(secret) => judge(ServingSecret::new(secret).active(), &demand.names.hosts(), now),
    }
}

fn has_good_next(demand: &Demand<'_>, objects: &ServingObjects, now: Timestamp) -> bool {
    let secret = objects.secrets.get(&demand.names.secret());
    let next = secret.and_then(|secret| ServingSecret::new(secret).next());
    next.is_some_and(|next| {
        matches!(judge(next, &demand.names.hosts(), now), Judgement::Good { .. })
    })
}

fn has_more(demand: &Demand<'_>, objects: &ServingObjects) -> bool {
    let secret = objects.secrets.get(&demand.names.secret());
    secret.is_some_and(|secret| {
        let secret = ServingSecret::new(secret);
        secret.next().is_some() || !secret.previous().is_empty()
    })
}
