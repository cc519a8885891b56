//! The kinds of what is printed as JSON or YAML. docs/schemas/kubectl-olm-v1alpha1.json describes each.

macro_rules! kinds {
    ($($(#[$words:meta])+ $name:ident),+ $(,)?) => {
        /// What an object is that is printed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[$words])+ $name),+
        }

        impl Kind {
            /// All of them.
            #[cfg(test)]
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// As it is printed.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name)),+
                }
            }
        }
    };
}

kinds! {
    /// What the approval of an InstallPlan approves.
    Approval,
    /// What the doctor knows.
    CodeList,
    /// What the doctor finds.
    DoctorReport,
    /// Events of a Subscription and of what came of it.
    EventList,
    /// What is installed.
    InstalledList,
    /// Custom resources.
    OperandList,
    /// A package in detail.
    Package,
    /// Packages.
    PackageList,
    /// What accounts may do.
    Permissions,
    /// What would happen.
    Plan,
    /// A Subscription and what came of it.
    Status,
    /// The upgrade graph of a package.
    UpgradeGraph,
    /// Versions.
    Version,
    /// Why an operator is there.
    Why,
}
