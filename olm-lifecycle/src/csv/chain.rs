//! Who replaces whom among the CSVs of a namespace (spec olm-operator 1.5, 1.7, 8.9).

use std::collections::{BTreeMap, BTreeSet};

use olm_types::api::ClusterServiceVersion;

/// The CSVs of one namespace, linked by `spec.replaces`.
pub struct Chain<'a> {
    by_name: BTreeMap<&'a str, &'a ClusterServiceVersion>,
}

impl<'a> Chain<'a> {
    /// The links among `csvs`.
    pub fn new(csvs: impl IntoIterator<Item = &'a ClusterServiceVersion>) -> Self {
        Self { by_name: csvs.into_iter().map(|csv| (name(csv), csv)).collect() }
    }

    /// The CSV of that name.
    pub fn get(&self, name: &str) -> Option<&'a ClusterServiceVersion> {
        self.by_name.get(name).copied()
    }

    /// The CSV that `csv` replaces, if it is here and another one.
    pub fn replaced_by(&self, csv: &ClusterServiceVersion) -> Option<&'a ClusterServiceVersion> {
        let replaced = csv.spec.replaces.as_deref().filter(|replaced| *replaced != name(csv))?;
        self.get(replaced)
    }

    /// The CSV that replaces `csv`, the first by name if there are several.
    pub fn replacement_of(&self, csv: &ClusterServiceVersion) -> Option<&'a ClusterServiceVersion> {
        let replaces_it = |other: &&&ClusterServiceVersion| {
            name(other) != name(csv) && other.spec.replaces.as_deref() == Some(name(csv))
        };
        self.by_name.values().find(replaces_it).copied()
    }

    /// The end of the chain of replacements that starts after `csv`. In a cycle, the last CSV
    /// before one would be met again.
    pub fn last_replacement_of(
        &self,
        csv: &ClusterServiceVersion,
    ) -> Option<&'a ClusterServiceVersion> {
        self.replacements(csv).pop()
    }

    /// Whether following the replacements of `csv` leads back into the same chain.
    pub fn is_cyclic(&self, csv: &ClusterServiceVersion) -> bool {
        let last = self.last_replacement_of(csv);
        last.is_some_and(|last| self.replacement_of(last).is_some())
    }

    /// Names of all CSVs that are linked to `csv` by replacements in either direction, itself
    /// included.
    pub fn members(&self, csv: &'a ClusterServiceVersion) -> BTreeSet<&'a str> {
        let linked = self.replacements(csv).into_iter().chain(self.ancestors(csv));
        linked.map(name).chain([name(csv)]).collect()
    }

    /// The CSVs that `csv` replaces, directly or through others, nearest first; ends before a CSV
    /// that was met already.
    pub fn ancestors(&self, csv: &ClusterServiceVersion) -> Vec<&'a ClusterServiceVersion> {
        let mut seen = BTreeSet::from([name(csv).to_owned()]);
        let mut found = Vec::new();
        let mut next = self.replaced_by(csv);
        while let Some(replaced) = next.filter(|replaced| seen.insert(name(replaced).to_owned())) {
            found.push(replaced);
            next = self.replaced_by(replaced);
        }
        found
    }

    /// The CSVs that replace each other in a circle which is met by following what `csv` replaces,
    /// each followed by the one that it replaces; empty when there is no such circle.
    pub fn circle_before(&self, csv: &'a ClusterServiceVersion) -> Vec<&'a str> {
        let mut walked = vec![name(csv)];
        let mut current = csv;
        while let Some(replaced) = self.replaced_by(current) {
            let again = walked.iter().position(|walked| *walked == name(replaced));
            if let Some(start) = again {
                return walked.split_off(start);
            }
            walked.push(name(replaced));
            current = replaced;
        }
        Vec::new()
    }

    /// The CSVs after `csv`, nearest first; ends before a CSV that was met already.
    fn replacements(&self, csv: &ClusterServiceVersion) -> Vec<&'a ClusterServiceVersion> {
        let mut seen = BTreeSet::from([name(csv).to_owned()]);
        let mut found = Vec::new();
        let mut next = self.replacement_of(csv);
        while let Some(replacement) = next {
            if !seen.insert(name(replacement).to_owned()) {
                break;
            }
            found.push(replacement);
            next = self.replacement_of(replacement);
        }
        found
    }
}

