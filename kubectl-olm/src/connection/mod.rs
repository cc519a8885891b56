//! kubectl's connection flags, and the cluster that they name.

#[cfg(test)]
mod flag_tests;
mod values;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use kube::Config;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use olm_client::catalogs::{Cache, Folders, Route};
use olm_client::connect::client;
use olm_client::{Cluster, Remembered};
use serde_json::json;

use crate::output::Output;
use values::{extra, folder};

#[cfg(test)]
pub use tests::kubeconfig;
pub use values::duration;

/// How long an answer may take when no flag says so.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Where the cluster is and as whom to ask, by the names that kubectl has for it.
#[derive(Args, Clone, Debug, Default)]
pub struct Connection {
    /// File with clusters and users; otherwise $KUBECONFIG or ~/.kube/config
    #[arg(long, global = true, value_name = "FILE", help_heading = "Connection")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig
    #[arg(long, global = true, value_name = "NAME", help_heading = "Connection")]
    context: Option<String>,
    /// Cluster of the kubeconfig
    #[arg(long, global = true, value_name = "NAME", help_heading = "Connection")]
    cluster: Option<String>,
    /// User of the kubeconfig
    #[arg(long, global = true, value_name = "NAME", help_heading = "Connection")]
    user: Option<String>,
    /// Namespace that is looked at; otherwise that of the context
    #[arg(short, long, global = true, value_name = "NAME", help_heading = "Connection")]
    namespace: Option<String>,
    /// Address of the API server
    #[arg(short, long, global = true, value_name = "URL", help_heading = "Connection")]
    server: Option<String>,
    /// Bearer token
    #[arg(long, global = true, value_name = "TOKEN", help_heading = "Connection")]
    token: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER", help_heading = "Connection")]
    as_user: Option<String>,
    /// Group to impersonate, may be repeated
    #[arg(long, global = true, value_name = "GROUP", help_heading = "Connection")]
    as_group: Vec<String>,
    /// Uid to impersonate
    #[arg(long, global = true, value_name = "UID", help_heading = "Connection")]
    as_uid: Option<String>,
    /// What else is known of the user to impersonate, such as scopes=view; may be repeated, also for one key
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = extra, help_heading = "Connection")]
    as_user_extra: Vec<(String, String)>,
    /// File with the certificate of the user
    #[arg(long, global = true, value_name = "FILE", help_heading = "Connection")]
    client_certificate: Option<String>,
    /// File with the key of the user's certificate
    #[arg(long, global = true, value_name = "FILE", help_heading = "Connection")]
    client_key: Option<String>,
    /// Name of a user with a password
    #[arg(long, global = true, value_name = "NAME", help_heading = "Connection")]
    username: Option<String>,
    /// The password
    #[arg(long, global = true, value_name = "PASSWORD", help_heading = "Connection")]
    password: Option<String>,
    /// Name in the API server's certificate, where it is not that of its address
    #[arg(long, global = true, value_name = "NAME", help_heading = "Connection")]
    tls_server_name: Option<String>,
    /// Ask for answers as they are
    #[arg(long, global = true, help_heading = "Connection")]
    disable_compression: bool,
    /// How long one answer may take, such as 5s or 1m30s; 0 is without end [default: 60s]
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration, help_heading = "Connection")]
    request_timeout: Option<Duration>,
    /// Do not check the certificate of the API server
    #[arg(long, global = true, help_heading = "Connection")]
    insecure_skip_tls_verify: bool,
    /// File with the authority of the API server's certificate
    #[arg(long, global = true, value_name = "FILE", help_heading = "Connection")]
    certificate_authority: Option<PathBuf>,
    /// Folder for what is read once: catalogs and bundles; an empty name keeps nothing
    #[arg(long, global = true, value_name = "FOLDER", value_parser = folder, help_heading = "Connection")]
    cache_dir: Option<PathBuf>,
}

