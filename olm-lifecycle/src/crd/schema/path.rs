//! Where in an object a finding is.

use std::fmt;

use super::budget::CheckBudget;

/// A place in an object, as a chain of steps from its root; and what its check may still cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    part: Part<'a>,
    budget: &'a CheckBudget,
}

#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Root,
    /// A field that the schema names.
    Field(&'a str),
    /// A field that the schema does not name, or that is missing.
    Other(&'a str),
    Index(usize),
}

impl<'a> Path<'a> {
    /// The object itself.
    pub(super) fn root(budget: &'a CheckBudget) -> Self {
        Self { parent: None, part: Part::Root, budget }
    }

    /// What the check of the object may still cost.
    pub(super) fn budget(&self) -> &'a CheckBudget {
        self.budget
    }

    /// A field that the schema names.
    pub(super) fn field(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), part: Part::Field(name), budget: self.budget }
    }

    /// A field that the schema does not name, or that is missing.
    pub(super) fn other(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), part: Part::Other(name), budget: self.budget }
    }

    /// An item of an array.
    pub(super) fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), part: Part::Index(index), budget: self.budget }
    }

    /// The place as the field of a Kubernetes error: API servers begin it with `[]` for the object.
    pub(super) fn in_errors(&self) -> String {
        let text = self.to_string();
        match text.strip_prefix('.').unwrap_or(&text) {
            "" => "[]".to_owned(),
            inner => format!("[].{inner}"),
        }
    }

    fn is_root(&self) -> bool {
        matches!(self.part, Part::Root)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else { return Ok(()) };
        parent.fmt(f)?;
        match self.part {
            Part::Root => Ok(()),
            Part::Field(name) if parent.is_root() => f.write_str(name),
            Part::Field(name) | Part::Other(name) => write!(f, ".{name}"),
            Part::Index(index) => write!(f, "[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_spelled_as_api_servers_do() {
        let budget = CheckBudget::default();
        let root = Path::root(&budget);
        let spec = root.field("spec");
        let items = spec.other("items");
        let third = items.index(2);
        let spelled = [root, spec, third, root.other("x")];
        let texts = spelled.map(|path| (path.to_string(), path.in_errors()));
        let texts: Vec<_> = texts.iter().map(|(text, field)| (&**text, &**field)).collect();
        assert_eq!(
            texts,
            [
                ("", "[]"),
                ("spec", "[].spec"),
                ("spec.items[2]", "[].spec.items[2]"),
                (".x", "[].x")
            ]
        );
    }
}