fn name(csv: &ClusterServiceVersion) -> &str {
    csv.metadata.name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// CSVs from texts like `a<-b`: b replaces a; a bare name replaces nothing.
    fn mk_csvs(links: &[&str]) -> Vec<ClusterServiceVersion> {
        let mk = |link: &&str| {
            let (replaces, name) = match link.split_once("<-") {
                Some((replaces, name)) => (Some(replaces.to_owned()), name),
                None => (None, *link),
            };
            let mut csv = ClusterServiceVersion::new(name, Default::default());
            csv.spec.replaces = replaces;
            csv
        };
        links.iter().map(mk).collect()
    }

    #[rstest]
    #[case::nothing(&["a"], "a", None, None)]
    #[case::replaces(&["a", "a<-b"], "b", Some("a"), None)]
    #[case::is_replaced(&["a", "a<-b"], "a", None, Some("b"))]
    #[case::missing(&["x<-b"], "b", None, None)]
    #[case::itself(&["a<-a"], "a", None, None)]
    #[case::several(&["a", "a<-c", "a<-b"], "a", None, Some("b"))]
    fn neighbours(
        #[case] links: &[&str],
        #[case] of: &str,
        #[case] before: Option<&str>,
        #[case] after: Option<&str>,
    ) {
        let csvs = mk_csvs(links);
        let chain = Chain::new(&csvs);
        let csv = chain.get(of).unwrap();
        assert_eq!(chain.replaced_by(csv).map(name), before);
        assert_eq!(chain.replacement_of(csv).map(name), after);
    }

    #[rstest]
    #[case::none(&["a", "a<-b", "b<-c"], "c", &[])]
    #[case::itself(&["a<-a"], "a", &[])]
    #[case::pair(&["b<-a", "a<-b"], "a", &["a", "b"])]
    #[case::three(&["c<-a", "a<-b", "b<-c"], "b", &["b", "a", "c"])]
    #[case::after_it(&["b<-a", "a<-b", "b<-c"], "c", &["b", "a"])]
    fn circles(#[case] links: &[&str], #[case] of: &str, #[case] expected: &[&str]) {
        let csvs = mk_csvs(links);
        let chain = Chain::new(&csvs);
        assert_eq!(chain.circle_before(chain.get(of).unwrap()), expected);
    }

    #[rstest]
    #[case::itself(&["a<-a"], "a", None, false, &["a"])]
    #[case::pair(&["b<-a", "a<-b"], "a", Some("b"), true, &["a", "b"])]
    #[case::three(&["a", "a<-b", "b<-c"], "a", Some("c"), false, &["a", "b", "c"])]
    #[case::backwards(&["a", "a<-b", "b<-c"], "c", None, false, &["a", "b", "c"])]
    fn chains(
        #[case] links: &[&str],
        #[case] of: &str,
        #[case] last: Option<&str>,
        #[case] cyclic: bool,
        #[case] members: &[&str],
    ) {
        let csvs = mk_csvs(links);
        let chain = Chain::new(&csvs);
        let csv = chain.get(of).unwrap();
        assert_eq!(chain.last_replacement_of(csv).map(name), last);
        assert_eq!(chain.is_cyclic(csv), cyclic);
        assert_eq!(chain.members(csv), members.iter().copied().collect());
    }

    #[rstest]
    #[case::none(&["a", "a<-b"], "a", &[])]
    #[case::itself(&["a<-a"], "a", &[])]
    #[case::two(&["a", "a<-b", "b<-c"], "c", &["b", "a"])]
    #[case::pair(&["b<-a", "a<-b"], "a", &["b"])]
    fn ancestors(#[case] links: &[&str], #[case] of: &str, #[case] expected: &[&str]) {
        let csvs = mk_csvs(links);
        let chain = Chain::new(&csvs);
        let found: Vec<&str> =
            chain.ancestors(chain.get(of).unwrap()).into_iter().map(name).collect();
        assert_eq!(found, expected);
    }
}
