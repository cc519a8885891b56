//! The command line, read by hand: a parser would be larger than the program.

/// What is printed with a complaint.
pub const USAGE: &str = "\
usage: olm-workload pause                    waits for SIGTERM
       olm-workload serve --port N           answers every HTTP request until SIGTERM
                    [--name NAME]            default: variable WORKLOAD_NAME, or olm-workload
                    [--version VERSION]      default: variable WORKLOAD_VERSION, or 0.0.0
       olm-workload exit --code N            ends at once";

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Waits for the end.
    Pause,
    /// Serves HTTP.
    Serve {
        /// The TCP port, on every address.
        port: u16,
        /// What is answered.
        identity: Identity,
    },
    /// Ends with a code.
    Exit {
        /// The code.
        code: u8,
    },
}

/// As whom the server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name of the operator.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Command {
    /// Reads a command line without the name of the program. A flag is `--flag value` or
    /// `--flag=value`; `variable` looks into the environment.
    ///
    /// # Errors
    ///
    /// When a word is not known or a value is missing or wrong.
    pub fn parse(
        words: impl IntoIterator<Item = String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut words = words.into_iter();
        let command = words.next().ok_or("no command is given")?;
        let mut flags = Flags::read(words)?;
        let parsed = match command.as_str() {
            "pause" => Self::Pause,
            "serve" => Self::Serve {
                port: flags.number("port")?,
                identity: Identity {
                    name: flags.text("name", variable("WORKLOAD_NAME"), "olm-workload"),
                    version: flags.text("version", variable("WORKLOAD_VERSION"), "0.0.0"),
                },
            },
            "exit" => Self::Exit { code: flags.number("code")? },
            other => return Err(format!("there is no command {other:?}")),
        };
        flags.is_empty(&command)?;
        Ok(parsed)
    }
}

/// Flags that nobody has asked for yet.
struct Flags(Vec<(String, String)>);

impl Flags {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = Vec::new();
        while let Some(word) = words.next() {
            let flag = word.strip_prefix("--").ok_or(format!("{word:?} is not expected"))?;
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (flag, words.next()),
            };
            let value = value.ok_or(format!("--{name} needs a value"))?;
            flags.push((name.to_owned(), value));
        }
        Ok(Self(flags))
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(flag, _)| flag == name)?;
        Some(self.0.remove(at).1)
    }

    fn number<N: std::str::FromStr>(&mut self, name: &str) -> Result<N, String> {
        let text = self.take(name).ok_or(format!("--{name} is missing"))?;
        text.parse().map_err(|_| format!("--{name} {text:?} is not a number in its range"))
    }

    fn text(&mut self, name: &str, variable: Option<String>, default: &str) -> String {
        self.take(name).or(variable).unwrap_or_else(|| default.to_owned())
    }

    fn is_empty(&self, command: &str) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("{command} takes no --{name}, or takes it once")),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        let variable = |name: &str| (name == "WORKLOAD_VERSION").then(|| "0.9.0".to_owned());
        Command::parse(line.split_whitespace().map(str::to_owned), variable)
    }

    fn serve(port: u16, name: &str, version: &str) -> Command {
        let identity = Identity { name: name.to_owned(), version: version.to_owned() };
        Command::Serve { port, identity }
    }

    #[rstest]
    #[case("pause", Command::Pause)]
    #[case("exit --code 3", Command::Exit { code: 3 })]
    #[case("serve --port 8080", serve(8080, "olm-workload", "0.9.0"))]
    #[case("serve --port=80 --version 1.0.0 --name=etcd", serve(80, "etcd", "1.0.0"))]
    fn commands_are_read(#[case] line: &str, #[case] command: Command) {
        assert_eq!(parse(line), Ok(command));
    }

    #[rstest]
    #[case("", "no command is given")]
    #[case("sleep", "there is no command \"sleep\"")]
    #[case("serve", "--port is missing")]
    #[case("serve --port", "--port needs a value")]
    #[case("serve --port 65536", "--port \"65536\" is not a number in its range")]
    #[case("serve 8080", "\"8080\" is not expected")]
    #[case("exit --code 256", "--code \"256\" is not a number in its range")]
    #[case("exit --code 1 --code 2", "exit takes no --code, or takes it once")]
    #[case("pause --port 1", "pause takes no --port, or takes it once")]
    fn complaints_name_the_word(#[case] line: &str, #[case] complaint: &str) {
        assert_eq!(parse(line), Err(complaint.to_owned()));
    }
}
