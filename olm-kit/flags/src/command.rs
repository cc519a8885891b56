//! The rules of pflag, put into clap's description of a command line.

use std::any::TypeId;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, Command};

use crate::parse_bool;

/// A program whose flags, and those of its subcommands, are read as pflag reads them.
pub fn command(program: Command) -> Command {
    program.args_override_self(true).mut_args(flag).mut_subcommands(command)
}

fn flag(arg: Arg) -> Arg {
    if arg.is_positional() {
        return arg;
    }
    let holds = |kind: TypeId| arg.get_value_parser().type_id() == kind;
    let (is_boolean, is_path) = (holds(TypeId::of::<bool>()), holds(TypeId::of::<PathBuf>()));
    match arg.get_action() {
        ArgAction::SetTrue => boolean(arg).default_value("false"),
        ArgAction::Set if is_boolean => boolean(arg),
        // clap's own parser takes no empty path.
        ArgAction::Set | ArgAction::Append if is_path => {
            valued(arg).value_parser(OsStringValueParser::new().map(PathBuf::from))
        }
        ArgAction::Set | ArgAction::Append => valued(arg),
        _ => arg,
    }
}

fn boolean(arg: Arg) -> Arg {
    arg.action(ArgAction::Set)
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .value_parser(parse_bool)
        .hide_possible_values(true)
}

fn valued(arg: Arg) -> Arg {
    arg.allow_hyphen_values(true)
}
