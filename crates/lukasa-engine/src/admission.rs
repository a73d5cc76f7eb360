//! Admission of a claim: the screens, the domains and the policy, checked before anything is
//! written. The rules are in [`lukasa_core::admission`]; this module collects their inputs.

use lukasa_core::admission::{
    Decision, Screening, Sensitivity, Writer, decide, is_about, is_carried, is_content_carried,
    project_fault, without_authority,
};
use lukasa_core::consolidation::focus::SESSION_EVIDENCE;
use lukasa_core::learning::Transcript;
use lukasa_core::learning::explicit;
use lukasa_core::learning::quotations::typed_places_of_all;
use lukasa_core::learning::transcript::QuoteMatch;
use lukasa_core::limits::{EVIDENCE_CHARS, EVIDENCE_ITEMS};
use lukasa_core::session::session_name_fault;
use lukasa_core::{
    Caller, Claim, ClaimEvidence, Domain, Force, Keep, Project, State, Timestamp, Turn, TurnId,
};
use lukasa_store::session::SessionFilter;
use lukasa_store::{Scope, domain, policy, session};
use lukasa_text::screen::secret;

use crate::error::{Error, Result};
use crate::telemetry::record_admission;

/// Claims longer than this are screened on a blocking thread.
pub(crate) const INLINE_CHARS: usize = 4_000;
/// Replaces a quotation where no turns are kept.
pub(crate) const NOT_KEPT: &str = "source text not kept";
/// How many of a session's last turns are searched for a quotation.
const QUOTED_TURNS: i64 = 200;
/// The kind of evidence that is a quotation of the user.
const QUOTE: &str = "quote";

/// A claim that may be written, and in which state.
#[derive(Debug)]
pub(crate) struct AdmittedClaim {
    pub(crate) claim: Claim,
    pub(crate) state: State,
    pub(crate) domain: Option<Domain>,
}

/// Runs the screens over a claim, without holding up other requests for a long one.
pub(crate) async fn screen(claim: &Claim) -> Screening {
    let chars = claim.content.len() + claim.detail.as_ref().map_or(0, String::len);
    if chars <= INLINE_CHARS {
        return Screening::of(claim);
    }
    let claim = claim.clone();
    let screening = tokio::task::spawn_blocking(move || Screening::of(&claim)).await;
    // If a screen panicked, count the claim as a directive: only a human's is accepted without
    // asking.
    screening.unwrap_or(Screening { directs: true, ..Screening::default() })
}

/// Inputs of an admission decision besides the claim.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdmissionRequest<'a> {
    pub(crate) writer: Writer,
    pub(crate) screening: &'a Screening,
    /// A human's consent to keep a sensitive claim although its domain is not open.
    pub(crate) keep_without_domain: bool,
    /// The domain that the memory has already. If it was closed since, a human can still correct the
    /// memory there.
    pub(crate) has_domain: Option<&'a str>,
    /// Whether other members of a space read the claim.
    pub(crate) is_shared: bool,
}

impl<'a> AdmissionRequest<'a> {
    /// A claim that this caller writes.
    pub(crate) fn of(caller: &Caller, screening: &'a Screening) -> Self {
        let is_shared = caller.member.is_some();
        Self { writer: Writer::of(caller), is_shared, ..Self::extracted(screening) }
    }

    /// A claim that was learned, about the user alone.
    pub(crate) fn extracted(screening: &'a Screening) -> Self {
        let (keep_without_domain, is_shared) = (false, false);
        let writer = Writer::Extraction;
        Self { writer, screening, keep_without_domain, has_domain: None, is_shared }
    }

    /// The writer that the decision is about. The user's own orders, permissions and hard rules are
    /// accepted because they address the user's own assistants. In a space they would reach the
    /// assistants of other members, so there every member is asked about them like an agent.
    fn judged_writer(&self, claim: &Claim) -> Writer {
        let directs = self.screening.directs || claim.force == Force::Hard;
        match self.writer {
            Writer::Human if self.is_shared && directs => Writer::Agent,
            writer => writer,
        }
    }
}

