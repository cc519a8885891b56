//! A channel in segments: versions that follow each other and share an install mode, so that one
//! OperatorGroup fits them all.

use std::collections::BTreeSet;

use olm_types::api::InstallModeType;

use super::plan::{Route, Subject};

/// A part of the way through a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChannelSegment {
    pub first: String,
    pub last: String,
    /// Its versions; all entries of the channel where it is the only segment.
    pub versions: BTreeSet<String>,
    /// What all of them support; empty for a version that supports nothing.
    pub modes: BTreeSet<InstallModeType>,
    /// Whether it is the only one, so that every plan may be executed.
    pub is_whole: bool,
}

/// The segments of a channel, oldest first.
pub(super) fn segments(subject: &Subject, route: &Route) -> Vec<ChannelSegment> {
    let shared = shared(subject, &route.entries);
    if !shared.is_empty() {
        return vec![ChannelSegment {
            first: route.first.clone(),
            last: route.last.clone(),
            versions: route.entries.clone(),
            modes: shared,
            is_whole: true,
        }];
    }
    let mut found: Vec<ChannelSegment> = Vec::new();
    for name in &route.chain {
        let own = shared_by(subject, [name]);
        let open = found.last_mut().filter(|open| !open.modes.is_disjoint(&own));
        match open {
            Some(open) => open.goes_on(name, &own),
            None => found.push(ChannelSegment::beginning(name, own)),
        }
    }
    found
}

/// The modes that all these versions support.
pub(super) fn shared(subject: &Subject, versions: &BTreeSet<String>) -> BTreeSet<InstallModeType> {
    shared_by(subject, versions)
}

fn shared_by<'a>(
    subject: &Subject,
    versions: impl IntoIterator<Item = &'a String>,
) -> BTreeSet<InstallModeType> {
    let mut modes: BTreeSet<InstallModeType> = InstallModeType::ALL.into_iter().collect();
    for name in versions {
        if let Some(version) = subject.versions.get(name) {
            modes.retain(|mode| version.modes.contains(mode));
        }
    }
    modes
}

impl ChannelSegment {
    fn beginning(name: &str, modes: BTreeSet<InstallModeType>) -> Self {
        let (first, last) = (name.to_owned(), name.to_owned());
        let versions = BTreeSet::from([name.to_owned()]);
        Self { first, last, versions, modes, is_whole: false }
    }

    fn goes_on(&mut self, name: &str, modes: &BTreeSet<InstallModeType>) {
        self.last = name.to_owned();
        self.versions.insert(name.to_owned());
        self.modes.retain(|mode| modes.contains(mode));
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::soak::plan::Version;

    /// A version for each text that names its modes.
    fn subject(modes: &[&str]) -> (Subject, Route) {
        let names: Vec<String> = (1..=modes.len()).map(|number| format!("v{number}")).collect();
        let version = |text: &&str| {
            let all = InstallModeType::ALL.into_iter();
            let modes = all.filter(|mode| text.contains(mode.as_str())).collect();
            Version { modes, ..Version::default() }
        };
        let route = Route {
            channel: "stable".to_owned(),
            first: names.first().cloned().unwrap_or_default(),
            last: names.last().cloned().unwrap_or_default(),
            entries: names.iter().cloned().collect(),
            chain: names.clone(),
        };
        let subject = Subject {
            package: "p".to_owned(),
            channels: vec![route.clone()],
            versions: names.into_iter().zip(modes.iter().map(version)).collect(),
            shipped: BTreeSet::new(),
        };
        (subject, route)
    }

    #[rstest]
    #[case::all_share_one(&["AllNamespaces OwnNamespace", "OwnNamespace"], "v1-v2: OwnNamespace")]
    #[case::it_changes(
        &["OwnNamespace", "OwnNamespace AllNamespaces", "AllNamespaces", "AllNamespaces"],
        "v1-v2: OwnNamespace, v3-v4: AllNamespaces"
    )]
    #[case::pairs_share_what_all_do_not(
        &["OwnNamespace", "OwnNamespace SingleNamespace", "SingleNamespace"],
        "v1-v2: OwnNamespace, v3-v3: SingleNamespace"
    )]
    #[case::one_supports_nothing(
        &["OwnNamespace", "", "OwnNamespace"],
        "v1-v1: OwnNamespace, v2-v2: , v3-v3: OwnNamespace"
    )]
    fn a_stretch_ends_where_no_mode_is_shared(#[case] modes: &[&str], #[case] expected: &str) {
        let (subject, route) = subject(modes);
        let found = segments(&subject, &route);
        let reported: Vec<String> = found
            .iter()
            .map(|one| {
                let modes: Vec<String> = one.modes.iter().map(ToString::to_string).collect();
                format!("{}-{}: {}", one.first, one.last, modes.join(" "))
            })
            .collect();
        assert_eq!(reported.join(", "), expected);
        assert_eq!(found.iter().all(|one| one.is_whole), found.len() == 1);
    }
}
