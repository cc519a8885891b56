//! What a take-over did.

use std::collections::BTreeMap;
use std::fmt;

use olm_testkit::audit::Write;
use olm_testkit::take_over::Changes;

/// One way of the two.
#[derive(Debug)]
pub(super) struct Report {
    /// Who took over from whom.
    pub title: String,
    /// Pods that were looked at.
    pub pods: usize,
    /// A line for each that was restarted.
    pub restarted: Vec<String>,
    /// Everything that the new operators wrote.
    pub writes: Vec<Write>,
    /// Those of the writes that are needless, where that is judged: what v0 writes is its business.
    pub needless: Option<Vec<String>>,
    /// What is different from before, with the reasons.
    pub changes: Changes,
}

impl Report {
    /// The same where ours have served the catalog by image.
    pub(super) fn after_serving(self) -> Self {
        Self { changes: self.changes.after_serving(), ..self }
    }

    /// Whether nothing was restarted, written or changed without need.
    pub(super) fn is_good(&self) -> bool {
        let is_sparing = self.needless.iter().flatten().next().is_none();
        self.restarted.is_empty() && is_sparing && self.changes.unexplained.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{}", self.title)?;
        writeln!(f, "  {} of {} Pods were restarted", self.restarted.len(), self.pods)?;
        self.restarted.iter().try_for_each(|line| writeln!(f, "    {line}"))?;
        write!(f, "  {} writes", self.writes.len())?;
        match &self.needless {
            Some(needless) => writeln!(f, ", of which {} are needless", needless.len())?,
            None => writeln!(f)?,
        }
        self.needless.iter().flatten().try_for_each(|line| writeln!(f, "    {line}"))?;
        for (line, count) in counted(&self.writes) {
            writeln!(f, "    {count:>3} {line}")?;
        }
        write!(f, "{}", self.changes)
    }
}

/// How often who wrote what, without namespaces and names.
fn counted(writes: &[Write]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for Write { program, verb, object, .. } in writes {
        let resource = object.split(' ').next().unwrap_or_default();
        *counts.entry(format!("{program}: {verb} {resource}")).or_default() += 1;
    }
    counts
}
