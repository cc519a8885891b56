//! Whether the install modes of a CSV fit the namespaces of its group (spec olm-operator 1.4).

use std::collections::BTreeSet;

use olm_types::api::{InstallMode, InstallModeSet, InstallModeType};

/// A list that names one mode twice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("InstallMode list contains duplicates, cannot make set: [{0}]")]
pub struct DuplicateInstallModes(String);

/// Why the namespaces of the group cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedTargets {
    /// The group selects nothing.
    #[error(
        "operatorgroup has invalid selected namespaces, cannot configure to watch zero namespaces"
    )]
    Zero,
    /// `OwnNamespace` is missing.
    #[error("OwnNamespace InstallModeType not supported, cannot configure to watch own namespace")]
    Own,
    /// `SingleNamespace` is missing.
    #[error(
        "SingleNamespace InstallModeType not supported, cannot configure to watch one namespace"
    )]
    Single,
    /// `MultiNamespace` is missing.
    #[error(
        "MultiNamespace InstallModeType not supported, cannot configure to watch {0} namespaces"
    )]
    Multi(usize),
    /// `AllNamespaces` is missing.
    #[error(
        "AllNamespaces InstallModeType not supported, cannot configure to watch all namespaces"
    )]
    All,
    /// "All namespaces" stands beside names.
    #[error(
        "operatorgroup has invalid selected namespaces, NamespaceAll found when |selected \
         namespaces| > 1"
    )]
    AllAmongOthers,
}

/// Refuses a list that names one mode twice.
pub fn check_duplicates(modes: &[InstallMode]) -> Result<(), DuplicateInstallModes> {
    let distinct: BTreeSet<&str> = modes.iter().map(|mode| mode.type_.as_str()).collect();
    if distinct.len() == modes.len() {
        return Ok(());
    }
    let listed: Vec<String> =
        modes.iter().map(|mode| format!("{{{} {}}}", mode.type_, mode.supported)).collect();
    Err(DuplicateInstallModes(listed.join(" ")))
}

/// Whether an operator in `own` with these modes may watch `targets` (the split
/// `olm.targetNamespaces` annotation, in which a single `""` stands for all namespaces).
pub fn check_support(
    modes: &[InstallMode],
    own: &str,
    targets: &[&str],
) -> Result<(), UnsupportedTargets> {
    let modes = InstallModeSet::of(modes);
    let require = |mode, otherwise| if modes.supports(mode) { Ok(()) } else { Err(otherwise) };
    match targets {
        [] => Err(UnsupportedTargets::Zero),
        [""] => require(InstallModeType::AllNamespaces, UnsupportedTargets::All),
        [target] if *target == own => {
            require(InstallModeType::OwnNamespace, UnsupportedTargets::Own)
        }
        [_] => require(InstallModeType::SingleNamespace, UnsupportedTargets::Single),
        several => {
            let count = several.len();
            require(InstallModeType::MultiNamespace, UnsupportedTargets::Multi(count))?;
            if several.contains(&own) {
                require(InstallModeType::OwnNamespace, UnsupportedTargets::Own)?;
            }
            if several.contains(&"") { Err(UnsupportedTargets::AllAmongOthers) } else { Ok(()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn modes(listed: &[(&str, bool)]) -> Vec<InstallMode> {
        let mode = |(name, supported): &(&str, bool)| InstallMode {
            type_: (*name).to_owned(),
            supported: *supported,
        };
        listed.iter().map(mode).collect()
    }

    const OWN: &str = "OwnNamespace";
    const SINGLE: &str = "SingleNamespace";
    const MULTI: &str = "MultiNamespace";
    const ALL: &str = "AllNamespaces";

    #[rstest]
    #[case::zero(&[OWN, SINGLE, MULTI, ALL], &[], Err(UnsupportedTargets::Zero))]
    #[case::own(&[OWN], &["op"], Ok(()))]
    #[case::not_own(&[SINGLE, MULTI, ALL], &["op"], Err(UnsupportedTargets::Own))]
    #[case::all(&[ALL], &[""], Ok(()))]
    #[case::not_all(&[OWN, SINGLE, MULTI], &[""], Err(UnsupportedTargets::All))]
    #[case::single(&[SINGLE], &["x"], Ok(()))]
    #[case::not_single(&[OWN, MULTI, ALL], &["x"], Err(UnsupportedTargets::Single))]
    #[case::multi(&[MULTI], &["x", "y"], Ok(()))]
    #[case::not_multi(&[OWN, SINGLE, ALL], &["x", "y", "z"], Err(UnsupportedTargets::Multi(3)))]
    #[case::multi_with_own(&[MULTI, OWN], &["op", "y"], Ok(()))]
    #[case::multi_without_own(&[MULTI], &["op", "y"], Err(UnsupportedTargets::Own))]
    #[case::all_among_others(&[MULTI, ALL], &["", "y"], Err(UnsupportedTargets::AllAmongOthers))]
    #[case::nothing_listed_own(&[], &["op"], Err(UnsupportedTargets::Own))]
    #[case::nothing_listed_all(&[], &[""], Err(UnsupportedTargets::All))]
    #[case::nothing_listed_multi(&[], &["x", "y"], Err(UnsupportedTargets::Multi(2)))]
    fn support(
        #[case] supported: &[&str],
        #[case] targets: &[&str],
        #[case] expected: Result<(), UnsupportedTargets>,
    ) {
        let listed: Vec<(&str, bool)> = supported.iter().map(|mode| (*mode, true)).collect();
        assert_eq!(check_support(&modes(&listed), "op", targets), expected);
    }

    #[test]
    fn a_mode_listed_as_unsupported_is_unsupported() {
        assert_eq!(
            check_support(&modes(&[(OWN, false)]), "op", &["op"]).unwrap_err().to_string(),
            "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace"
        );
    }

    #[test]
    fn duplicates_are_refused_with_the_list() {
        let listed = [(OWN, true), (SINGLE, true), (MULTI, true), (ALL, true), (OWN, true)];
        assert_eq!(
            check_duplicates(&modes(&listed)).unwrap_err().to_string(),
            "InstallMode list contains duplicates, cannot make set: [{OwnNamespace true} \
             {SingleNamespace true} {MultiNamespace true} {AllNamespaces true} {OwnNamespace true}]"
        );
    }
}
