//! Replacing certificates that end soon while servers go on answering.

use std::collections::BTreeMap;

use jiff::Timestamp;
use olm_effect::{CertificateOrder, Effect};
use olm_types::api::ClusterServiceVersion;

use super::bundle::join;
use super::observed::ServingObjects;
use super::order;
use super::provision;
use super::secret::ServingSecret;
use super::served_deployment::{ServedDeployment, served_deployments};
use super::validity::{Unusable, Validity, judge};

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
    for deployment in served_deployments(csv) {
        match judgement(&deployment, objects, now) {
            Validity::Good { rotate_at } => {
                first = [first, Some(rotate_at)].into_iter().flatten().min();
                has_surplus |= has_more(&deployment, objects);
            }
            Validity::Due => is_due = true,
            Validity::Unusable(reason) => {
                return Condition::Unusable { secret: deployment.names.secret(), reason };
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
    let due: Vec<ServedDeployment<'_>> = served_deployments(csv)
        .into_iter()
        .filter(|deployment| judgement(deployment, objects, now) == Validity::Due)
        .collect();
    let new: Vec<&ServedDeployment<'_>> =
        due.iter().filter(|deployment| !has_good_next(deployment, objects, now)).collect();
    let ordered = || {
        let servers =
            new.iter().map(|deployment| (deployment.names.secret(), deployment.names.hosts()));
        order(servers.collect(), now)
    };
    let mut announcement = Announcement::default();
    for deployment in served_deployments(csv) {
        let Some(secret) = objects.secrets.get(&deployment.names.secret()) else { continue };
        let mut trusted = ServingSecret::new(secret).trusted();
        if new.iter().any(|one| one.names == deployment.names) {
            let issued = objects.issued.as_ref().ok_or_else(ordered)?;
            let server = issued.servers.get(&deployment.names.secret()).ok_or_else(ordered)?;
            let next = provision::material(issued, server);
            announcement.secrets.push(provision::announce(csv, &deployment, secret, next));
            trusted = join([trusted.as_slice(), next.authority]);
        }
        announcement.trusted.insert(deployment.entry.name.clone(), trusted);
    }
    Ok(announcement)
}

/// Whether a certificate waits to become active.
pub(crate) fn is_announced(csv: &ClusterServiceVersion, objects: &ServingObjects) -> bool {
    let mut secrets = served_deployments(csv).into_iter();
    secrets.any(|deployment| {
        let secret = objects.secrets.get(&deployment.names.secret());
        secret.is_some_and(|secret| ServingSecret::new(secret).next().is_some())
    })
}

/// The last step of a rotation: only the active authorities are trusted any more.
pub fn trim(csv: &ClusterServiceVersion, objects: &ServingObjects) -> Announcement {
    let mut trimmed = Announcement::default();
    for deployment in served_deployments(csv) {
        let Some(secret) = objects.secrets.get(&deployment.names.secret()) else { continue };
        let active = ServingSecret::new(secret).active();
        trimmed.trusted.insert(deployment.entry.name.clone(), active.authority.to_vec());
        if has_more(&deployment, objects) {
            trimmed.secrets.push(provision::trim(csv, &deployment, secret));
        }
    }
    trimmed
}

fn judgement(
    deployment: &ServedDeployment<'_>,
    objects: &ServingObjects,
    now: Timestamp,
) -> Validity {
    match objects.secrets.get(&deployment.names.secret()) {
        None => Validity::Unusable(Unusable::NoSecret),
        Some(secret) => judge(ServingSecret::new(secret).active(), &deployment.names.hosts(), now),
    }
}

fn has_good_next(
    deployment: &ServedDeployment<'_>,
    objects: &ServingObjects,
    now: Timestamp,
) -> bool {
    let secret = objects.secrets.get(&deployment.names.secret());
    let next = secret.and_then(|secret| ServingSecret::new(secret).next());
    next.is_some_and(|next| {
        matches!(judge(next, &deployment.names.hosts(), now), Validity::Good { .. })
    })
}

fn has_more(deployment: &ServedDeployment<'_>, objects: &ServingObjects) -> bool {
    let secret = objects.secrets.get(&deployment.names.secret());
    secret.is_some_and(|secret| {
        let secret = ServingSecret::new(secret);
        secret.next().is_some() || !secret.previous().is_empty()
    })
}
