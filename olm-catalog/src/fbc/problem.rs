//! What is wrong with a catalog, all of it, and how it is shown.
//!
//! ```text
//! invalid index:
//! └── invalid package "etcd":
//!     ├── default channel must be set
//!     └── invalid channel "alpha":
//!         └── multiple channel heads found in graph: etcd.v1, etcd.v2
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::blob::Origin;

/// One thing that is wrong. Ordered by package, channel and bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Package concerned; none when it has no name.
    pub package: Option<String>,
    /// Channel concerned, if it is one.
    pub channel: Option<String>,
    /// Bundle concerned, if it is one.
    pub bundle: Option<String>,
    /// What is wrong, in the words of `opm validate` (spec catalog-operator 6.5).
    pub message: String,
    /// Where the blob is.
    pub origin: Option<Origin>,
}

/// Everything that is wrong with a catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    all: BTreeSet<Problem>,
    bytes: usize,
}

impl Problems {
    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        self.bytes = self.bytes.saturating_add(problem.message.len() + size_of::<Problem>());
        self.all.insert(problem);
    }

    /// About how many bytes of memory they take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The problems, by package, channel and bundle.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.all.iter()
    }
}

impl Problem {
    /// A problem that concerns no package.
    pub fn of_catalog(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// A problem of a package.
    pub fn of_package(package: &str, message: impl Into<String>) -> Self {
        Self { package: Some(package.to_owned()), ..Self::of_catalog(message) }
    }

    /// A problem of a channel.
    pub(crate) fn of_channel(package: &str, channel: &str, message: impl Into<String>) -> Self {
        Self { channel: Some(channel.to_owned()), ..Self::of_package(package, message) }
    }

    /// A problem of a bundle.
    pub fn of_bundle(package: &str, bundle: &str, message: impl Into<String>) -> Self {
        Self { bundle: Some(bundle.to_owned()), ..Self::of_package(package, message) }
    }

    /// The same problem with the place of its blob.
    #[must_use]
    pub fn at(self, origin: &Origin) -> Self {
        Self { origin: Some(origin.clone()), ..self }
    }

    /// Titles of the levels above the problem.
    fn path(&self) -> Vec<String> {
        let levels =
            [("package", &self.package), ("channel", &self.channel), ("bundle", &self.bundle)];
        let named = levels.into_iter().filter_map(|(kind, name)| Some((kind, name.as_ref()?)));
        named.map(|(kind, name)| format!("invalid {kind} {name:?}:")).collect()
    }

    fn line(&self) -> String {
        match &self.origin {
            Some(origin) => format!("{} ({origin})", self.message),
            None => self.message.clone(),
        }
    }
}

/// A level of the printed tree: its own problems, then the levels below.
#[derive(Default)]
struct Node {
    lines: Vec<String>,
    below: BTreeMap<String, Node>,
}

impl Node {
    fn insert(&mut self, path: &[String], line: String) {
        match path.split_first() {
            None => self.lines.push(line),
            Some((first, rest)) => self.below.entry(first.clone()).or_default().insert(rest, line),
        }
    }

    fn print(&self, f: &mut fmt::Formatter<'_>, indent: &str) -> fmt::Result {
        let count = self.lines.len().saturating_add(self.below.len());
        let lines = self.lines.iter().map(|line| (line, None));
        let below = self.below.iter().map(|(title, node)| (title, Some(node)));
        for (index, (text, node)) in lines.chain(below).enumerate() {
            let last = index + 1 == count;
            let (branch, next) =
                if last { ("└── ", "    ") } else { ("├── ", "│   ") };
            write!(f, "\n{indent}{branch}{text}")?;
            if let Some(node) = node {
                node.print(f, &format!("{indent}{next}"))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut root = Node::default();
        for problem in &self.all {
            root.insert(&problem.path(), problem.line());
        }
        f.write_str("invalid index:")?;
        root.print(f, "")
    }
}

impl std::error::Error for Problems {}
