//! Which programs of the machine are used, and which are built.

use std::fmt;
use std::path::PathBuf;

use super::part::{Part, numbers};

/// Where a program was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The folder that `KUBEBUILDER_ASSETS` names.
    Assets,
    /// A folder of `PATH`.
    Path,
}

/// A program of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub part: Part,
    pub program: PathBuf,
    pub origin: Origin,
    /// What it says its version is, when it says so in words that can be read.
    pub version: Option<String>,
}

/// What becomes of the candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// One for each part that need not be built.
    pub used: Vec<Candidate>,
    /// Those of a wrong version.
    pub passed_over: Vec<Candidate>,
    /// Parts that have to be built.
    pub missing: Vec<Part>,
}

/// Takes for each part the first candidate of a right version.
pub(super) fn choose(parts: &[Part], candidates: Vec<Candidate>) -> Choice {
    let mut choice = Choice::default();
    for candidate in candidates.into_iter().filter(|candidate| parts.contains(&candidate.part)) {
        if choice.used.iter().any(|used| used.part == candidate.part) {
            continue;
        }
        let place = if candidate.is_right() { &mut choice.used } else { &mut choice.passed_over };
        place.push(candidate);
    }
    let is_missing = |part: &Part| !choice.used.iter().any(|used| used.part == *part);
    choice.missing = parts.iter().copied().filter(is_missing).collect();
    choice
}

impl Choice {
    /// One line for each program that was looked at.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let used = self.used.iter().map(|found| format!("using {found}"));
        used.chain(self.passed_over.iter().map(|found| {
            let right = found.part.right_versions().iter().map(|(a, b)| format!("{a}.{b}"));
            let right = right.collect::<Vec<_>>().join(" or ");
            format!("passing over {found}: {right} is needed")
        }))
    }
}

impl Candidate {
    fn is_right(&self) -> bool {
        let numbers = self.version.as_deref().and_then(numbers);
        numbers.is_some_and(|numbers| self.part.right_versions().contains(&numbers))
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.version.as_deref().unwrap_or("of an unknown version");
        let origin = match self.origin {
            Origin::Assets => "KUBEBUILDER_ASSETS",
            Origin::Path => "PATH",
        };
        write!(f, "{} {version} of {origin} ({})", self.part.name(), self.program.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(part: Part, origin: Origin, version: &str) -> Candidate {
        let program = PathBuf::from(format!("/{origin:?}/{}", part.name()));
        let version = (!version.is_empty()).then(|| version.to_owned());
        Candidate { part, program, origin, version }
    }

    /// What is on the machine; which of that is used and which passed over; what is missing.
    type Case<'a> = (&'a [(Part, Origin, &'a str)], &'a [usize], &'a [usize], &'a [Part]);

    #[test]
    fn the_first_of_a_right_version_is_used() {
        use Origin::{Assets, Path};
        use Part::{Etcd, KubeApiserver, KubeControllerManager, KubeScheduler, Kwok};
        let cases: &[Case<'_>] = &[
            (&[], &[], &[], &Part::CLUSTER),
            (
                &[(Etcd, Assets, "3.6.4"), (KubeApiserver, Assets, "1.34.1")],
                &[0, 1],
                &[],
                &[KubeControllerManager, KubeScheduler, Kwok],
            ),
            // What comes after a right one is not looked at.
            (
                &[(Etcd, Assets, "3.5.21"), (Etcd, Path, "3.4.9")],
                &[0],
                &[],
                &[KubeApiserver, KubeControllerManager, KubeScheduler, Kwok],
            ),
            (
                &[(Etcd, Assets, "3.4.9"), (Etcd, Path, "3.6.0")],
                &[1],
                &[0],
                &[KubeApiserver, KubeControllerManager, KubeScheduler, Kwok],
            ),
            (
                &[
                    (KubeApiserver, Assets, "1.33.4"),
                    (KubeScheduler, Path, "1.35.0"),
                    (Kwok, Path, ""),
                ],
                &[],
                &[0, 1, 2],
                &Part::CLUSTER,
            ),
            // It was not asked for.
            (&[(Part::Kubectl, Path, "1.34.4")], &[], &[], &Part::CLUSTER),
        ];
        for (given, used, passed_over, missing) in cases {
            let all: Vec<_> = given.iter().map(|(p, o, v)| candidate(*p, *o, v)).collect();
            let pick =
                |places: &[usize]| places.iter().map(|i| all[*i].clone()).collect::<Vec<_>>();
            let expected = Choice {
                used: pick(used),
                passed_over: pick(passed_over),
                missing: missing.to_vec(),
            };
            assert_eq!(choose(&Part::CLUSTER, all.clone()), expected, "{given:?}");
        }
    }

    #[test]
    fn it_is_reported_what_is_used_and_what_is_not() {
        let candidates = vec![
            candidate(Part::Etcd, Origin::Path, "3.4.9"),
            candidate(Part::KubeApiserver, Origin::Assets, "1.34.1"),
            candidate(Part::Kwok, Origin::Path, ""),
        ];
        let lines: Vec<_> = choose(&Part::CLUSTER, candidates).lines().collect();
        assert_eq!(
            lines,
            [
                "using kube-apiserver 1.34.1 of KUBEBUILDER_ASSETS (/Assets/kube-apiserver)",
                "passing over etcd 3.4.9 of PATH (/Path/etcd): 3.5 or 3.6 is needed",
                "passing over kwok of an unknown version of PATH (/Path/kwok): 0.7 is needed",
            ]
        );
    }
}