/// Decides whether a claim is accepted, and in which state.
pub(crate) async fn admit(
    scope: &Scope,
    claim: Claim,
    ask: AdmissionRequest<'_>,
) -> Result<AdmittedClaim> {
    let admitted = decide_claim(scope, claim, ask).await;
    let decision = match &admitted {
        Ok(claim) if claim.state == State::Active => Some("accept"),
        Ok(_) => Some("ask"),
        Err(Error::SecretRejected(_)) => Some("reject_secret"),
        Err(Error::OptInNeeded(_)) => Some("reject_closed"),
        Err(_) => None,
    };
    if let Some(decision) = decision {
        record_admission(ask.writer, decision);
    }
    admitted
}

async fn decide_claim(
    scope: &Scope,
    claim: Claim,
    ask: AdmissionRequest<'_>,
) -> Result<AdmittedClaim> {
    let AdmissionRequest { writer, screening, keep_without_domain, has_domain, .. } = ask;
    if let Some(kind) = screening.secret {
        return Err(Error::SecretRejected(kind));
    }
    let mut claim = without_authority(claim, writer);
    let keeps_without_domain =
        keep_without_domain && writer == Writer::Human && claim.domain.is_none();
    let has_domain = has_domain.filter(|_| writer == Writer::Human);
    let named = claim.domain.as_deref().filter(|name| has_domain != Some(*name));
    let mut domain = check_domain(scope, named).await?;
    let detected_domain = screening.domain().filter(|name| claim.domain.as_deref() != Some(*name));
    let sensitivity = match (screening.sensitive, detected_domain) {
        (None, _) => Sensitivity::Plain,
        _ if keeps_without_domain => Sensitivity::Plain,
        // The claim names the domain, which is open, or the memory has it already.
        (Some(_), None) if claim.domain.is_some() && screening.domain().is_some() => {
            Sensitivity::Open
        }
        (Some(_), None) => Sensitivity::NoDomain,
        (Some(_), Some(name)) => match domain::find(scope, name).await? {
            Some((found, false)) if found.requires_opt_in => Sensitivity::Closed,
            Some((found, _)) => {
                if claim.domain.is_none() {
                    claim.domain = Some(found.name.clone());
                    domain = Some(found);
                }
                Sensitivity::Open
            }
            None => Sensitivity::NoDomain,
        },
    };
    let sensitivity = match (writer, sensitivity) {
        (Writer::Extraction, Sensitivity::Open) => {
            let admitting = domain::admitting_inferred(scope).await?;
            match claim.domain.as_ref().is_some_and(|name| admitting.contains(name)) {
                true => Sensitivity::Admitted,
                false => Sensitivity::Open,
            }
        }
        _ => sensitivity,
    };
    match decide(ask.judged_writer(&claim), screening.traits(&claim, sensitivity)) {
        Decision::Accept => Ok(AdmittedClaim { claim, state: State::Active, domain }),
        Decision::Ask => Ok(AdmittedClaim { claim, state: State::Proposed, domain }),
        Decision::RejectSecret => Err(Error::Internal(lukasa_store::Error::Corrupt {
            table: "admission",
            what: "a secret without its kind".to_owned(),
        })),
        Decision::RejectClosed => {
            Err(Error::OptInNeeded(screening.domain().unwrap_or_default().to_owned()))
        }
    }
}

/// Checks that the domain exists and, if it requires opt-in, that the user has opened it.
pub(crate) async fn check_domain(scope: &Scope, name: Option<&str>) -> Result<Option<Domain>> {
    let Some(name) = name else { return Ok(None) };
    match domain::find(scope, name).await? {
        None => Err(Error::DomainNotFound(name.to_owned())),
        Some((domain, false)) if domain.requires_opt_in => Err(Error::OptInNeeded(domain.name)),
        Some((domain, _)) => Ok(Some(domain)),
    }
}

/// Refuses a caller who is not human a change of a memory whose domain was closed since. A domain that
/// the tenant has removed cannot be opened, and refuses nothing.
pub(crate) async fn check_still_open(scope: &Scope, caller: &Caller, claim: &Claim) -> Result<()> {
    if Writer::of(caller) == Writer::Human {
        return Ok(());
    }
    match check_domain(scope, claim.domain.as_deref()).await {
        Ok(_) | Err(Error::DomainNotFound(_)) => Ok(()),
        Err(other) => Err(other),
    }
}

