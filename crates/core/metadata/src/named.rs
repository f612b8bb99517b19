//! Closed sets of names. Parsing a name outside its set returns an error with a suggestion.

/// Defines an enum whose variants have names, with `ALL`, `name` and the implementations of `Display`,
/// `FromStr`, `Serialize` and `Deserialize`.
#[macro_export]
macro_rules! named {
    ($(#[$doc:meta])* $type:ident, $kind:literal: $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $type {
            /// All values, in the order in which cells are listed.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the value with this name.
            pub fn of_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }

            /// Returns the name used in matrix.yml and in ids.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::of_name(text).ok_or_else(|| {
                    let names = Self::ALL.iter().map(|value| value.name());
                    format!("unknown {} '{text}': {}", $kind, $crate::did_you_mean(text, names))
                })
            }
        }

        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as ::serde::Deserialize>::deserialize(deserializer)?.parse().map_err(::serde::de::Error::custom)
            }
        }
    };
}
