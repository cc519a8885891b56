//! Flags of v0's log library.

use super::Idle;

/// What v0's log library takes. Nothing of it has an effect here.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(rename_all = "snake_case")]
pub struct KlogFlags {
    #[arg(long, short, hide = true, value_name = "LEVEL")]
    v: Option<i32>,
    #[arg(long, hide = true)]
    vmodule: Option<String>,
    #[arg(long, hide = true)]
    add_dir_header: Option<bool>,
    #[arg(long, hide = true)]
    alsologtostderr: Option<bool>,
    #[arg(long, hide = true)]
    legacy_stderr_threshold_behavior: Option<bool>,
    #[arg(long, hide = true)]
    log_backtrace_at: Option<String>,
    #[arg(long, hide = true)]
    log_dir: Option<String>,
    #[arg(long, hide = true)]
    log_file: Option<String>,
    #[arg(long, hide = true)]
    log_file_max_size: Option<u64>,
    #[arg(long, hide = true)]
    logtostderr: Option<bool>,
    #[arg(long, hide = true)]
    one_output: Option<bool>,
    #[arg(long, hide = true)]
    skip_headers: Option<bool>,
    #[arg(long, hide = true)]
    skip_log_headers: Option<bool>,
    #[arg(long, hide = true)]
    stderrthreshold: Option<String>,
}

impl KlogFlags {
    /// Those that were given.
    pub fn idle(&self) -> impl Iterator<Item = Idle> + use<> {
        let given = [
            (self.v.is_some(), "--v"),
            (self.vmodule.is_some(), "--vmodule"),
            (self.add_dir_header.is_some(), "--add_dir_header"),
            (self.alsologtostderr.is_some(), "--alsologtostderr"),
            (self.legacy_stderr_threshold_behavior.is_some(), "--legacy_stderr_threshold_behavior"),
            (self.log_backtrace_at.is_some(), "--log_backtrace_at"),
            (self.log_dir.is_some(), "--log_dir"),
            (self.log_file.is_some(), "--log_file"),
            (self.log_file_max_size.is_some(), "--log_file_max_size"),
            (self.logtostderr.is_some(), "--logtostderr"),
            (self.one_output.is_some(), "--one_output"),
            (self.skip_headers.is_some(), "--skip_headers"),
            (self.skip_log_headers.is_some(), "--skip_log_headers"),
            (self.stderrthreshold.is_some(), "--stderrthreshold"),
        ];
        let given = given.into_iter().filter_map(|(given, flag)| given.then_some(flag));
        given.map(|flag| Idle { flag, why: "logs have --debug and OLM_LOG" })
    }
}