impl Connection {
    /// The namespace that `-n` names.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The flags that name the cluster and whose rights count, for another command; none that holds a secret. Where
    /// $KUBECONFIG or the user's own file counts, that counts for the other command as well: no path is named.
    pub fn flags(&self) -> Vec<String> {
        let file = self.kubeconfig.as_ref().map(|file| file.display().to_string());
        let named = [
            ("--kubeconfig", file.as_ref()),
            ("--context", self.context.as_ref()),
            ("--cluster", self.cluster.as_ref()),
            ("--user", self.user.as_ref()),
            ("--server", self.server.as_ref()),
            ("--as", self.as_user.as_ref()),
            ("--as-uid", self.as_uid.as_ref()),
        ];
        let named =
            named.into_iter().filter_map(|(flag, value)| Some(format!("{flag}={}", value?)));
        let groups = self.as_group.iter().map(|group| format!("--as-group={group}"));
        let extra = self.as_user_extra.iter();
        let extra = extra.map(|(key, value)| format!("--as-user-extra={key}={value}"));
        named.chain(groups).chain(extra).collect()
    }

    /// A client for the cluster. It asks nothing yet.
    ///
    /// # Errors
    /// No kubeconfig names a cluster, or the flags contradict each other.
    pub async fn connect(&self) -> Result<Cluster> {
        let mut config = self.config().await?;
        self.apply(&mut config)?;
        let namespace = self.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        let timeout = Some(self.request_timeout.unwrap_or(TIMEOUT)).filter(|it| !it.is_zero());
        config.connect_timeout = timeout.or(config.connect_timeout);
        let server = config.cluster_url.to_string();
        let client = client(config).context("cannot make a client of the API server")?;
        let cache = Cache::new(self.cache_dir.as_deref());
        let is_named = self.namespace.is_some();
        Ok(Cluster {
            client,
            namespace,
            is_named,
            server,
            cache,
            folders: Folders::default(),
            timeout,
            notices: Output::notices(),
            route: Route::Forward,
            remembered: Remembered::default(),
        })
    }

    async fn config(&self) -> Result<Config> {
        let read = match &self.kubeconfig {
            Some(file) => Kubeconfig::read_from(file)
                .with_context(|| format!("cannot read the kubeconfig {}", file.display())),
            None => Kubeconfig::read().context("cannot read a kubeconfig; --kubeconfig names one"),
        };
        let kubeconfig = match (read, &self.server) {
            (Ok(kubeconfig), _) => kubeconfig,
            (Err(error), _) if self.kubeconfig.is_some() => return Err(error),
            (Err(_), Some(server)) => return Ok(Config::new(url(server)?)),
            (Err(error), None) => return Config::incluster().map_err(|_| error),
        };
        let options = KubeConfigOptions {
            context: self.context.clone(),
            cluster: self.cluster.clone(),
            user: self.user.clone(),
        };
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        config.context("the kubeconfig names no usable cluster and user")
    }

    fn apply(&self, config: &mut Config) -> Result<()> {
        if let Some(server) = &self.server {
            config.cluster_url = url(server)?;
        }
        self.identify(&mut config.auth_info)?;
        config.tls_server_name = self.tls_server_name.clone().or(config.tls_server_name.take());
        config.disable_compression |= self.disable_compression;
        if self.insecure_skip_tls_verify && self.certificate_authority.is_some() {
            bail!("--insecure-skip-tls-verify contradicts --certificate-authority");
        }
        config.accept_invalid_certs |= self.insecure_skip_tls_verify;
        if self.certificate_authority.is_some() {
            config.root_cert_file.clone_from(&self.certificate_authority);
        }
        Ok(())
    }
}

impl Connection {
    /// As whom to ask: what a flag says replaces what the kubeconfig says.
    fn identify(&self, user: &mut AuthInfo) -> Result<()> {
        if self.token.is_some() || self.username.is_some() || self.password.is_some() {
            let (token, name, password) = (&self.token, &self.username, &self.password);
            let given = json!({"token": token, "username": name, "password": password});
            let replaced: AuthInfo =
                serde_json::from_value(given).context("--token is no token")?;
            *user = replaced;
        }
        if self.client_certificate.is_some() {
            user.client_certificate.clone_from(&self.client_certificate);
            user.client_certificate_data = None;
        }
        if self.client_key.is_some() {
            user.client_key.clone_from(&self.client_key);
            user.client_key_data = None;
        }
        self.impersonate(user)
    }

