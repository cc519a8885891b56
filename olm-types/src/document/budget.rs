//! What reading a text may cost, counted while its values are made.
//!
//! The length of a text says little about its values: in JSON seven bytes (`{"":0}` and a comma) are a
//! map with a node of its own, and a YAML alias of two bytes is as large as what it stands for. So
//! every value is paid for before it is made.

use std::fmt;

use serde_json::Value;

/// Bytes of memory of a value in a list that grows to twice what it needs.
const VALUE: usize = 2 * size_of::<Value>();

/// Bytes of memory of an entry of a map, its value included: nodes of maps are half full at worst.
const ENTRY: usize = 3 * (size_of::<String>() + size_of::<Value>());

/// Bytes of memory of the first node of a map, which has eleven places.
const NODE: usize = 12 * (size_of::<String>() + size_of::<Value>());

/// Bytes of memory that an allocator adds to a text.
const TEXT: usize = 32;

/// How many bytes of memory the values of a text of JSON take at most, counted before any is made: a comma, a
/// colon or a bracket stands for one value each, or for none where it is part of a string.
pub fn memory_of(text: &[u8]) -> usize {
    let values = text.iter().map(|byte| match byte {
        b'{' => NODE,
        b':' => ENTRY,
        b',' | b'[' => VALUE,
        _ => 0,
    });
    values.fold(text.len(), usize::saturating_add)
}

/// Bounds of reading a text, or several that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Most bytes of a text.
    pub bytes: usize,
    /// Most values: scalars, lists and maps, an alias counted with all that it stands for.
    pub values: usize,
    /// Most bytes of memory that the values take, as estimated from above.
    pub memory: usize,
    /// Most nested maps and lists.
    pub depth: usize,
}

impl Budget {
    /// A property, an annotation or the like.
    pub const PROPERTY: Self =
        Self { bytes: 4 << 20, values: 100_000, memory: 32 << 20, depth: 120 };
    /// A Kubernetes object: an API server takes none of more than 3 MiB.
    pub const OBJECT: Self = Self { bytes: 4 << 20, values: 250_000, memory: 64 << 20, depth: 120 };
    /// All objects of a bundle together; an etcd takes 1 MiB of them, which may be compressed.
    pub const BUNDLE: Self =
        Self { bytes: 32 << 20, values: 500_000, memory: 128 << 20, depth: 120 };
    /// A document of a catalog, which may hold a bundle with all of its manifests.
    pub const CATALOG: Self =
        Self { bytes: 64 << 20, values: 1_000_000, memory: 256 << 20, depth: 120 };
}

/// Which bound of a [`Budget`] was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// [`Budget::bytes`].
    Bytes,
    /// [`Budget::values`].
    Values,
    /// [`Budget::memory`].
    Memory,
    /// [`Budget::depth`].
    Depth,
}

/// A text costs more than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Exceeded {
    /// What was passed.
    pub bound: Bound,
    /// How much there may be.
    pub limit: usize,
    /// Line and column at which it was passed, both from 1, where that is known.
    pub at: Option<(usize, usize)>,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit;
        match self.bound {
            Bound::Bytes => write!(
                f,
                "a document is larger than {limit} bytes: split it, or leave out what is not needed"
            )?,
            Bound::Values => write!(
                f,
                "more than {limit} values, an alias counted with all that it stands for: use fewer \
                 aliases, or leave out what is not needed"
            )?,
            Bound::Memory => write!(
                f,
                "the values take more than {limit} bytes of memory, an alias as much as what it stands \
                 for: use fewer aliases and small maps, or leave out what is not needed"
            )?,
            Bound::Depth => {
                write!(f, "more than {limit} nested maps and lists: use fewer levels")?;
            }
        }
        match self.at {
            Some((line, column)) => write!(f, " (line {line}, column {column})"),
            None => Ok(()),
        }
    }
}

/// What was spent of a budget.
#[derive(Clone, Debug)]
pub struct Meter {
    budget: Budget,
    /// Whether each document has the whole budget for itself.
    renews: bool,
    spent: Spent,
    /// The first bound that was passed.
    exceeded: Option<Exceeded>,
}

/// How many values there are, and bytes of memory that they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) values: usize,
    pub(super) memory: usize,
}

impl Spent {
    /// What was spent since.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            values: self.values.saturating_sub(before.values),
            memory: self.memory.saturating_sub(before.memory),
        }
    }
}

impl Meter {
    /// One budget for all that is read with it.
    pub fn in_all(budget: Budget) -> Self {
        Self { budget, renews: false, spent: Spent::default(), exceeded: None }
    }

    /// The budget for each document that is read with it.
    pub fn per_document(budget: Budget) -> Self {
        Self { renews: true, ..Self::in_all(budget) }
    }

    /// What may be spent.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// How many values were made.
    pub fn values(&self) -> usize {
        self.spent.values
    }

    /// How many bytes of memory the values take, as estimated from above.
    pub fn memory(&self) -> usize {
        self.spent.memory
    }

    /// Another document begins, of so many bytes.
    pub(super) fn begin(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.exceeded = None;
        if self.renews {
            self.spent = Spent::default();
        }
        if bytes > self.budget.bytes { Err(self.pass(Bound::Bytes)) } else { Ok(()) }
    }

    /// A scalar with a text of so many bytes, an empty list or an empty map.
    pub(super) fn value(&mut self, text: usize) -> Result<(), Exceeded> {
        let text = if text == 0 { 0 } else { text.saturating_add(TEXT) };
        self.spend(Spent { values: 1, memory: VALUE.saturating_add(text) })
    }

    /// An entry of a map, beside its value, with a key of so many bytes.
    pub(super) fn entry(&mut self, key: usize, is_first: bool) -> Result<(), Exceeded> {
        let node = if is_first { NODE } else { 0 };
        let memory = ENTRY.saturating_add(node).saturating_add(key).saturating_add(TEXT);
        self.spend(Spent { values: 0, memory })
    }

    /// Values that were made once already.
    pub(super) fn copy(&mut self, of: Spent) -> Result<(), Exceeded> {
        self.spend(of)
    }

    /// What was spent so far.
    pub(super) fn spent(&self) -> Spent {
        self.spent
    }

    /// What was made since was given up again.
    pub(super) fn rewind(&mut self, to: Spent) {
        self.spent = to;
    }

    /// What is below a map or a list that has `left` levels for itself.
    pub(super) fn below(&mut self, left: usize) -> Result<usize, Exceeded> {
        left.checked_sub(1).ok_or_else(|| self.pass(Bound::Depth))
    }

    /// The bound that was passed since the document began.
    pub(super) fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded
    }

    fn spend(&mut self, more: Spent) -> Result<(), Exceeded> {
        self.spent.values = self.spent.values.saturating_add(more.values);
        self.spent.memory = self.spent.memory.saturating_add(more.memory);
        if self.spent.values > self.budget.values {
            return Err(self.pass(Bound::Values));
        }
        if self.spent.memory > self.budget.memory {
            return Err(self.pass(Bound::Memory));
        }
        Ok(())
    }

    fn pass(&mut self, bound: Bound) -> Exceeded {
        let limit = match bound {
            Bound::Bytes => self.budget.bytes,
            Bound::Values => self.budget.values,
            Bound::Memory => self.budget.memory,
            Bound::Depth => self.budget.depth,
        };
        *self.exceeded.insert(Exceeded { bound, limit, at: None })
    }
}
