//! Names of the variants of enumerations without fields.

/// Implements the names of an enumeration: a constant of all values in the order of their documentation, `name`,
/// `Display` and, if texts are parsed, `FromStr`, whose error says which `setting` has a wrong text and what is
/// expected.
macro_rules! named {
    ($type:ident { $($variant:ident: $name:literal),+ $(,)? }) => {
        impl $type {
            /// Returns the name by which the value prints.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
    ($type:ident { $($variant:ident: $name:literal),+ $(,)? }, $setting:literal, $expected:literal, $error:ident) => {
        named!($type { $($variant: $name),+ });

        impl $type {
            /// All values, in the order of their documentation.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];
        }

        impl std::str::FromStr for $type {
            type Err = $error;

            fn from_str(name: &str) -> Result<Self, $error> {
                let known = Self::ALL.into_iter().find(|value| value.name() == name);
                known.ok_or_else(|| $error::new($setting, crate::place::Found::new(name), $expected))
            }
        }
    };
}

pub(crate) use named;
