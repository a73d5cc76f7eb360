//! The verbs of the reference model: what each one closes, opens and refuses.

use lukasa_core::{Claim, Edit, Force, Origin, State, Tier, Verb, builtin_domains};

use super::model::{
    Away, Draft, Judged, Op, Past, Refused, Removed, Row, Span, Tie, UserModel, Verdict,
    check_match, refuse, refuse_naming,
};
use super::step::{Answer, DAY, FOREVER, New, No, Shown, Step, Target};

/// The code of an undo whose place is taken by another memory or link (docs/errors.md).
const PLACE_TAKEN: &str = "already_undone";

/// Who acts, and at which instant of both axes.
#[derive(Clone, Copy)]
pub struct Act<'s> {
    pub step: &'s Step,
    pub now: i64,
    pub at: i64,
}

impl Act<'_> {
    /// Extraction never ends firm or better sourced rows; statements of the conversation end
    /// anything; tools, documents and imports end only rows of an equal or lower origin.
    fn may_end(self, row: &Row) -> bool {
        let origin = self.step.speaker.origin();
        if self.step.speaker.extracts() {
            return !row.firm() && origin >= row.origin;
        }
        origin >= Origin::Assistant || (origin >= row.origin && row.consented.is_none())
    }

    /// The same claim, known from now on.
    fn again(self, row: &Row) -> Row {
        let mut copy = row.clone();
        copy.known = Span { from: self.at, until: FOREVER };
        copy.opened_by = self.step.no;
        copy.closed_by = None;
        copy.past.root = 0;
        if let Some(away) = &mut copy.past.away {
            away.by_human |= self.step.speaker.is_human();
        }
        copy
    }

    /// The same row, opened again: the operation that opened the first one can still be undone.
    fn reopened(self, row: &Row) -> Row {
        let mut again = self.again(row);
        again.past.root = row.past.root;
        again
    }

    fn put_away(self, row: &Row, state: State, valid: Span) -> Row {
        let away = Away { before: row.clone(), by_human: self.step.speaker.is_human() };
        let past = Past { away: Some(Box::new(away)), ..Past::default() };
        Row { state, valid, past, ..self.again(row) }
    }
}

