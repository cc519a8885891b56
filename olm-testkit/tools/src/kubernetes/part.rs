//! The programs that a machine may have already, and which versions of them are right.

/// A program of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The store.
    Etcd,
    /// The API server.
    KubeApiserver,
    /// Turns manifests into dependent objects.
    KubeControllerManager,
    /// Gives pods to nodes.
    KubeScheduler,
    /// Plays the kubelet of a node that does not exist.
    Kwok,
    /// The command line of users.
    Kubectl,
}

impl Part {
    /// What makes up a cluster with a simulated node.
    pub const CLUSTER: [Self; 5] = [
        Self::Etcd,
        Self::KubeApiserver,
        Self::KubeControllerManager,
        Self::KubeScheduler,
        Self::Kwok,
    ];

    /// The name of the executable.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::KubeScheduler => "kube-scheduler",
            Self::Kwok => "kwok",
            Self::Kubectl => "kubectl",
        }
    }

    /// The tag of a build that leaves it out.
    pub(super) fn left_out(self) -> String {
        format!("without_{}", self.name().replace('-', "_"))
    }

    /// What makes it say its version.
    pub(super) const fn version_arguments(self) -> &'static [&'static str] {
        match self {
            Self::Kubectl => &["version", "--client"],
            _ => &["--version"],
        }
    }

    /// The versions that are as good as the one that is built: major and minor number.
    pub(super) const fn right_versions(self) -> &'static [(u32, u32)] {
        match self {
            Self::Etcd => &[(3, 5), (3, 6)],
            Self::Kwok => &[(0, 7)],
            _ => &[(1, 34)],
        }
    }
}

/// The first word of the form `1.34.4` or `v1.34.4-more` in what a program says.
pub(super) fn version(said: &str) -> Option<&str> {
    let words =
        said.split(|c: char| c.is_whitespace() || c == ',').map(|word| word.trim_matches('"'));
    words.map(|word| word.strip_prefix('v').unwrap_or(word)).find(|word| numbers(word).is_some())
}

/// Major and minor number of a version.
pub(super) fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next()?.starts_with(|c: char| c.is_ascii_digit()).then_some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_is_read() {
        for (said, expected) in [
            ("etcd Version: 3.6.4\nGit SHA: Not provided\nGo Version: go1.26.8\n", Some("3.6.4")),
            ("Kubernetes v1.34.4\n", Some("1.34.4")),
            ("Kubernetes v1.34.0-alpha.1+abc\n", Some("1.34.0-alpha.1+abc")),
            ("kwok version v0.7.0 go1.26.8 (linux/amd64)\n", Some("0.7.0")),
            ("Client Version: v1.34.1\nKustomize Version: v5.7.1\n", Some("1.34.1")),
            ("unknown flag: --version\n", None),
            ("version 3.6", None),
            ("", None),
        ] {
            assert_eq!(version(said), expected, "{said}");
        }
    }

    #[test]
    fn major_and_minor_numbers_are_read() {
        assert_eq!(numbers("1.34.4"), Some((1, 34)));
        assert_eq!(numbers("0.7.0-rc.1"), Some((0, 7)));
        assert_eq!(numbers("1.34"), None);
        assert_eq!(numbers("go1.26.8"), None);
    }
}
