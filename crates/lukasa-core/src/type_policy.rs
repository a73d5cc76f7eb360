//! Policies of the five types of memory, as one table: how fast what was inferred loses confidence,
//! whether it expires with the default of its domain, which portrait tells it, and what it becomes
//! if it is observed again and again.
//!
//! | type | loses confidence | expires by its domain | portrait | if repeated |
//! |---|---|---|---|---|
//! | profile | by its kind | no | profile | |
//! | task | halves in 60 days | yes | active context | |
//! | episodic | by its kind | no | | procedural |
//! | procedural | by its kind | no | procedures; a habit or a skill: profile | |
//! | domain | never | no | | |
//!
//! The other attributes of a memory have rules of their own beside these: its category a share of the
//! token budget, its kind a half-life, its force a place before everything else.

use crate::fact::MemoryType;

/// How the confidence of an inferred memory decreases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decay {
    /// As that of others of its kind.
    ByKind,
    /// It is halved after this many days.
    HalfLife(f64),
    /// It holds until it is contradicted.
    Never,
}

/// The portrait that tells all memories of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypePortrait {
    Profile,
    Procedures,
    ActiveContext,
}

/// The policy of a type of memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TypePolicy {
    pub decay: Decay,
    /// Whether it expires with the default of its domain.
    pub expires: bool,
    /// `None`: its domain and its category decide.
    pub portrait: Option<TypePortrait>,
    /// What a habit of this type becomes if it is repeated often enough.
    pub repeated_as: Option<MemoryType>,
}

/// The policy of this type.
pub const fn type_policy(memory_type: MemoryType) -> TypePolicy {
    let plain =
        TypePolicy { decay: Decay::ByKind, expires: false, portrait: None, repeated_as: None };
    match memory_type {
        MemoryType::Profile => TypePolicy { portrait: Some(TypePortrait::Profile), ..plain },
        MemoryType::Task => TypePolicy {
            decay: Decay::HalfLife(60.0),
            expires: true,
            portrait: Some(TypePortrait::ActiveContext),
            ..plain
        },
        MemoryType::Episodic => TypePolicy { repeated_as: Some(MemoryType::Procedural), ..plain },
        MemoryType::Procedural => TypePolicy { portrait: Some(TypePortrait::Procedures), ..plain },
        MemoryType::Domain => TypePolicy { decay: Decay::Never, ..plain },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_of_each_memory_type_is_that_of_the_table() {
        use TypePortrait::{ActiveContext, Procedures, Profile};
        let of = |one: MemoryType| {
            let TypePolicy { decay, expires, portrait, repeated_as } = type_policy(one);
            (decay, expires, portrait, repeated_as)
        };
        let again = Some(MemoryType::Procedural);
        assert_eq!(of(MemoryType::Profile), (Decay::ByKind, false, Some(Profile), None));
        assert_eq!(of(MemoryType::Task), (Decay::HalfLife(60.0), true, Some(ActiveContext), None));
        assert_eq!(of(MemoryType::Episodic), (Decay::ByKind, false, None, again));
        assert_eq!(of(MemoryType::Procedural), (Decay::ByKind, false, Some(Procedures), None));
        assert_eq!(of(MemoryType::Domain), (Decay::Never, false, None, None));
        assert_eq!(MemoryType::ALL.len(), 5);
    }

    #[test]
    fn every_memory_type_has_a_policy_of_its_own() {
        for (at, one) in MemoryType::ALL.iter().enumerate() {
            for other in &MemoryType::ALL[at + 1..] {
                assert_ne!(type_policy(*one), type_policy(*other), "{one:?} {other:?}");
            }
        }
    }
}
