//! The console in a real browser: the real program, Debian's chromium, and what it asks for and complains of.

mod accessible;
mod attacks;
mod kettle_catalog;
mod log_in;
mod look;
mod opened;
mod users;
mod whole_way;

use crate::e2e::{Need, Scenario, scenario};

/// The scenarios of this folder. Those that every run of the tests plays come first; the tests name the others.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "console::look",
            "every page of the console, by mouse and keyboard, in both colour schemes and on a phone: no error in \
             the browser's console, and no request that leaves the machine",
            look::look,
        )
        .needs(&[Need::Kubectl, Need::Browser]),
        scenario(
            "console::attacks",
            "what hostile authors write into a catalog runs nothing in a browser, loads nothing and opens no dialog",
            attacks::play,
        )
        .needs(&[Need::Kubectl, Need::Browser]),
        scenario(
            "console::whole_way",
            "a user with a browser only installs an operator with a plan, approves, watches, upgrades it, creates a \
             custom resource and removes all of it",
            whole_way::go,
        )
        .needs(&[Need::Kubectl, Need::Browser]),
        scenario(
            "console::accessible",
            "axe-core finds nothing on any page of the console, in both colour schemes",
            accessible::check,
        )
        .needs(&[Need::Kubectl, Need::Browser, Need::Axe]),
        scenario(
            "console::log_in",
            "a user of the console of a cluster pastes a token on the login page, which no address and no script of \
             a page gets, and logs out",
            log_in::go,
        )
        .needs(&[Need::Kubectl, Need::Browser, Need::Axe]),
        scenario(
            "console::users",
            "a viewer, an editor and a user without rights see in a browser what they may, an editor removes an \
             operator, and a dead catalog and a dead API server are a part of the page",
            users::see,
        )
        .needs(&[Need::Kubectl, Need::Browser]),
    ]
}
