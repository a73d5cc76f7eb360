//! The macro [`words!`](crate::words!): enums of which each variant is one fixed text.

/// Defines an enum with one fixed text per variant, the same in the database, on the wire and in
/// logs. `ALL` lists the variants in the order of their declaration, which is also their `Ord`.
///
/// Every enum that is only a list of Lukasa's own words uses it. These do not: enums with data in a
/// variant (`PlannedChange`, `PortraitName`), the enums of `lukasa-text`, which is below this crate,
/// and the words of other protocols, which are translated where a protocol is read or written.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(
            Debug,
            Clone,
            Copy,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            ::serde::Serialize,
            ::serde::Deserialize,
        )]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            pub const ALL: [$name; [$($text),+].len()] = [$($name::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|word| word.as_str() == text)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    words!(
        /// An example of a list of words.
        Example {
            /// The first one.
            First = "first",
            // The text need not be the name of the variant.
            Second = "number-2",
        }
    );

    #[test]
    fn words_are_the_same_as_text_and_in_json() {
        assert_eq!(Example::ALL, [Example::First, Example::Second]);
        assert!(Example::First < Example::Second);
        for word in Example::ALL {
            assert_eq!(Example::parse(word.as_str()), Some(word));
            let json = serde_json::json!(word.as_str());
            assert_eq!(serde_json::to_value(word).unwrap(), json);
            assert_eq!(serde_json::from_value::<Example>(json).unwrap(), word);
        }
        assert_eq!(Example::Second.as_str(), "number-2");
        assert_eq!(Example::parse("second"), None);
    }
}
