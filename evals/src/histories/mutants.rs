//! Planted faults, which show that the checks work: each mutant breaks one guarantee in the
//! database, by SQL or by changing an answer on its way to the checks, and one named check must
//! detect it.

use anyhow::{Context, Result};
use lukasa_core::Verb;
use tokio_postgres::types::ToSql;

use super::driver::History;
use super::model::Verdict;
use super::report::Check;
use super::step::{Action, Step};
use super::witness::COLUMNS;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mutant {
    /// The newer half of a change begins a second late.
    Gap,
    /// A second active row is inserted beside a saved one.
    Overlap,
    /// A closed row is opened again.
    LostClose,
    /// A row is moved to another user.
    Leak,
    /// One of the rows that an undo restored is deleted.
    UndoHalf,
    /// The stored answers are deleted before a retry.
    Amnesia,
    /// An extraction closes a stated row.
    ExtractOver,
    /// The content of an old row is edited.
    Rewrite,
    /// One end of a link is removed.
    Dangle,
    /// A row is saved with another importance than requested.
    Drift,
    /// A refusal is reported as another one.
    WrongAnswer,
}

impl Mutant {
    pub const ALL: [Mutant; 11] = [
        Mutant::Gap,
        Mutant::Overlap,
        Mutant::LostClose,
        Mutant::Leak,
        Mutant::UndoHalf,
        Mutant::Amnesia,
        Mutant::ExtractOver,
        Mutant::Rewrite,
        Mutant::Dangle,
        Mutant::Drift,
        Mutant::WrongAnswer,
    ];

    /// The check that must detect it.
    pub fn caught_by(self) -> Check {
        match self {
            Mutant::Gap => Check::NoGap,
            Mutant::Overlap => Check::NoOverlap,
            Mutant::LostClose => Check::AppendOnly,
            Mutant::Leak => Check::Isolation,
            Mutant::UndoHalf => Check::UndoRestores,
            Mutant::Amnesia => Check::Idempotent,
            Mutant::ExtractOver => Check::FirmStays,
            Mutant::Rewrite => Check::AsOf,
            Mutant::Dangle => Check::NoDangling,
            Mutant::Drift => Check::State,
            Mutant::WrongAnswer => Check::Answer,
        }
    }

