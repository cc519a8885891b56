//! Which of two `resourceVersion`s is newer.

use std::cmp::Ordering;

/// Compares two `resourceVersion`s of one kind. `None` when they cannot be compared, because one
/// is missing or not the decimal number that kube-apiserver uses.
pub(crate) fn compare(left: Option<&str>, right: Option<&str>) -> Option<Ordering> {
    let (left, right) = (left?, right?);
    if left == right {
        return Some(Ordering::Equal);
    }
    Some(left.parse::<u64>().ok()?.cmp(&right.parse::<u64>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rstest::rstest]
    #[case(Some("9"), Some("10"), Some(Ordering::Less))]
    #[case(Some("10"), Some("10"), Some(Ordering::Equal))]
    #[case(Some("abc"), Some("abc"), Some(Ordering::Equal))]
    #[case(Some("abc"), Some("10"), None)]
    #[case(None, Some("10"), None)]
    #[case(None, None, None)]
    fn numbers_compare_as_numbers(
        #[case] left: Option<&str>,
        #[case] right: Option<&str>,
        #[case] expected: Option<Ordering>,
    ) {
        assert_eq!(compare(left, right), expected);
    }
}
