//! The command line, read by hand: a parser would be larger than the program.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// What is printed with a complaint.
pub const USAGE: &str = "\
usage: olm-workload pause                    waits for SIGTERM
       olm-workload serve --port N           answers every HTTP request until SIGTERM
                    [--name NAME]            default: variable WORKLOAD_NAME, or olm-workload
                    [--version VERSION]      default: variable WORKLOAD_VERSION, or 0.0.0
       olm-workload answer --port N          answers the API server over TLS until SIGTERM:
                                             /validate, /mutate, /convert and an API
                    --certificate FILE       read anew for each connection
                    --key FILE               likewise
                    [--address ADDRESS]      default: every address
                    [--api VERSION/GROUP/PLURAL/KIND]  default: none
       olm-workload read --port N            reads a catalog again and again until SIGTERM, and
                                             answers every HTTP request with how that went
                    --from HOST:PORT,…       where the catalog is
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
    /// Answers the API server.
    Respond(Responder),
    /// Reads a catalog again and again, and serves over HTTP how that went.
    Read {
        /// The TCP port, on every address.
        port: u16,
        /// Where the catalog is, each `HOST:PORT`.
        from: Vec<String>,
    },
    /// Ends with a code.
    Exit {
        /// The code.
        code: u8,
    },
}

/// How the API server is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Responder {
    /// Where to listen.
    pub address: SocketAddr,
    /// File with the certificate as PEM.
    pub certificate: PathBuf,
    /// File with its key as PEM.
    pub key: PathBuf,
    /// The kind of an aggregated API.
    pub api: Option<Api>,
}

/// A kind that an aggregated API serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Api {
    /// Group and version as paths have them: `group/version`.
    pub group_version: String,
    /// The last part of the path.
    pub plural: String,
    /// The kind.
    pub kind: String,
}

impl FromStr for Api {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split('/').collect::<Vec<_>>().as_slice() {
            [version, group, plural, kind] => Ok(Self {
                group_version: format!("{group}/{version}"),
                plural: (*plural).to_owned(),
                kind: (*kind).to_owned(),
            }),
            _ => Err(format!("--api {text:?} is not VERSION/GROUP/PLURAL/KIND")),
        }
    }
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
            "answer" => Self::Respond(Responder {
                address: SocketAddr::new(flags.address()?, flags.number("port")?),
                certificate: flags.required("certificate")?.into(),
                key: flags.required("key")?.into(),
                api: flags.take("api").map(|text| text.parse()).transpose()?,
            }),
            "read" => Self::Read {
                port: flags.number("port")?,
                from: flags.required("from")?.split(',').map(str::to_owned).collect(),
            },
            "exit" => Self::Exit { code: flags.number("code")? },
            other => return Err(format!("there is no command {other:?}")),
        };
        flags.is_empty(&command)?;
        Ok(parsed)
    }
}

/// Flags that were not asked for yet.
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

    fn required(&mut self, name: &str) -> Result<String, String> {
        self.take(name).ok_or(format!("--{name} is missing"))
    }

    fn address(&mut self) -> Result<IpAddr, String> {
        let Some(text) = self.take("address") else { return Ok(Ipv4Addr::UNSPECIFIED.into()) };
        text.parse().map_err(|_| format!("--address {text:?} is no IP address"))
    }

    fn number<N: FromStr>(&mut self, name: &str) -> Result<N, String> {
        let text = self.required(name)?;
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
    #[case("read --port 1 --from a:2,b:3", Command::Read { port: 1, from: vec!["a:2".to_owned(), "b:3".to_owned()] })]
    #[case("serve --port 8080", serve(8080, "olm-workload", "0.9.0"))]
    #[case("serve --port=80 --version 1.0.0 --name=etcd", serve(80, "etcd", "1.0.0"))]
    fn commands_are_read(#[case] line: &str, #[case] command: Command) {
        assert_eq!(parse(line), Ok(command));
    }

    #[test]
    fn a_server_for_the_api_server_has_files_and_perhaps_a_kind() {
        let line = "answer --port 1 --certificate c --key k --address 127.0.0.2 --api v1/g/as/A";
        let api =
            Api { group_version: "g/v1".to_owned(), plural: "as".to_owned(), kind: "A".to_owned() };
        let expected = Responder {
            address: "127.0.0.2:1".parse().unwrap(),
            certificate: "c".into(),
            key: "k".into(),
            api: Some(api),
        };
        assert_eq!(parse(line), Ok(Command::Respond(expected)));
    }

    #[rstest]
    #[case("answer --port 1 --key k", "--certificate is missing")]
    #[case(
        "answer --port 1 --certificate c --key k --api a",
        "--api \"a\" is not VERSION/GROUP/PLURAL/KIND"
    )]
    #[case("answer --address here", "--address \"here\" is no IP address")]
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
