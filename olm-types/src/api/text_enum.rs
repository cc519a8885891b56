//! Enumerations that travel as text, where the schema leaves the text open.

/// Defines a `Copy` enumeration with its texts. Reading never fails: a text without a variant of
/// its own becomes the variant named after `else`, and `null` becomes the default.
macro_rules! text_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident else $fallback:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Every variant, in the order of their definition.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The text that the API holds.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Whether this is the default, which is left out when it is written.
            #[must_use]
            pub fn is_default(&self) -> bool {
                *self == Self::default()
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)+
                    _ => Self::$fallback,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text: Option<String> = serde::Deserialize::deserialize(deserializer)?;
                Ok(text.map_or_else(Self::default, |text| Self::from(text.as_str())))
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    };
}

pub(super) use text_enum;

#[cfg(test)]
mod tests {
    use super::super::{Approval, CsvPhase, InstallPlanPhase, StepStatus, SubscriptionState};
    use serde_json::json;

    #[test]
    fn every_text_reads_back() {
        for phase in CsvPhase::ALL {
            assert_eq!(CsvPhase::from(phase.as_str()), *phase);
        }
        for status in StepStatus::ALL {
            assert_eq!(StepStatus::from(status.as_str()), *status);
        }
    }

    #[test]
    fn unknown_texts_fall_back() {
        assert_eq!(CsvPhase::from("Exploded"), CsvPhase::Unknown);
        assert_eq!(StepStatus::from("Exploded"), StepStatus::Unknown);
        assert_eq!(InstallPlanPhase::from("Exploded"), InstallPlanPhase::None);
        assert_eq!(SubscriptionState::from("Exploded"), SubscriptionState::None);
        assert_eq!(Approval::from(""), Approval::Automatic);
    }

    #[test]
    fn none_is_the_empty_text_and_null() {
        assert_eq!(json!(CsvPhase::None), json!(""));
        assert_eq!(serde_json::from_value::<CsvPhase>(json!(null)).unwrap(), CsvPhase::None);
        assert_eq!(serde_json::from_value::<CsvPhase>(json!("")).unwrap(), CsvPhase::None);
    }
}
