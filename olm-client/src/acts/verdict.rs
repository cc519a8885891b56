//! Whether a plan does what was asked for, and what comes of it at last.

use anyhow::{Result, bail};
use olm_plan::preview::{Hop, Preview};

/// An error when the plan would not do what was asked for.
///
/// # Errors
/// A step would fail, or nothing is found that fits.
pub fn verdict(preview: &Preview) -> Result<()> {
    if let Some(why) = preview.refused.get(&preview.subscription) {
        bail!("nothing can be installed for {}: {why}", preview.package);
    }
    match preview.problems.as_slice() {
        [] => Ok(()),
        [one] => bail!("the plan has a problem: {one}"),
        several => bail!("the plan has {} problems", several.len()),
    }
}

/// The CSV that the Subscription has at last.
#[must_use]
pub fn expected(preview: &Preview) -> Option<&str> {
    let bundles = preview.hops.iter().rev().flat_map(|hop| &hop.bundles);
    let own = bundles.into_iter().find(|bundle| bundle.package == preview.package);
    own.map(|bundle| bundle.csv.as_str())
}

/// Whether one of the InstallPlans that were shown waits for a user.
#[must_use]
pub fn needs_approval(preview: &Preview) -> bool {
    preview.hops.iter().any(Hop::waits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_with_a_problem_or_without_a_bundle_is_refused() {
        let mut preview = Preview {
            package: "kettle".to_owned(),
            subscription: "kettle".to_owned(),
            ..Preview::default()
        };
        assert!(verdict(&preview).is_ok());
        preview.problems = vec!["no OperatorGroup".to_owned()];
        let error = verdict(&preview).unwrap_err().to_string();
        assert_eq!(error, "the plan has a problem: no OperatorGroup");
        preview.problems.push("another".to_owned());
        assert_eq!(verdict(&preview).unwrap_err().to_string(), "the plan has 2 problems");
        preview.refused.insert("kettle".to_owned(), "no version fits".to_owned());
        let error = verdict(&preview).unwrap_err().to_string();
        assert_eq!(error, "nothing can be installed for kettle: no version fits");
        assert_eq!(expected(&preview), None);
        assert!(!needs_approval(&preview));
    }
}
