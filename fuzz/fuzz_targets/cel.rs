//! CEL rules: compiled, and run on a bundle. Whatever is accepted must end soon.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olm_resolver::constraint::cel::CelRequirement;
use olm_resolver::constraint::{EvaluationBudget, Requirement};

fuzz_target!(|text: &str| {
    if let Ok(requirement) = CelRequirement::compile(text.to_owned(), String::new()) {
        let _ = requirement.holds(&olm_fuzz::bundle(), &mut EvaluationBudget::default());
    }
});