    /// Constraints of the database that have to be dropped before some mutants can be planted.
    pub fn preparation(self) -> Option<&'static str> {
        let belt_off = "alter table fact_version drop constraint one_truth";
        matches!(self, Mutant::Overlap | Mutant::LostClose).then_some(belt_off)
    }

    /// Plants the fault before a step is sent to the engine.
    pub async fn strike_before(self, history: &History<'_>, step: &Step) -> Result<()> {
        let replays = history.models[step.user].replays(step);
        if self == Mutant::Amnesia && matches!(replays, Ok(Some(_))) {
            let user = history.test_users.actors[step.user].user.uuid();
            let sql = "delete from idempotency where user_id = $1";
            history.fixture.admin.execute(sql, &[&user]).await.context("amnesia")?;
        }
        Ok(())
    }

    /// The answer as the checks see it.
    pub fn twist(self, code: &'static str) -> &'static str {
        if self == Mutant::WrongAnswer && code == "memory_not_found" { "not_active" } else { code }
    }

    /// Plants the fault after a step; returns whether there was a row to change.
    pub async fn strike_after(
        self,
        history: &History<'_>,
        step: &Step,
        verdict: &Verdict,
    ) -> Result<bool> {
        let user = history.test_users.actors[step.user].user.uuid();
        let operation = history.bound.operation(step.no).uuid();
        let done = *verdict == Verdict::Done;
        let wrote = |verb: Verb| {
            done && history.models[step.user].ops.last().is_some_and(|op| op.verb == verb)
        };
        let strike = async |sql: &str, params: &[&(dyn ToSql + Sync)]| {
            let admin = &history.fixture.admin;
            // Foreign keys and the trigger that guards closing are triggers; this turns them off.
            admin.batch_execute("set session_replication_role = replica").await?;
            let struck = admin.execute(sql, params).await.with_context(|| format!("{self:?}"));
            admin.batch_execute("set session_replication_role = origin").await?;
            anyhow::Ok(struck? > 0)
        };
        match self {
            Mutant::Gap if wrote(Verb::Change) => {
                let sql = "update fact_version set valid_from = valid_from + interval '1 second' \
                            where user_id = $1 and opened_by = $2 \
                              and number = (select max(number) from fact_version \
                                             where user_id = $1 and opened_by = $2) \
                              and (valid_until is null \
                                   or valid_until > valid_from + interval '2 seconds')";
                strike(sql, &[&user, &operation]).await
            }
            Mutant::Overlap if wrote(Verb::Save) => {
                let sql = format!(
                    "insert into fact_version ({COLUMNS}, version_id) \
                     select {COLUMNS}, gen_random_uuid() from fact_version \
                      where user_id = $1 and opened_by = $2 and state = 'active'"
                );
                strike(&sql, &[&user, &operation]).await
            }
            Mutant::LostClose => {
                let Some(closed) = history.seen_closed(step.user) else { return Ok(false) };
                let sql = "update fact_version set known_until = null, closed_by = null \
                            where user_id = $1 and version_id = $2";
                strike(sql, &[&user, &closed]).await
            }
            Mutant::Leak if wrote(Verb::Save) => {
                let other =
                    &history.test_users.actors[(step.user + 1) % history.test_users.actors.len()];
                let sql = "update fact_version set user_id = $3, tenant_id = $4 \
                            where user_id = $1 and opened_by = $2";
                let (theirs, tenant) = (other.user.uuid(), other.tenant.uuid());
                strike(sql, &[&user, &operation, &theirs, &tenant]).await
            }
            Mutant::UndoHalf if wrote(Verb::Undo) => {
                let sql = "delete from fact_version where version_id = \
                            (select version_id from fact_version \
                              where user_id = $1 and opened_by = $2 limit 1)";
                strike(sql, &[&user, &operation]).await
            }
            Mutant::ExtractOver if wrote(Verb::Save) && !step.speaker.extracts() => {
                let sql = "with extraction as ( \
                             insert into operation \
                             select user_id, tenant_id, gen_random_uuid(), \
                                    recorded_at + interval '1 microsecond', 'change', 'job', \
                                    'extractor', 'user_turn', true, facts, null \
                               from operation where user_id = $1 and operation_id = $2 \
                             returning operation_id, recorded_at) \
                           update fact_version set known_until = recorded_at, \
                                                   closed_by = operation_id \
                             from extraction where user_id = $1 and opened_by = $2";
                strike(sql, &[&user, &operation]).await
            }
            Mutant::Rewrite => {
                let theirs = |recorded: &&super::asof::Recorded| recorded.user == step.user;
                let lines = history.recorded.iter().filter(theirs).flat_map(|r| &r.lines);
                let Some((fact, _)) = lines.last() else { return Ok(false) };
                let sql = "update fact_version set content = content || ' (edited)' \
                            where user_id = $1 and fact_id = $2";
                strike(sql, &[&user, &fact.uuid()]).await
            }
            Mutant::Dangle if wrote(Verb::Link) => {
                let sql = "delete from fact where user_id = $1 and fact_id = \
                            (select to_fact from link where user_id = $1 and opened_by = $2)";
                strike(sql, &[&user, &operation]).await
            }
            Mutant::Drift if done && matches!(step.action, Action::Save(_)) => {
                let sql = "update fact_version set importance = importance / 2 + 0.125 \
                            where user_id = $1 and opened_by = $2 and importance <> 0.25";
                strike(sql, &[&user, &operation]).await
            }
            _ => Ok(false),
        }
    }
}
