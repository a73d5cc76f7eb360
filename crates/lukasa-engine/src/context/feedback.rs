//! Feedback about memories: predictions with their outcomes, and the user's ratings. Both are uses
//! of a memory, so that consolidation weighs them like the outcomes that applications report.

use std::collections::BTreeMap;

use lukasa_core::admission::{Screening, Writer};
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::limits::REASONING_CHARS;
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, CallerKind, FactId, Ids, Refusal, RetrievalId, Timestamp, TurnId, UsageId,
};
use lukasa_store::context::{self as kept, Usage};
use lukasa_store::{Batch, Scope, fact, job};

use super::Contexts;
use crate::admission;
use crate::error::{Error, Result};
use crate::facts::Target;
use crate::memory::MemoryRating;
use crate::request::Request;
use crate::sessions::refuse_incognito;
use crate::transaction::{WriteStart, keep_answer};

/// The type of a use that is a prediction.
const PREDICTED: &str = "predicted";

/// What an assistant expects, stated before it acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPrediction {
    /// The memory it relies on.
    pub fact: FactId,
    pub expects: String,
    pub session: Option<String>,
    pub retrieval: Option<RetrievalId>,
    pub turn: Option<TurnId>,
}

lukasa_core::words!(
    /// How a prediction turned out.
    PredictionResult {
        Confirmed = "confirmed",
        Wrong = "wrong",
    }
);

impl PredictionResult {
    /// The type of the use that records it.
    fn usage_type(self) -> &'static str {
        match self {
            PredictionResult::Confirmed => "confirmed",
            PredictionResult::Wrong => "contradicted",
        }
    }
}

/// A prediction, with its outcome once that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    pub stated: Usage,
    pub outcome: Option<(PredictionResult, Timestamp)>,
}

impl Contexts {
    /// Records what an assistant expects of a memory before it acts.
    pub async fn predict(&self, request: &Request, new: NewPrediction) -> Result<Prediction> {
        check_text("expects", &new.expects, 1)?;
        if let Some(session) = &new.session {
            admission::check_session_name(session)?;
        }
        let words = ReportedWords::of(Some(new.expects)).await;
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(stated) => return Ok(Prediction { stated, outcome: None }),
        };
        admission::check_not_paused(&scope, &request.caller).await?;
        if !fact::exists(&scope, new.fact).await? {
            return Err(Error::MemoryNotFound);
        }
        let influence = words.admit(&scope, request, new.session.as_deref()).await?;
        let stated = Usage {
            session: new.session,
            retrieval: new.retrieval,
            turn: new.turn,
            influence,
            ..usage(request, new.fact, PREDICTED)
        };
        let mut batch = Batch::default();
        kept::queue_usage(&mut batch, &scope, &stated);
        keep_answer(&mut batch, &scope, request, &stated, &[stated.fact])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(Prediction { stated, outcome: None })
    }

    /// Records how a prediction turned out. Reporting the same outcome again changes nothing.
    pub async fn report_outcome(
        &self,
        request: &Request,
        id: UsageId,
        result: PredictionResult,
        note: Option<String>,
    ) -> Result<Prediction> {
        check_text("note", note.as_deref().unwrap_or(""), 0)?;
        let words = ReportedWords::of(note).await;
        let scope = match self.transactions.start::<(Usage, Timestamp)>(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated((stated, at)) => {
                return Ok(Prediction { stated, outcome: Some((result, at)) });
            }
        };
        admission::check_not_paused(&scope, &request.caller).await?;
        let found = kept::find_prediction(&scope, id).await?;
        let (stated, known) = found.ok_or(Error::PredictionNotFound)?;
        if let Some(known) = known {
            if known.kind != result.usage_type() {
                return Err(Error::OutcomeKnown);
            }
            return Ok(Prediction { stated, outcome: Some((result, known.at)) });
        }
        let influence = words.admit(&scope, request, stated.session.as_deref()).await?;
        let outcome = Usage {
            session: stated.session.clone(),
            retrieval: stated.retrieval,
            turn: stated.turn,
            influence,
            prediction: Some(id),
            ..usage(request, stated.fact, result.usage_type())
        };
        let mut batch = Batch::default();
        kept::queue_usage(&mut batch, &scope, &outcome);
        queue_upkeep(&mut batch, &scope, request);
        let answer = (&stated, outcome.at);
        keep_answer(&mut batch, &scope, request, &answer, &[stated.fact])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(Prediction { stated, outcome: Some((result, outcome.at)) })
    }

    /// Sets the user's rating of a memory, or removes it. A memory has one rating; only the user
    /// rates. Rating an inferred memory down counts against it in the next consolidation; a memory
    /// that the user stated or agreed to is not changed by a rating.
    pub async fn rate(
        &self,
        request: &Request,
        target: &Target,
        rating: Option<MemoryRating>,
    ) -> Result<FactId> {
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(fact) => return Ok(fact),
        };
        let fact = target.fact(&scope, request.moment.now).await?;
        if !fact::exists(&scope, fact).await? {
            return Err(Error::MemoryNotFound);
        }
        if request.caller.kind != CallerKind::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let rated = rating.map(|rating| usage(request, fact, rating.usage_type()));
        let mut batch = Batch::default();
        kept::set_rating(&mut batch, &scope, fact, rated.as_ref());
        if rating == Some(MemoryRating::Down) {
            queue_upkeep(&mut batch, &scope, request);
        }
        keep_answer(&mut batch, &scope, request, &fact, &[fact])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(fact)
    }

    /// The user's ratings of these memories.
    pub async fn ratings(
        &self,
        caller: &Caller,
        facts: &[FactId],
        now: Timestamp,
    ) -> Result<BTreeMap<FactId, MemoryRating>> {
        if facts.is_empty() {
            return Ok(BTreeMap::new());
        }
        let scope = self.transactions.read(caller, now).await?;
        let rated = kept::ratings(&scope, facts)
            .await?
            .into_iter()
            .map(|(fact, kind)| (fact, MemoryRating::of_usage(&kind)));
        Ok(rated.collect())
    }
}

