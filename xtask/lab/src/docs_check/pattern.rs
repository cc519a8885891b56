//! Whether output is what a page shows.

/// Stands for any text in a line; a line of its own for any number of lines.
const ANYTHING: &str = "…";

/// What a line ends in by which `kubectl olm` names what takes longer than a second.
const PROGRESS: &str = " …";

/// Whether the output has these lines. White space counts as one space: columns move with their
/// content. A line about progress may be there or not: how fast a machine is stands on no page.
pub(super) fn matches(shown: &[String], output: &str) -> bool {
    let shown: Vec<String> = shown.iter().map(|line| collapse_spaces(line)).collect();
    let output: Vec<String> = output.lines().map(collapse_spaces).collect();
    lines_match(&shown, &output)
}

fn lines_match(shown: &[String], output: &[String]) -> bool {
    if let Some((line, others)) = output.split_first()
        && line.ends_with(PROGRESS)
        && lines_match(shown, others)
    {
        return true;
    }
    match shown.split_first() {
        None => output.is_empty(),
        Some((first, rest)) if first == ANYTHING => {
            (0..=output.len()).any(|skipped| lines_match(rest, &output[skipped..]))
        }
        Some((first, rest)) => output
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && lines_match(rest, others)),
    }
}

fn line_matches(shown: &str, line: &str) -> bool {
    match shown.split_once(ANYTHING) {
        None => shown == line,
        Some((start, rest)) => line.strip_prefix(start).is_some_and(|left| {
            let ends = left.char_indices().map(|(end, _)| end).chain([left.len()]);
            ends.into_iter().any(|end| line_matches(rest, &left[end..]))
        }),
    }
}

fn collapse_spaces(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::matches;

    #[rstest]
    #[case(&[], "", true)]
    #[case(&[], "something", false)]
    #[case(&["NAME   AGE"], "NAME AGE\n", true)]
    #[case(&["NAME", "a … 3s"], "NAME\na Succeeded 3s", true)]
    #[case(&["a…c…e"], "abcde", true)]
    #[case(&["a…c…e"], "abcd", false)]
    #[case(&["…", "last"], "one\ntwo\nlast", true)]
    #[case(&["first", "…"], "first", true)]
    #[case(&["first", "…"], "second", false)]
    #[case(&["done"], "reading the plan …\ndone\n", true)]
    #[case(&["reading the plan …", "done"], "reading the plan …\ndone\n", true)]
    #[case(&["done"], "reading the plan\ndone\n", false)]
    #[case(&["done"], "reading the plan …\n", false)]
    fn anything_stands_for_anything(
        #[case] shown: &[&str],
        #[case] output: &str,
        #[case] fits: bool,
    ) {
        let shown: Vec<String> = shown.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(matches(&shown, output), fits);
    }
}
