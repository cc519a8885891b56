//! Why the system refuses something, as C programs print it.

use std::io;

/// The text of an error without its number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" (os error ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_left_out() {
        let missing = std::fs::File::open("/no/such/file").unwrap_err();
        assert_eq!(reason(&missing), "No such file or directory");
        assert_eq!(reason(&io::Error::other("of our own")), "of our own");
    }
}
