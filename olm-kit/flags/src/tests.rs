//! Lines with one flag of each form, read as pflag does.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use rstest::rstest;

use super::*;

#[derive(Debug, PartialEq, Eq, Parser)]
#[command(name = "program")]
struct Line {
    #[arg(short, long)]
    debug: bool,
    #[arg(long)]
    enforced: Option<bool>,
    #[arg(short, long, default_value = "olm")]
    namespace: String,
    #[arg(long)]
    key: Option<PathBuf>,
    #[arg(long, value_delimiter = ',')]
    suites: Vec<String>,
    #[arg(long, default_value_t = 50051)]
    port: u16,
    #[command(subcommand)]
    command: Option<Sub>,
}

#[derive(Debug, PartialEq, Eq, Subcommand)]
enum Sub {
    Serve {
        folder: PathBuf,
        #[arg(long)]
        cached: bool,
    },
}

fn line(words: &str) -> Result<Line, Error> {
    let words = words.split(' ').filter(|word| !word.is_empty());
    read::<Line>(["program"].into_iter().chain(words))
}

#[rstest]
#[case("", false)]
#[case("--debug", true)]
#[case("-d", true)]
#[case("--debug=true", true)]
#[case("--debug=1", true)]
#[case("--debug=t", true)]
#[case("--debug=T", true)]
#[case("--debug=TRUE", true)]
#[case("--debug=True", true)]
#[case("-d=False", false)]
#[case("--debug=false", false)]
#[case("--debug=0", false)]
#[case("--debug=f", false)]
#[case("--debug=F", false)]
#[case("--debug=FALSE", false)]
#[case::the_last_wins("--debug --debug=false", false)]
#[case::the_last_wins("--debug=0 -d", true)]
fn on_and_off(#[case] words: &str, #[case] expected: bool) {
    assert_eq!(line(words).unwrap().debug, expected);
}

#[test]
fn a_switch_that_is_not_given_is_neither_on_nor_off() {
    let enforced = |words: &str| line(words).unwrap().enforced;
    assert_eq!(enforced(""), None);
    assert_eq!(enforced("--enforced"), Some(true));
    assert_eq!(enforced("--enforced --enforced=F"), Some(false));
}

#[rstest]
#[case("--namespace=a", "a")]
#[case("--namespace a", "a")]
#[case("-n a", "a")]
#[case("-n=a", "a")]
#[case("-na", "a")]
#[case::empty("--namespace=", "")]
#[case::the_last_wins("--namespace a --namespace=b", "b")]
#[case::the_last_wins("--namespace=a --namespace=", "")]
#[case::whatever_follows("--namespace --debug", "--debug")]
#[case::equals_inside("--namespace=a=b", "a=b")]
fn texts(#[case] words: &str, #[case] expected: &str) {
    let line = line(words).unwrap();
    assert_eq!(line.namespace, expected);
    assert!(!line.debug);
}

#[test]
fn paths_may_be_empty() {
    assert_eq!(line("--key=").unwrap().key, Some(PathBuf::new()));
    assert_eq!(line("--key=a --key=b").unwrap().key, Some(PathBuf::from("b")));
}

#[test]
fn lists_grow() {
    assert_eq!(line("--suites=a,b --suites c").unwrap().suites, ["a", "b", "c"]);
}

#[rstest]
#[case("--port=1 --port=2", 2)]
#[case("--port 0", 0)]
fn numbers(#[case] words: &str, #[case] expected: u16) {
    assert_eq!(line(words).unwrap().port, expected);
}

#[test]
fn subcommands_are_read_so_too() {
    let serve = |cached| Some(Sub::Serve { folder: PathBuf::from("/configs"), cached });
    assert_eq!(line("serve /configs --cached=T").unwrap().command, serve(true));
    assert_eq!(line("serve --cached --cached=0 /configs").unwrap().command, serve(false));
}

#[rstest]
#[case::unknown("--brand-new", ErrorKind::UnknownArgument)]
#[case::unknown("--brand-new=7 --debug", ErrorKind::UnknownArgument)]
#[case::unknown("-x", ErrorKind::UnknownArgument)]
#[case::unknown_below("serve /configs --brand-new", ErrorKind::UnknownArgument)]
#[case::no_abbreviation("--name=a", ErrorKind::UnknownArgument)]
#[case::no_value("--namespace", ErrorKind::InvalidValue)]
#[case::neither("--debug=maybe", ErrorKind::ValueValidation)]
#[case::neither("--debug=yes", ErrorKind::ValueValidation)]
#[case::neither("--debug=tRUE", ErrorKind::ValueValidation)]
#[case::no_number("--port=soon", ErrorKind::ValueValidation)]
#[case::help("--help", ErrorKind::DisplayHelp)]
fn refused(#[case] words: &str, #[case] kind: ErrorKind) {
    assert_eq!(line(words).unwrap_err().kind(), kind, "{words}");
}

#[test]
fn a_word_behind_a_switch_is_not_its_value() {
    assert!(line("--debug=true").unwrap().debug);
    assert_eq!(line("--debug false").unwrap_err().kind(), ErrorKind::InvalidSubcommand);
}
