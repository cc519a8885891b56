//! Values of `olm.constraint`: read, and tested on a bundle.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olm_resolver::constraint::{ClassicConstraints, ConstraintKind, EvaluationBudget};
use olm_types::bundle::Property;

fuzz_target!(|text: &str| {
    let property = Property::new("olm.constraint", text);
    if let Ok(requirement) = ClassicConstraints.read(&property) {
        let _ = requirement.holds(&olm_fuzz::bundle(), &mut EvaluationBudget::default());
        let _ = requirement.to_string();
    }
});