/// Checks the name that a caller gives a session. It is stored with everything that belongs to the
/// session, unmasked.
pub(crate) fn check_session_name(name: &str) -> Result<()> {
    match session_name_fault(name) {
        Some(fault) => Err(Error::invalid("session_id", &fault)),
        None => Ok(()),
    }
}

/// Checks the project that a caller gives a session or a request.
pub(crate) fn check_project_name(project: Option<&Project>) -> Result<()> {
    match project.and_then(project_fault) {
        Some(fault) => Err(Error::invalid("project", &fault)),
        None => Ok(()),
    }
}

/// Refuses a write while memory is paused, unless the user makes it.
pub(crate) async fn check_not_paused(scope: &Scope, caller: &Caller) -> Result<()> {
    if Writer::of(caller) != Writer::Human && policy::is_paused(scope).await? {
        return Err(Error::MemoryPaused);
    }
    Ok(())
}

/// Checks words that are stored without becoming a memory, such as raw events and notes about the
/// use of a memory. No consent can be asked for them, so a secret and a domain that is not open
/// refuse them from every writer. A domain that the tenant does not have cannot be opened, and
/// refuses nothing.
pub(crate) async fn check_words(
    scope: &Scope,
    writer: Writer,
    screenings: &[Screening],
) -> Result<()> {
    let closed = match screenings.iter().any(|screening| screening.domain().is_some()) {
        true => domain::closed_domains(scope).await?,
        false => Vec::new(),
    };
    for screening in screenings {
        if let Some(kind) = screening.secret {
            record_admission(writer, "reject_secret");
            return Err(Error::SecretRejected(kind));
        }
        if let Some(name) = closed.iter().find(|name| screening.domain() == Some(name.as_str())) {
            record_admission(writer, "reject_closed");
            return Err(Error::OptInNeeded(name.clone()));
        }
    }
    Ok(())
}

/// The text with every secret in it masked, and the screens of what is left.
pub(crate) async fn masked(text: String) -> (String, Screening) {
    let text = secret::mask(&text).unwrap_or(text);
    let screening = screen(&Claim::saying(&text)).await;
    (text, screening)
}

/// A quotation found in what the user typed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quoted {
    pub(crate) turn: TurnId,
    pub(crate) evidence: ClaimEvidence,
}

/// The latest turns of a session.
#[derive(Debug, Default)]
pub(crate) struct LatestTurns {
    pub(crate) turns: Vec<Turn>,
    /// Whether quotations of them may be kept.
    keeps_words: bool,
    /// The project of the session.
    project: Option<Project>,
}

/// The latest turns of a session. Without a session, the one with the latest turn is read: an
/// assistant that is connected by MCP does not know it.
pub(crate) async fn latest_turns(
    scope: &Scope,
    session: Option<&str>,
) -> Result<Option<LatestTurns>> {
    let stored = match session {
        Some(name) => session::find(scope, name).await?,
        None => session::page(scope, &SessionFilter::default(), None, 1).await?.pop(),
    };
    let Some(stored) = stored else { return Ok(None) };
    let after = stored.turns.saturating_sub(i32::try_from(QUOTED_TURNS).unwrap_or(i32::MAX)).max(0);
    let turns = session::turns(scope, &stored.id, after, QUOTED_TURNS).await?;
    let keeps_words = stored.keep != Keep::Nothing;
    Ok(Some(LatestTurns { turns, keeps_words, project: stored.project }))
}

/// Checks the number and the length of quotations, which are all searched for.
pub(crate) fn check_quotations(quotations: &[String]) -> Result<()> {
    let is_long = |quote: &String| quote.chars().count() > EVIDENCE_CHARS;
    match quotations.len() > EVIDENCE_ITEMS || quotations.iter().any(is_long) {
        true => Err(Error::invalid(
            "quotations",
            &format!("at most {EVIDENCE_ITEMS} of at most {EVIDENCE_CHARS} characters"),
        )),
        false => Ok(()),
    }
}

