//! Filing: memories without a domain are filed under the domains that their words are about. The server
//! suggests, the user decides, and one operation files many of them.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::{
    Caller, CallerKind, Changes, FactId, Refusal, State, Timestamp, Verb, Version, record,
};
use lukasa_store::{domain, fact};

use super::Facts;
use super::update::remaining;
use crate::admission::{self, AdmissionRequest};
use crate::detector::{self, Filing};
use crate::error::{Error, Result};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart, Writing};

/// Maximum number of memories that are filed, or suggestions that are made, at once.
const FILED_AT_ONCE: usize = 1_000;
/// How many memories without a domain are looked at, the latest first.
const MAX_READ: i64 = 5_000;

/// The domains suggested for the user's memories that have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilingSuggestions {
    /// The memories that are clearly about a domain that is open, the latest first.
    pub suggested: Vec<(FactId, String)>,
    /// The domains that are not open and that others of the memories are about.
    pub closed: BTreeSet<String>,
}

impl Facts {
    /// Suggests a domain for each active memory without one. A domain that the user has not opened
    /// is never suggested for a memory.
    pub async fn suggest_filing(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<FilingSuggestions> {
        let scope = self.transactions.read(caller, now).await?;
        let versions = fact::without_domain(&scope, now, MAX_READ).await?;
        let domains = domain::of_tenant(&scope).await?;
        let closed = domain::closed_domains(&scope).await?;
        drop(scope);
        let suggest = move || {
            let detector = detector::detector_of(&domains);
            let mut suggestions = FilingSuggestions::default();
            for version in versions {
                match detector::file(&detector, &closed, &version.claim) {
                    Filing::Under(name) => suggestions.suggested.push((version.fact, name)),
                    Filing::Closed(name) => _ = suggestions.closed.insert(name),
                    Filing::Unclear => {}
                }
                if suggestions.suggested.len() == FILED_AT_ONCE {
                    break;
                }
            }
            suggestions
        };
        self.parts.cpu.run(suggest).await
    }

    /// Files memories under domains, or under none, as one operation. Who said them and how certain
    /// they are does not change. Memories that are there already, were removed since, or whose
    /// sensitive words keep them in their domain are left as they are. Only a human files.
    pub async fn file(
        &self,
        request: &Request,
        filed: &BTreeMap<FactId, Option<String>>,
    ) -> Result<Outcome> {
        if filed.is_empty() || filed.len() > FILED_AT_ONCE {
            return Err(Error::invalid("memories", "between 1 and 1,000 memories"));
        }
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        if request.caller.kind != CallerKind::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let ids: Vec<FactId> = filed.keys().copied().collect();
        if fact::count_existing(&writing.scope, &ids).await? != ids.len() {
            return Err(Error::MemoryNotFound);
        }
        let numbers = fact::next_numbers(&writing.scope, &ids).await?;
        let mut known: BTreeMap<FactId, Vec<Version>> = BTreeMap::new();
        for version in fact::known_now_of_all(&writing.scope, &ids).await? {
            known.entry(version.fact).or_default().push(version);
        }
        let mut outcome = Outcome::of(Verb::Correct, String::new());
        let mut changes = Changes::default();
        for (id, known) in &known {
            let number = numbers.get(id).copied().unwrap_or(1);
            let to = filed.get(id).and_then(Option::as_deref);
            let filed = match record::file(known, to, number, &mut writing.stamp) {
                Err(Refusal::Unchanged | Refusal::NotActive) => continue,
                filed => filed?,
            };
            if !is_admitted(&writing, known, &filed.opens).await? {
                continue;
            }
            outcome.memories.extend(writing.shown(&remaining(known, &filed)));
            changes.closes.extend(filed.closes);
            changes.opens.extend(filed.opens);
        }
        outcome.message = format!("Filed: {}", changes.opens.len());
        if changes.opens.is_empty() {
            return writing.answer(outcome).await;
        }
        writing.finish(Verb::Correct, Effect::of(changes), outcome).await
    }
}

/// Checks that the claims may be written in their new domain: that it exists and is open. False if a
/// claim's sensitive words keep it in a domain of their own.
async fn is_admitted(writing: &Writing<'_>, known: &[Version], opens: &[Version]) -> Result<bool> {
    for version in opens {
        Error::faults(version.claim.faults())?;
        let was = known.iter().find(|old| old.state == State::Active);
        let screening = admission::screen(&version.claim).await;
        let ask = AdmissionRequest {
            has_domain: was.and_then(|old| old.claim.domain.as_deref()),
            ..AdmissionRequest::of(writing.caller(), &screening)
        };
        let admitted = admission::admit(&writing.scope, version.claim.clone(), ask).await?;
        if admitted.state != State::Active {
            return Err(Refusal::NeedsHuman.into());
        }
        if admitted.claim.domain != version.claim.domain {
            return Ok(false);
        }
    }
    Ok(true)
}