/// The words of a report about a memory: masked and screened before the user's lock is taken, and
/// admitted under it.
pub(super) struct ReportedWords(Option<(String, Screening)>);

impl ReportedWords {
    pub(super) async fn of(text: Option<String>) -> Self {
        match text {
            Some(text) => Self(Some(admission::masked(text).await)),
            None => Self(None),
        }
    }

    /// The words that may be stored. Those of an incognito session are refused, and those about a
    /// domain that is not open, and those with a secret that cannot be masked.
    pub(super) async fn admit(
        self,
        scope: &Scope,
        request: &Request,
        session: Option<&str>,
    ) -> Result<Option<String>> {
        if let Some(session) = session {
            refuse_incognito(scope, &[session]).await?;
        }
        let Some((text, screening)) = self.0 else { return Ok(None) };
        admission::check_words(scope, Writer::of(&request.caller), &[screening]).await?;
        Ok(Some(text))
    }
}

/// A use of this type, made now.
fn usage(request: &Request, fact: FactId, kind: &str) -> Usage {
    let now = request.moment.now;
    Usage {
        id: Ids::new(now, request.moment.seed).usage(),
        fact,
        session: None,
        retrieval: None,
        turn: None,
        kind: kind.to_owned(),
        influence: None,
        at: micros(now),
        prediction: None,
        by_user: Writer::of(&request.caller) == Writer::Human,
    }
}

fn queue_upkeep(batch: &mut Batch, scope: &Scope, request: &Request) {
    let now = micros(request.moment.now);
    let (id, due) = (request.job_id("upkeep"), next_upkeep(scope.user(), now));
    job::queue_sole(batch, scope, id, &Task::Upkeep, due, now);
}

fn check_text(field: &str, text: &str, least: usize) -> Result<()> {
    let length = text.trim().chars().count();
    if !(least..=REASONING_CHARS).contains(&length) || text.contains('\0') {
        return Err(Error::invalid(field, "at most 2,000 characters, with visible text"));
    }
    Ok(())
}
