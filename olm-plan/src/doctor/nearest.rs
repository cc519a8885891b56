//! Names that a misspelt one was probably meant to be.

/// Names longer than this are not compared: the API allows none that long.
const LONGEST: usize = 253;

/// The name that is nearest to `wanted`, the first of several in their order; none where more than a third
/// of it would have to change.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (wanted.chars().count() / 3).max(1);
    let near = names.filter_map(|name| Some((distance(wanted, name, most)?, name)));
    near.min().map(|(_, name)| name)
}

/// How many letters have to be added, left out, changed or swapped with the next one; none when it is more
/// than `most`.
fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most || a.len().max(b.len()) > LONGEST {
        return None;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (row, letter) in a.iter().enumerate() {
        let above = &rows[row];
        let mut line = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let changed = above[column] + usize::from(letter != other);
            let best = changed.min(above[column + 1] + 1).min(line[column] + 1);
            let is_swapped =
                row > 0 && column > 0 && a[row - 1] == *other && *letter == b[column - 1];
            let swapped = if is_swapped { rows[row - 1][column - 1] + 1 } else { best };
            line.push(best.min(swapped));
        }
        rows.push(line);
    }
    rows.last()?.last().copied().filter(|&distance| distance <= most)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("kettel", Some("kettle"))]
    #[case("ketle", Some("kettle"))]
    #[case("stabel", Some("stable"))]
    #[case("plian", Some("plain"))]
    #[case("kettle", Some("kettle"))]
    #[case("pot", None)]
    #[case("", None)]
    fn a_misspelt_name_is_recognised(#[case] wanted: &str, #[case] expected: Option<&str>) {
        assert_eq!(
            nearest(wanted, ["plain", "stable", "kettle", "kettle-operator"].into_iter()),
            expected
        );
    }

    #[test]
    fn of_equally_near_ones_the_first_by_name_counts() {
        assert_eq!(nearest("cat", ["hat", "bat"].into_iter()), Some("bat"));
        assert_eq!(nearest(&"a".repeat(300), [&*"a".repeat(299)].into_iter()), None);
    }
}