impl UserModel {
    pub fn save(&mut self, act: Act<'_>, new: &New) -> Judged<Verdict> {
        let valid = Span::checked(new.from.unwrap_or(act.now), new.until.unwrap_or(FOREVER))?;
        self.check_domain(new.claim.domain.as_deref())?;
        let same: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| row.open() && row.state == State::Active && row.valid.until > act.now)
            .filter(|row| says_the_same(&row.claim, &new.claim))
            .collect();
        if let Some(first) = same.iter().map(|row| row.valid.from).min() {
            let earliest = same.iter().filter(|row| row.valid.from == first);
            return Ok(Verdict::Nothing(earliest.map(|row| row.fact).collect()));
        }
        let waiting = || {
            let open = self.rows.iter().filter(|row| row.open() && row.state == State::Proposed);
            open.filter(|row| says_the_same(&row.claim, &new.claim)).map(|row| row.fact)
        };
        if new.proposal && waiting().next().is_some() {
            return Ok(Verdict::Nothing(waiting().collect()));
        }
        // A proposal with a confidence is an inference.
        let extracted = act.step.speaker.extracts() || (new.proposal && new.confidence.is_some());
        let row = Row {
            fact: act.step.no,
            number: 1,
            claim: new.claim.clone(),
            state: if new.proposal { State::Proposed } else { State::Active },
            tier: new.tier,
            origin: act.step.speaker.origin(),
            extracted,
            confidence: extracted.then(|| new.confidence.unwrap_or(0.5)),
            session: new.session.clone(),
            confirmed: None,
            last_confirmed: None,
            consented: None,
            valid,
            known: Span { from: act.at, until: FOREVER },
            opened_by: act.step.no,
            closed_by: None,
            past: Past::default(),
        };
        let verb = if new.proposal { Verb::Propose } else { Verb::Save };
        self.commit(act, verb, Draft { opens: vec![row], ..Draft::default() })
    }

    pub fn change(
        &mut self,
        act: Act<'_>,
        target: &Target,
        edit: &Edit,
        effective: Option<i64>,
        confidence: Option<f32>,
    ) -> Judged<Verdict> {
        let (fact, known) = self.known(act, target)?;
        self.check_domain(edit.domain.as_ref().and_then(Option::as_deref))?;
        let active = self.active(&known);
        let begins = |i: &usize| self.rows[*i].valid.from;
        // Without a date it happens now, though not before the last change; for a row that has not
        // begun yet, when that begins.
        let default = || {
            let begun = active.iter().map(begins).filter(|from| *from <= act.at).max();
            let when = begun.map_or(act.now, |from| from.max(act.now));
            let holds = active.iter().any(|i| self.rows[*i].valid.holds(when));
            let next = active.iter().map(begins).filter(|from| *from > when).min();
            if holds { when } else { next.unwrap_or(when) }
        };
        let effective = effective.unwrap_or_else(default);
        if active.is_empty() {
            return refuse("not_active");
        }
        let Some(&old) = active.iter().find(|i| self.rows[**i].valid.holds(effective)) else {
            return refuse("not_valid_then");
        };
        let Some(new) = self.edition(act, old, edit, confidence)? else {
            return Ok(Verdict::Nothing(vec![fact]));
        };
        let was = &self.rows[old];
        let mut opens = vec![Row { valid: Span { from: effective, ..was.valid }, ..new }];
        if was.valid.from < effective {
            let valid = Span { until: effective, ..was.valid };
            opens.push(Row { valid, ..act.again(was) });
        }
        self.commit(act, Verb::Change, Draft { closes: vec![old], opens, ..Draft::default() })
    }

    pub fn correct(
        &mut self,
        act: Act<'_>,
        target: &Target,
        edit: &Edit,
        from: Option<i64>,
        until: Option<Option<i64>>,
    ) -> Judged<Verdict> {
        let (fact, known) = self.known(act, target)?;
        self.check_domain(edit.domain.as_ref().and_then(Option::as_deref))?;
        let dated = from.is_some() || until.is_some();
        let shown = self.current(fact, act.at).map(|row| row.valid);
        let valid = shown.filter(|_| dated).map(|old| {
            let until = until.map_or(old.until, |until| until.unwrap_or(FOREVER));
            Span::checked(from.unwrap_or(old.from), until)
        });
        let valid = valid.transpose()?;
        let active = self.active(&known);
        let Some(&old) = active
            .iter()
            .find(|i| self.rows[**i].valid.holds(act.at))
            .or_else(|| active.iter().max_by_key(|i| self.rows[**i].valid.from))
        else {
            return refuse("not_active");
        };
        let was = &self.rows[old];
        let valid = valid.unwrap_or(was.valid);
        if active.iter().any(|i| *i != old && self.rows[*i].valid.meets(valid)) {
            return refuse("overlapping_validity");
        }
        let new = match self.edition(act, old, edit, None)? {
            Some(new) => new,
            None if valid != was.valid => act.again(was),
            None => return Ok(Verdict::Nothing(vec![fact])),
        };
        let opens = vec![Row { valid, ..new }];
        self.commit(act, Verb::Correct, Draft { closes: vec![old], opens, ..Draft::default() })
    }

    /// The next edition of a row with this act's edits, or `None` if nothing changes.
    fn edition(
        &self,
        act: Act<'_>,
        old: usize,
        edit: &Edit,
        confidence: Option<f32>,
    ) -> Judged<Option<Row>> {
        let old = &self.rows[old];
        if !act.may_end(old) {
            return refuse("less_trusted");
        }
        let claim = edit.apply(&old.claim);
        if claim == old.claim {
            return Ok(None);
        }
        if is_faulty(&claim) {
            return refuse("invalid_request");
        }
        Ok(Some(Row {
            number: self.next_number(old.fact),
            claim,
            tier: Tier::Strong,
            origin: act.step.speaker.origin(),
            extracted: act.step.speaker.extracts(),
            confidence: act.step.speaker.extracts().then(|| confidence.unwrap_or(0.5)),
            session: None,
            confirmed: None,
            last_confirmed: None,
            consented: None,
            ..act.again(old)
        }))
    }

    pub fn forget(&mut self, act: Act<'_>, target: &Target) -> Judged<Verdict> {
        let (_, known) = self.known(act, target)?;
        let closes = self.active(&known);
        if closes.is_empty() {
            return refuse("not_active");
        }
        let end = |row: &Row| match row.valid {
            // It ends now; a row that was over, or had not begun, keeps its dates.
            valid if valid.holds(act.at) && valid.from < act.at => Span { until: act.at, ..valid },
            valid => valid,
        };
        self.put_away(act, Verb::Forget, closes, |row| {
            act.put_away(row, State::Forgotten, end(row))
        })
    }

    pub fn delete(&mut self, act: Act<'_>, target: &Target) -> Judged<Verdict> {
        let (_, known) = self.known(act, target)?;
        let closes: Vec<usize> =
            known.into_iter().filter(|i| self.rows[*i].state != State::Trashed).collect();
        if closes.is_empty() {
            return refuse("not_active");
        }
        self.put_away(act, Verb::Delete, closes, |row| act.put_away(row, State::Trashed, row.valid))
    }

    fn put_away(
        &mut self,
        act: Act<'_>,
        verb: Verb,
        closes: Vec<usize>,
        away: impl Fn(&Row) -> Row,
    ) -> Judged<Verdict> {
        if closes.iter().any(|i| !act.may_end(&self.rows[*i])) {
            return refuse("less_trusted");
        }
        let opens = closes.iter().map(|i| away(&self.rows[*i])).collect();
        self.commit(act, verb, Draft { closes, opens, ..Draft::default() })
    }

    pub fn restore(&mut self, act: Act<'_>, target: &Target) -> Judged<Verdict> {
        let (_, known) = self.known(act, target)?;
        let closes: Vec<usize> = known.into_iter().filter(|i| self.rows[*i].gone()).collect();
        let aways: Vec<&Away> =
            closes.iter().filter_map(|i| self.rows[*i].past.away.as_deref()).collect();
        if aways.is_empty() {
            return refuse("not_gone");
        }
        if aways.iter().any(|away| away.by_human) && !act.step.speaker.is_human() {
            return refuse("human_needed");
        }
        let opens = aways.iter().map(|away| act.reopened(&away.before)).collect();
        self.commit(act, Verb::Restore, Draft { closes, opens, ..Draft::default() })
    }

    pub fn confirm(&mut self, act: Act<'_>, target: &Target, answer: &Answer) -> Judged<Verdict> {
        let (_, known) = self.known(act, target)?;
        let waiting = known.iter().copied().find(|i| self.rows[*i].waits());
        let human = act.step.speaker.is_human();
        let affirmed = |mut row: Row| {
            row.confirmed = row.confirmed.or(Some(act.at));
            row.last_confirmed = Some(act.at);
            row.consented = if human { Some(act.at) } else { row.consented };
            row
        };
        let (verb, old, new) = match (waiting, answer) {
            (None, Answer::No) => return refuse("not_proposed"),
            (None, Answer::Yes { edit, .. }) => {
                if !edit.is_empty() {
                    return refuse("invalid_request");
                }
                let active = self.active(&known);
                let holding = active.iter().find(|i| self.rows[**i].valid.holds(act.at));
                match holding {
                    Some(&old) => (Verb::Confirm, old, affirmed(act.again(&self.rows[old]))),
                    None if active.is_empty() => return refuse("not_active"),
                    None => return refuse("not_valid_then"),
                }
            }
            (Some(old), Answer::No) => {
                let row = &self.rows[old];
                if !act.may_end(row) {
                    return refuse("less_trusted");
                }
                (Verb::Reject, old, act.put_away(row, State::Forgotten, row.valid))
            }
            (Some(old), Answer::Yes { shown, edit }) => match shown {
                Shown::Nothing if !human => return refuse("invalid_request"),
                _ if !human => return refuse("human_needed"),
                Shown::OtherWords => return refuse("other_words"),
                // Without a digest a human agrees to the current words.
                Shown::Nothing | Shown::TheWords => {
                    (Verb::Confirm, old, affirmed(self.accepted(act, old, edit)?))
                }
            },
        };
        self.commit(act, verb, Draft { closes: vec![old], opens: vec![new], ..Draft::default() })
    }

    /// A proposal that a human confirmed: with its own content, or with edits.
    fn accepted(&self, act: Act<'_>, old: usize, edit: &Edit) -> Judged<Row> {
        let old = &self.rows[old];
        let claim = edit.apply(&old.claim);
        if is_faulty(&claim) {
            return refuse("invalid_request");
        }
        self.check_domain(claim.domain.as_deref())?;
        let mut new = Row { state: State::Active, ..act.again(old) };
        if claim != old.claim {
            new.number = self.next_number(old.fact);
            new.origin = act.step.speaker.origin();
            new.extracted = false;
            new.confidence = None;
            new.claim = claim;
        }
        Ok(new)
    }

    pub fn link(
        &mut self,
        act: Act<'_>,
        from: &Target,
        to: &Target,
        word: &str,
    ) -> Judged<Verdict> {
        let live = |target: &Target| {
            let (fact, known) = self.known(act, target)?;
            let holds = |i: &usize| self.rows[*i].valid.holds(act.now);
            if self.active(&known).iter().any(holds) { Ok(fact) } else { refuse("not_active") }
        };
        let (from, to) = (live(from)?, live(to)?);
        if from == to {
            return refuse("invalid_request");
        }
        let tie = Tie {
            no: act.step.no,
            root: act.step.no,
            from,
            to,
            relation: word.to_owned(),
            known: Span { from: act.at, until: FOREVER },
            opened_by: act.step.no,
            closed_by: None,
        };
        if self.is_tied(&tie) {
            return Ok(Verdict::Nothing(vec![from, to]));
        }
        self.commit(act, Verb::Link, Draft { opens_ties: vec![tie], ..Draft::default() })
    }

    pub fn unlink(&mut self, act: Act<'_>, of: &Target, link: No) -> Judged<Verdict> {
        let fact = self.find(of, act.now)?;
        let found = self.ties.iter().position(|tie| {
            tie.no == link && tie.closed_by.is_none() && (tie.from == fact || tie.to == fact)
        });
        let Some(tie) = found else { return refuse("link_not_found") };
        let about = vec![self.ties[tie].from, self.ties[tie].to];
        self.commit(act, Verb::Unlink, Draft { closes_ties: vec![tie], about, ..Draft::default() })
    }

    pub fn undo(&mut self, act: Act<'_>, operation: No) -> Judged<Verdict> {
        let Some(op) = self.ops.iter().find(|op| op.no == operation).cloned() else {
            return refuse("operation_not_found");
        };
        if self.undone_by(operation).is_some() {
            return refuse("already_undone");
        }
        if matches!(op.verb, Verb::Purge | Verb::Erase) {
            return refuse("not_undoable");
        }
        if op.by_human && !act.step.speaker.is_human() {
            return refuse("human_needed");
        }
        if op.facts.iter().any(|fact| self.erased.contains(fact)) {
            return refuse("not_undoable");
        }
        let rows = || self.rows.iter().enumerate();
        let opened = self.rows.iter().filter(|row| row.opened_by == operation);
        let closes = in_sight(opened.map(|row| self.standing(row)))?;
        let closed: Vec<&Row> =
            self.rows.iter().filter(|row| row.closed_by == Some(operation)).collect();
        // A restored row must not overlap another row of the same memory, whatever its state.
        let meets = |there: &Row| {
            closed.iter().any(|row| row.fact == there.fact && row.valid.meets(there.valid))
        };
        let in_the_way = rows().filter(|(i, row)| row.open() && !closes.contains(i) && meets(row));
        let in_the_way: Vec<No> = in_the_way.map(|(_, row)| row.opened_by).collect();
        if !in_the_way.is_empty() {
            return refuse_naming("undo_blocked", in_the_way);
        }
        if closes.iter().any(|i| !act.may_end(&self.rows[*i])) {
            return refuse("less_trusted");
        }
        let ties = self.ties.iter().filter(|tie| tie.opened_by == operation);
        let closes_ties = in_sight(ties.map(|tie| self.standing_tie(tie)))?;
        let retied = |tie: &Tie| Tie {
            no: act.step.no,
            known: Span { from: act.at, until: FOREVER },
            opened_by: act.step.no,
            closed_by: None,
            ..tie.clone()
        };
        let ties_closed = self.ties.iter().filter(|tie| tie.closed_by == Some(operation));
        let opens_ties = ties_closed.map(retied).collect();
        let opens = closed.into_iter().map(|row| act.reopened(row)).collect();
        let draft = Draft {
            closes,
            opens,
            closes_ties,
            opens_ties,
            about: op.facts.into_iter().collect(),
            undoes: Some(operation),
            removed: Vec::new(),
        };
        self.commit(act, Verb::Undo, draft).map_err(|refused| match refused.code {
            "key_taken" | "link_exists" => Refused { code: PLACE_TAKEN, names: Vec::new() },
            _ => refused,
        })
    }

    /// The current form of a row: the open row that is it, or restores it. If there is none, the
    /// operation that ended it last blocks the undo.
    fn standing(&self, row: &Row) -> Result<usize, No> {
        let same = |(_, other): &(usize, &Row)| other.past.root == row.past.root;
        let last = self.rows.iter().enumerate().filter(same).max_by_key(|(_, r)| r.known.from);
        match last.map(|(i, last)| (i, last.closed_by)) {
            Some((i, None)) => Ok(i),
            Some((_, Some(by))) => Err(by),
            None => Err(row.opened_by),
        }
    }

    fn standing_tie(&self, tie: &Tie) -> Result<usize, No> {
        let same = |(_, other): &(usize, &Tie)| other.root == tie.root;
        let last = self.ties.iter().enumerate().filter(same).max_by_key(|(_, t)| t.known.from);
        match last.map(|(i, last)| (i, last.closed_by)) {
            Some((i, None)) => Ok(i),
            Some((_, Some(by))) => Err(by),
            None => Err(tie.opened_by),
        }
    }

    /// The newest operation in effect that is not itself an undo.
    pub fn undo_last(&mut self, act: Act<'_>) -> Judged<Verdict> {
        let is_in_effect = |op: &&Op| op.verb != Verb::Undo && self.undone_by(op.no).is_none();
        match self.ops.iter().rev().find(is_in_effect).map(|op| op.no) {
            Some(last) => self.undo(act, last),
            None => refuse("operation_not_found"),
        }
    }

    /// The undo of an operation that is in effect: one that has not itself been undone.
    pub fn undone_by(&self, operation: No) -> Option<No> {
        let undoes = |op: &&Op| op.undoes == Some(operation) && self.undone_by(op.no).is_none();
        self.ops.iter().rev().find(undoes).map(|op| op.no)
    }

    pub fn purge(&mut self, act: Act<'_>) -> Judged<Verdict> {
        self.stored_answers.retain(|_, answer| answer.created >= act.at - 7 * DAY);
        let since = |fact: &No| {
            let lying = self.rows.iter().filter(|row| row.fact == *fact && row.open());
            lying.filter(|row| row.state == State::Trashed).map(|row| row.known.from).max()
        };
        let old = |fact: &No| since(fact).is_some_and(|since| since <= act.at - 30 * DAY);
        let mut facts: Vec<No> = self.facts.iter().copied().filter(old).collect();
        // The oldest first: a link between two of them is counted with the one that is removed
        // first.
        facts.sort_by_key(since);
        if facts.is_empty() {
            return Ok(Verdict::Nothing(Vec::new()));
        }
        self.remove(act, Verb::Purge, facts)
    }

    pub fn erase(&mut self, act: Act<'_>, target: &Target) -> Judged<Verdict> {
        let fact = self.find(target, act.now)?;
        if !self.facts.contains(&fact) {
            return refuse("memory_not_found");
        }
        check_match(act)?;
        if self.rows.iter().any(|row| row.fact == fact && !act.may_end(row)) {
            return refuse("less_trusted");
        }
        self.remove(act, Verb::Erase, vec![fact])
    }

    fn remove(&mut self, act: Act<'_>, verb: Verb, facts: Vec<No>) -> Judged<Verdict> {
        let mut removed: Vec<Removed> = facts.iter().map(|fact| self.remove_one(*fact)).collect();
        removed.sort_unstable();
        self.commit(act, verb, Draft { about: facts, removed, ..Draft::default() })
    }

    fn remove_one(&mut self, fact: No) -> Removed {
        let rows = self.rows.extract_if(.., |row| row.fact == fact);
        let evidence: Vec<usize> = rows.map(|row| row.claim.evidence.len()).collect();
        let links = self.ties.extract_if(.., |tie| tie.from == fact || tie.to == fact).count();
        self.facts.remove(&fact);
        self.erased.insert(fact);
        let mut answers = 0;
        for answer in
            self.stored_answers.values_mut().filter(|answer| answer.quotes.contains(&fact))
        {
            answer.erased = true;
            answers += 1;
        }
        let count = |of: usize| i32::try_from(of).unwrap_or(i32::MAX);
        Removed {
            fact,
            versions: count(evidence.len()),
            links: count(links),
            evidence: count(evidence.iter().sum()),
            answers,
        }
    }

    pub fn opt_in(&mut self, step: &Step, domain: &str, open: bool) -> Judged<Verdict> {
        if open && !step.speaker.is_human() {
            return refuse("human_needed");
        }
        if !builtin_domains().iter().any(|built| built.name == domain) {
            return refuse("domain_not_found");
        }
        match open {
            true => self.opened_domains.insert(domain.to_owned()),
            false => self.opened_domains.remove(domain),
        };
        Ok(Verdict::Nothing(Vec::new()))
    }
}