fn quoted_evidence(found: &QuoteMatch, keeps_words: bool) -> ClaimEvidence {
    let words = if keeps_words { found.quote.as_str() } else { NOT_KEPT };
    ClaimEvidence { turn: Some(found.turn.to_string()), ..ClaimEvidence::of(QUOTE, words) }
}

/// Searches the user's own turns of a session for one of the quotations, and checks that it carries
/// all texts of the claim that are shown, or what is new of them if the claim changes an `old` one,
/// and then that it is about the same. An agent's citation counts only if all of this holds. The
/// project may also be that of the request (`asked`), of the session, or another that the user has. Of
/// a statement, which the server has read itself, only the content is compared. See [`latest_turns`]
/// for a request without a session.
pub(crate) async fn find_quotation(
    scope: &Scope,
    caller: &Caller,
    claim: &Claim,
    old: Option<&Claim>,
    quotations: &[String],
    session: Option<&str>,
    asked: Option<&Project>,
) -> Result<Option<Quoted>> {
    if quotations.is_empty() {
        return Ok(None);
    }
    let Some(latest) = latest_turns(scope, session).await? else { return Ok(None) };
    let mut claim = claim.clone();
    leave_out_known_project(scope, &mut claim, &latest, asked).await?;
    let LatestTurns { turns, keeps_words, .. } = latest;
    let (old, quotations) = (old.cloned(), quotations.to_vec());
    let is_statement = caller.credential == explicit::CREDENTIAL;
    let search = move || {
        // The latest turns of the session: nothing follows them.
        let transcript = Transcript::of(&turns, &[]);
        let mut places = typed_places_of_all(&transcript, &quotations, Timestamp::MIN);
        places.find_map(|found| {
            let (said, old) = (found.sentence.as_str(), old.as_ref());
            let counts = match is_statement {
                true => is_content_carried(&claim, old, said),
                false => {
                    is_carried(&claim, old, said)
                        && old.is_none_or(|old| is_about(&claim, old, said))
                }
            };
            if !counts {
                return None;
            }
            Some(Quoted { turn: found.turn, evidence: quoted_evidence(&found, keeps_words) })
        })
    };
    Ok(tokio::task::spawn_blocking(search).await.unwrap_or(None))
}

/// Leaves the project out of a claim that is compared with quotations, if the agent did not invent it:
/// it is that of the request or of the session, or the user has it elsewhere.
pub(crate) async fn leave_out_known_project(
    scope: &Scope,
    claim: &mut Claim,
    latest: &LatestTurns,
    asked: Option<&Project>,
) -> Result<()> {
    let Some(project) = claim.project.as_ref() else { return Ok(()) };
    let is_known = asked == Some(project)
        || latest.project.as_ref() == Some(project)
        || session::is_users_project(scope, project).await?;
    if is_known {
        claim.project = None;
    }
    Ok(())
}

/// The evidence of an agent's proposal that the user is shown: quotations that the user typed in the
/// session, with their turns, and what the agent describes in its own words. A quotation that is not
/// found is left out, and so is evidence that names a whole session, which only the server may write.
pub(crate) async fn verify_evidence(
    scope: &Scope,
    evidence: &[ClaimEvidence],
    session: Option<&str>,
) -> Result<Vec<ClaimEvidence>> {
    if evidence.is_empty() {
        return Ok(Vec::new());
    }
    let LatestTurns { turns, keeps_words, .. } =
        latest_turns(scope, session).await?.unwrap_or_default();
    let evidence = evidence.to_vec();
    let verify = move || {
        let transcript = Transcript::of(&turns, &[]);
        let verified = evidence.iter().filter_map(|item| {
            let quotation = std::slice::from_ref(&item.description);
            match typed_places_of_all(&transcript, quotation, Timestamp::MIN).next() {
                Some(found) => Some(quoted_evidence(&found, keeps_words)),
                None if [QUOTE, SESSION_EVIDENCE].contains(&item.kind.as_str()) => None,
                None => Some(ClaimEvidence::of(&item.kind, &item.description)),
            }
        });
        verified.collect::<Vec<_>>()
    };
    Ok(tokio::task::spawn_blocking(verify).await.unwrap_or_default())
}