    fn impersonate(&self, user: &mut AuthInfo) -> Result<()> {
        let says_more =
            self.as_uid.is_some() || !self.as_group.is_empty() || !self.as_user_extra.is_empty();
        if self.as_user.is_some() {
            user.impersonate.clone_from(&self.as_user);
        } else if says_more {
            bail!("--as-group, --as-uid and --as-user-extra need --as");
        }
        if !self.as_group.is_empty() {
            user.impersonate_groups = Some(self.as_group.clone());
        }
        if self.as_uid.is_some() {
            user.impersonate_uid.clone_from(&self.as_uid);
        }
        if !self.as_user_extra.is_empty() {
            let mut extra: HashMap<String, Vec<String>> = HashMap::new();
            for (key, value) in &self.as_user_extra {
                extra.entry(key.clone()).or_default().push(value.clone());
            }
            user.impersonate_user_extra = Some(extra);
        }
        Ok(())
    }
}

fn url<T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    text: &str,
) -> Result<T> {
    text.parse().with_context(|| format!("--server {text} is no URL"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use clap::Parser;
    use rstest::rstest;
    use serde_json::Value;
    use tempfile::NamedTempFile;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::args::Cli;

    /// A kubeconfig with one cluster, as its entry says, and a user without credentials. It goes with the value.
    pub fn kubeconfig(cluster: &Value) -> NamedTempFile {
        let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]});
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(config.to_string().as_bytes()).unwrap();
        file
    }

    fn user(flags: &[&str]) -> Result<AuthInfo> {
        let words = [&["kubectl-olm", "list"], flags].concat();
        let mut user = AuthInfo::default();
        Cli::try_parse_from(words)?.connection.identify(&mut user)?;
        Ok(user)
    }

    #[test]
    fn all_of_a_user_is_impersonated() {
        let flags = ["--as=a", "--as-uid=1", "--as-group=g", "--as-user-extra=scopes=view"];
        let more = ["--as-user-extra", "scopes=edit=all", "--as-user-extra=team="];
        let found = user(&[&flags[..], &more[..]].concat()).unwrap();
        assert_eq!(found.impersonate.as_deref(), Some("a"));
        assert_eq!(found.impersonate_uid.as_deref(), Some("1"));
        assert_eq!(found.impersonate_groups, Some(vec!["g".to_owned()]));
        let extra = found.impersonate_user_extra.unwrap();
        assert_eq!(extra["scopes"], ["view", "edit=all"]);
        assert_eq!(extra["team"], [""]);
    }

    /// Reads a request without body.
    async fn head(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        while !text.ends_with("\r\n\r\n") {
            text.push(char::from(stream.read_u8().await.unwrap()));
        }
        text
    }

    /// No name server knows `api.test`: only the proxy that the kubeconfig names leads there.
    #[tokio::test]
    async fn a_cluster_is_reached_through_its_proxy() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = listener.local_addr().unwrap();
        let answered = tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.unwrap();
            let asked = head(&mut client).await;
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            head(&mut client).await;
            let (major, minor) = ("1", "36");
            let version = json!({"major": major, "minor": minor, "gitVersion": "v1.36.0", "gitCommit": "",
                "gitTreeState": "", "buildDate": "", "goVersion": "", "compiler": "", "platform": ""});
            let body = version.to_string();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            client.write_all(answer.as_bytes()).await.unwrap();
            asked
        });
        let cluster =
            json!({"server": "http://api.test:8080", "proxy-url": format!("http://{proxy}")});
        let file = kubeconfig(&cluster);
        let kubeconfig = Some(file.path().to_owned());
        let connection = Connection { kubeconfig, ..Connection::default() };
        let client = connection.connect().await.unwrap().client;
        assert_eq!(client.apiserver_version().await.unwrap().minor, "36");
        assert!(answered.await.unwrap().starts_with("CONNECT api.test:8080 "));
    }

    #[rstest]
    #[case(&["--as-user-extra=a=b"], "need --as")]
    #[case(&["--as-uid=1"], "need --as")]
    #[case(&["--as=a", "--as-user-extra=b"], "it is not KEY=VALUE")]
    #[case(&["--as=a", "--as-user-extra==b"], "it is not KEY=VALUE")]
    fn half_an_impersonation_is_refused(#[case] flags: &[&str], #[case] expected: &str) {
        let error = user(flags).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn another_command_asks_as_the_same_user() {
        let flags = ["--as=a", "--as-uid=1", "--as-group=g", "--as-user-extra=b=c"];
        let words = [&["kubectl-olm", "console", "--token=secret"], &flags[..]].concat();
        assert_eq!(Cli::try_parse_from(words).unwrap().connection.flags(), flags);
    }
}