/// All rows looked for, or the blocking operations.
fn in_sight(found: impl Iterator<Item = Result<usize, No>>) -> Judged<Vec<usize>> {
    let (there, blocked): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
    let blocked: Vec<No> = blocked.into_iter().filter_map(Result::err).collect();
    if blocked.is_empty() {
        return Ok(there.into_iter().filter_map(Result::ok).collect());
    }
    refuse_naming("undo_blocked", blocked)
}

/// R091: the same category, the same content except for case and outer space; a hard memory also by
/// its key and value.
fn says_the_same(one: &Claim, other: &Claim) -> bool {
    let words = |claim: &Claim| claim.content.trim().to_lowercase();
    let place = |claim: &Claim| {
        let hard = claim.force == Force::Hard;
        hard.then(|| (claim.domain.clone(), claim.key.clone(), claim.value.clone()))
    };
    one.category == other.category && words(one) == words(other) && place(one) == place(other)
}

/// The few invalid claims that histories contain; the others are covered by unit tests of the
/// claim.
pub fn is_faulty(claim: &Claim) -> bool {
    claim.content.trim().is_empty()
        || !(0.0..=1.0).contains(&claim.importance)
        || (claim.force == Force::Hard && (claim.domain.is_none() || claim.key.is_none()))
        || (claim.value.is_some() && claim.key.is_none())
}

pub fn is_plain_word(relation: &str) -> bool {
    relation.starts_with(|c: char| c.is_ascii_lowercase())
        && relation.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
