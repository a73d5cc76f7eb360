//! The tables that hold rows about users. The erasure of a user, the check of statements and the
//! tests use this one list; a test compares it with the database's catalogue.

/// A table whose rows about a user are removed with the user.
pub(crate) struct ErasedTable {
    pub name: &'static str,
    /// Counts the user's rows.
    pub count: &'static str,
    /// Removes at most `$2` of the user's rows and returns how many.
    pub remove: &'static str,
}

macro_rules! erased_tables {
    ($($table:literal),+ $(,)?) => {
        /// The tables that are emptied when a user is erased, in the order in which rows can be
        /// removed: a referring row is removed before the row it refers to.
        pub(crate) const ERASED: &[ErasedTable] = &[$(ErasedTable {
            name: $table,
            count: concat!("select count(*) from ", $table, " where user_id = $1"),
            remove: concat!(
                "with gone as (delete from ", $table, " where user_id = $1 and ctid = any(array(\
                   select ctid from ", $table, " where user_id = $1 limit $2)) returning 1) \
                 select count(*) from gone"
            ),
        }),+];

        /// Every table whose statements must name the user: those that are emptied with a user, and
        /// the record of erasures.
        pub const USER_TABLES: &[&str] = &[$($table),+, "erasure"];
    };
}

erased_tables![
    "import_item",
    "import",
    "delivery",
    "webhook_mark",
    "job",
    "left_out",
    "domain_question",
    "pass",
    "episode",
    "model_call",
    "user_policy",
    "usage",
    "retrieval",
    "given_baseline",
    "baseline",
    "response",
    "portrait",
    "embedding",
    "passage",
    "packed_session",
    "recall_state",
    "turn",
    "session",
    "observation",
    "noted_pattern",
    "calibration",
    "idempotency",
    "compared_pair",
    "comparison",
    "link",
    "fact_version",
    "fact",
    "tombstone",
    "operation",
    "user_domain",
    "space_grant",
    "membership",
];

/// Tables with a column `user_id` that belong to the tenant: its list of users and its credentials,
/// which are found by name and by key, and its audit log, which outlives the users it names by id.
pub const DIRECTORY_TABLES: &[&str] = &["audit", "credential", "users"];
