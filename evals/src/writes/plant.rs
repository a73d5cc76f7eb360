//! Faults planted in the database that the eval must detect.

use super::check::Findings;

/// A fault to plant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// A proposal becomes active at once.
    Accept,
    /// An agent's content counts as said by the user.
    Trust,
    /// An agent's content counts as confirmed by the user.
    Consent,
    /// An agent's write ends a stated memory.
    Replace,
    /// An agent's write changes a memory of the control user.
    Leak,
}

impl Plant {
    /// How often this fault was detected.
    pub fn count<'f>(self, findings: impl Iterator<Item = &'f Findings>, foreign: usize) -> usize {
        let of = |findings: &Findings| match self {
            Plant::Accept => findings.active,
            Plant::Trust | Plant::Consent => findings.consents,
            Plant::Replace => findings.replaced + findings.forgotten,
            Plant::Leak => 0,
        };
        findings.map(of).sum::<usize>() + if self == Plant::Leak { foreign } else { 0 }
    }

    /// The statements that plant the fault. The database's own guard is dropped first.
    pub fn sql(self) -> String {
        // Not what an assistant writes while a user is set up.
        let agents = "new.origin in ('assistant', 'tool', 'document', 'import') and new.content \
            not in ('Prefers trains to planes', 'Would like to learn to sail')";
        let (body, when) = match self {
            Plant::Accept => ("new.state := 'active'; return new;", "before"),
            Plant::Trust => ("new.origin := 'user_said'; return new;", "before"),
            Plant::Consent => ("new.consented_at := new.known_from; return new;", "before"),
            Plant::Replace => (
                "update fact_version set known_until = new.known_from, closed_by = new.opened_by \
                   where user_id = new.user_id and known_until is null and importance > 0.85 \
                   and origin = 'user_said'; return new;",
                "after",
            ),
            Plant::Leak => (
                "update fact_version set content = 'Lives in Faro' where user_id <> new.user_id \
                   and known_until is null and content like 'Lives in Lagos%'; return new;",
                "after",
            ),
        };
        format!(
            "alter table fact_version disable trigger close_version; \
             create function planted() returns trigger language plpgsql security definer as $$ \
               begin {body} end $$; \
             create trigger planted {when} insert on fact_version for each row \
               when ({agents}) execute function planted()"
        )
    }
}
