//! Requirements by the property that they were read from. Reading them is costly when they are CEL
//! rules, and the same ones come up in every resolution.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use olm_types::bundle::Property;

use crate::constraint::{ConstraintError, ConstraintKind, Requirement};

/// Requirements from so many bytes of properties are remembered.
const REMEMBERED: usize = 1 << 20;

type Read = Result<Arc<dyn Requirement>, ConstraintError>;

/// What was read so far.
#[derive(Default)]
pub(super) struct Known(Mutex<Readings>);

#[derive(Default)]
struct Readings {
    by_property: HashMap<Property, Read>,
    bytes: usize,
}

impl Known {
    /// The requirement of a property, read by its kind if it is not known.
    pub(super) fn requirement(&self, kind: &dyn ConstraintKind, property: &Property) -> Read {
        if let Some(known) = self.readings(|readings| readings.by_property.get(property).cloned()) {
            return known;
        }
        let read = kind.read(property);
        self.readings(|readings| readings.add(property, read.clone()));
        read
    }

    fn readings<T>(&self, work: impl FnOnce(&mut Readings) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Readings {
    /// Remembers one more; forgets all others if that would be too much.
    fn add(&mut self, property: &Property, read: Read) {
        let size = property.value.len();
        if self.bytes.saturating_add(size) > REMEMBERED {
            *self = Self::default();
        }
        self.bytes = self.bytes.saturating_add(size);
        self.by_property.insert(property.clone(), read);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::constraint::ClassicConstraints;

    /// Counts what it is asked.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl ConstraintKind for Counting {
        fn property_types(&self) -> &[&str] {
            &["olm.constraint"]
        }

        fn read(&self, property: &Property) -> Read {
            self.0.fetch_add(1, Ordering::Relaxed);
            ClassicConstraints.read(property)
        }
    }

    fn rule(number: usize, length: usize) -> Property {
        let rule = format!("{}properties.all(p, p.value == {number})", " ".repeat(length));
        Property::new("olm.constraint", &format!("{{\"cel\":{{\"rule\":\"{rule}\"}}}}"))
    }

    #[test]
    fn each_is_read_once_also_if_it_cannot_be_read() {
        let (known, kind) = (Known::default(), Counting::default());
        let malformed = Property::new("olm.constraint", "5");
        for _ in 0..3 {
            assert!(known.requirement(&kind, &rule(1, 0)).is_ok());
            assert!(known.requirement(&kind, &malformed).is_err());
        }
        assert_eq!(kind.0.into_inner(), 2);
    }

    #[test]
    fn no_more_is_remembered_than_the_limit() {
        let (known, kind) = (Known::default(), Counting::default());
        let length = REMEMBERED / 100;
        for number in 0..150 {
            let _ = known.requirement(&kind, &rule(number, length));
            assert!(known.readings(|readings| readings.bytes) <= REMEMBERED);
        }
    }
}
