//! The sample memory of `lukasa demo`, as an export: it grew over eight months, so it cannot be saved through
//! the API, which saves everything now. The user of the demo vouches for the file when it is imported.

use jiff::SignedDuration;
use lukasa_core::archive::Contents;
use lukasa_core::fact::{Category, Claim, ClaimEvidence, Edit, Force, Kind, State, Tier, Version};
use lukasa_core::id::{FactId, Ids, TurnId};
use lukasa_core::record::{self, Changes, Provenance, Stamp};
use lukasa_core::{
    CallerKind, Link, Operation, Origin, Period, Role, Session, SessionState, Timestamp, Turn,
    Verb, Voice,
};
use serde_json::{Value, json};

use super::USER;
use crate::clock;

/// The rows of the sample, and the uses of its memories.
pub struct DemoMemory {
    pub contents: Contents,
    pub usage: Vec<Value>,
    now: Timestamp,
}

/// A message of a chat, and who wrote it.
type SampleLine = (Role, &'static str);

const USER_VOICE: Voice = Voice { origin: Origin::UserSaid, extracted: false };
const LEARNED_VOICE: Voice = Voice { origin: Origin::UserTurn, extracted: true };

fn claim(domain: &str, content: &str) -> Claim {
    Claim { domain: Some(domain.to_owned()), ..Claim::saying(content) }
}

fn rule(domain: &str, key: &str, value: &str, content: &str) -> Claim {
    Claim {
        force: Force::Hard,
        key: Some(key.to_owned()),
        value: Some(json!(value)),
        ..claim(domain, content)
    }
}

impl DemoMemory {
    /// The sample as of `now`.
    pub fn new(now: Timestamp) -> anyhow::Result<Self> {
        let mut sample = Self { contents: Contents::default(), usage: Vec::new(), now };
        sample.save_lasting();
        sample.save_histories()?;
        sample.learn_from_chats();
        // The log is read in the order of its times.
        sample.contents.operations.sort_by_key(|operation| operation.at);
        Ok(sample)
    }

    /// Memories that are as they were first said.
    fn save_lasting(&mut self) {
        let profile = |claim: Claim| Claim { category: Category::Profile, ..claim };
        let habit = |claim: Claim| Claim { kind: Kind::Habit, ..claim };
        let likes = |claim: Claim| Claim { kind: Kind::Preference, ..claim };
        let style = |claim: Claim| Claim { category: Category::Style, ..likes(claim) };
        let all = [
            (238, profile(claim("personal", "Is called Alma and lives in Lisbon"))),
            (236, style(claim("communication", "Likes answers short, with the reason first"))),
            (229, likes(claim("travel", "Prefers window seats, and trains over planes"))),
            (221, likes(claim("food", "Cooks vegetarian at home"))),
            (214, claim("work", "Designs exhibitions at a tile museum")),
            (205, profile(claim("personal", "Was born in Coimbra"))),
            (198, likes(claim("shopping", "Buys books second-hand"))),
            (186, rule("schedule", "earliest-meeting", "10:00", "No meetings before ten")),
            (177, habit(claim("schedule", "Swims on Tuesday and Thursday"))),
            (171, claim("work", "Reports to Marta, the head of the collection")),
            (164, likes(claim("travel", "Likes small hotels near the station"))),
            (158, claim("personal", "Plays the viola in an amateur quartet")),
            (149, rule("food", "coriander", "never", "Never suggest dishes with coriander")),
            (141, claim("shopping", "Wears size 39 shoes")),
            (136, likes(claim("work", "Wants labels in short sentences, in Portuguese first"))),
            (121, claim("travel", "Has a rail pass until the end of the year")),
            (112, habit(claim("food", "Bakes bread with spelt on Sundays"))),
            (104, claim("personal", "Has a cat called Milo")),
            (92, style(claim("communication", "Writes to lenders in English, and politely"))),
            (83, habit(claim("schedule", "Picks Ines up at four on weekdays"))),
            (74, claim("work", "Prepares the winter exhibition about blue tiles")),
            (61, likes(claim("shopping", "Prefers repairing things to buying new ones"))),
            (47, claim("personal", "Learns Japanese with an app")),
            (33, claim("travel", "Plans to see Kyoto in April with the family")),
            (19, habit(claim("food", "Buys coffee beans at the market hall"))),
            (6, claim("work", "The winter exhibition opens on 3 December")),
        ];
        for (days, claim) in all {
            self.save(days, claim);
        }
    }

    /// Memories that were changed, corrected, confirmed, forgotten, and that contradict each other.
    fn save_histories(&mut self) -> anyhow::Result<()> {
        let coffee = self.save(210, claim("food", "Drinks two espressos a day"));
        self.write(96, Verb::Change, |known, stamp| {
            let edit = saying("Drinks one espresso a day, before noon");
            let provenance = Provenance::stated(USER_VOICE);
            Ok(record::change(&known(coffee), &edit, stamp.at, 2, &provenance, stamp)?)
        })?;
        let school = self.save(152, claim("personal", "Ines starts school in September 2027"));
        self.write(139, Verb::Correct, |known, stamp| {
            let edit = saying("Ines starts school in September 2026");
            let provenance = Provenance::stated(USER_VOICE);
            Ok(record::correct(&known(school), &edit, None, 2, &provenance, stamp)?)
        })?;
        let gym = self.save(189, claim("schedule", "Goes to the gym on Mondays"));
        self.write(52, Verb::Forget, |known, stamp| {
            Ok(record::forget(&known(gym), USER_VOICE, stamp)?)
        })?;
        let office = self.save(168, claim("work", "Works from home on Fridays"));
        self.write(40, Verb::Confirm, |known, stamp| {
            Ok(record::confirm(&known(office), true, stamp)?)
        })?;
        // Both are in use, so both are disputed until the user says which is true.
        let vegetarian = self.save(126, claim("food", "Eats no fish or meat"));
        let fish = self.save(12, claim("food", "Eats fish when by the sea"));
        self.contradict(11, fish, vegetarian);
        let seat = self.save(68, claim("travel", "Gets sick in buses"));
        let dinner = self.chat(
            "lisbon-dinner",
            "Dinner on Friday",
            9,
            &[
                (
                    Role::User,
                    "Where could four of us eat on Friday? I have had my coffee for today.",
                ),
                (
                    Role::Assistant,
                    "The market hall has a vegetarian kitchen, and it is quiet before eight.",
                ),
            ],
        );
        self.cite(9, "lisbon-dinner", dinner[1], &[vegetarian, coffee]);
        let trip = self.chat(
            "porto",
            "A day in Porto",
            27,
            &[
                (Role::User, "How do we get from Porto to the coast with a child?"),
                (Role::Assistant, "By train to Espinho: no bus, and window seats at the sea side."),
            ],
        );
        self.cite(27, "porto", trip[1], &[seat]);
        Ok(())
    }

    /// What was learned from chats: likely memories and a guess, with the sentences they come from.
    fn learn_from_chats(&mut self) {
        let kyoto = self.chat(
            "kyoto",
            "Kyoto in April",
            31,
            &[
                (Role::User, "We want to see Kyoto in April. Are trains enough to get around?"),
                (
                    Role::Assistant,
                    "Yes: trains reach everything you named. I would stay near the station.",
                ),
                (
                    Role::User,
                    "Good. I like to arrive before dark, and we travel with one suitcase.",
                ),
            ],
        );
        self.learn(
            31,
            "kyoto",
            kyoto[2],
            Tier::Tentative,
            "travel",
            "Likes to arrive before dark",
            "I like to arrive before dark",
        );
        self.learn(
            31,
            "kyoto",
            kyoto[2],
            Tier::Tentative,
            "travel",
            "Travels with one suitcase",
            "we travel with one suitcase",
        );
        let labels = self.chat(
            "exhibition",
            "Labels for the exhibition",
            16,
            &[
                (
                    Role::User,
                    "Help me outline the labels. I think best on paper, so keep it printable.",
                ),
                (
                    Role::Assistant,
                    "Three labels to begin with: clay, glaze, and the hands that set them.",
                ),
            ],
        );
        self.learn(
            16,
            "exhibition",
            labels[0],
            Tier::Tentative,
            "work",
            "Thinks best on paper",
            "I think best on paper",
        );
        self.learn(
            16,
            "exhibition",
            labels[0],
            Tier::Candidate,
            "communication",
            "Prefers documents that can be printed",
            "keep it printable",
        );
    }

    fn time(&self, days: i64) -> Timestamp {
        // Operations have different times: those of one day are minutes apart.
        let minutes = i64::try_from(self.contents.operations.len()).unwrap_or(0);
        self.now - SignedDuration::from_hours(24 * days) + SignedDuration::from_mins(minutes)
    }

    fn stamp(&self, days: i64) -> Stamp {
        let at = self.time(days);
        let mut ids = Ids::new(at, clock::random());
        Stamp { at, operation: ids.operation(), ids }
    }

    fn save(&mut self, days: i64, claim: Claim) -> FactId {
        let mut stamp = self.stamp(days);
        let valid = Period::since(stamp.at);
        let provenance = Provenance::stated(USER_VOICE);
        let changes = record::save(claim, State::Active, valid, provenance, &mut stamp);
        self.apply(Verb::Save, USER_VOICE, &stamp, changes)
    }

    #[expect(clippy::too_many_arguments, reason = "a row of the sample")]
    fn learn(
        &mut self,
        days: i64,
        session: &str,
        turn: TurnId,
        tier: Tier,
        domain: &str,
        content: &str,
        quote: &str,
    ) {
        let mut stamp = self.stamp(days);
        let mut claim = claim(domain, content);
        claim.evidence = vec![ClaimEvidence {
            turn: Some(turn.to_string()),
            ..ClaimEvidence::of("quote", quote)
        }];
        let guess = tier == Tier::Candidate;
        let provenance = Provenance {
            voice: LEARNED_VOICE,
            confidence: Some(if guess { 0.4 } else { 0.7 }),
            tier,
            session: Some(name_of(session)),
            turns: vec![turn.to_string()],
            replaces_stated: false,
        };
        let state = if guess { State::Candidate } else { State::Active };
        let valid = Period::since(stamp.at);
        let changes = record::save(claim, state, valid, provenance, &mut stamp);
        self.apply(Verb::Learn, LEARNED_VOICE, &stamp, changes);
    }

    /// Carries out a verb of the record on what is known.
    fn write(
        &mut self,
        days: i64,
        verb: Verb,
        act: impl FnOnce(&dyn Fn(FactId) -> Vec<Version>, &mut Stamp) -> anyhow::Result<Changes>,
    ) -> anyhow::Result<()> {
        let mut stamp = self.stamp(days);
        let versions = &self.contents.versions;
        let known = |fact: FactId| -> Vec<Version> {
            let all = versions.iter().filter(|v| v.fact == fact && v.known.until.is_none());
            all.cloned().collect()
        };
        let changes = act(&known, &mut stamp)?;
        self.apply(verb, USER_VOICE, &stamp, changes);
        Ok(())
    }

    fn apply(&mut self, verb: Verb, voice: Voice, stamp: &Stamp, changes: Changes) -> FactId {
        for version in &mut self.contents.versions {
            if changes.closes.contains(&(version.fact, version.id)) {
                version.known.until = Some(stamp.at);
                version.closed_by = Some(stamp.operation);
            }
        }
        let fact = changes.opens[0].fact;
        self.contents.versions.extend(changes.opens);
        self.log(verb, voice, stamp, vec![fact]);
        fact
    }

    fn contradict(&mut self, days: i64, newer: FactId, older: FactId) {
        let mut stamp = self.stamp(days);
        self.contents.links.push(Link {
            id: stamp.ids.link(),
            from: newer,
            to: older,
            relation: "contradicts".to_owned(),
            known: Period::since(stamp.at),
            opened_by: stamp.operation,
            closed_by: None,
            reopens: None,
        });
        self.log(Verb::Link, USER_VOICE, &stamp, vec![newer, older]);
    }

    fn log(&mut self, verb: Verb, voice: Voice, stamp: &Stamp, facts: Vec<FactId>) {
        self.contents.operations.push(Operation {
            id: stamp.operation,
            verb,
            at: stamp.at,
            caller: if voice.extracted { CallerKind::Job } else { CallerKind::Human },
            credential: "local".to_owned(),
            voice,
            facts,
            undoes: None,
            undone_by: None,
            policy: None,
            sources: None,
            member: None,
        });
    }

    /// A closed chat that was learned from.
    fn chat(&mut self, name: &str, title: &str, days: i64, said: &[SampleLine]) -> Vec<TurnId> {
        let opened = self.time(days) - SignedDuration::from_hours(1);
        let mut ids = Ids::new(opened, clock::random());
        let mut session = Session::opened(&name_of(name), Some(title), opened);
        let mut turns = Vec::new();
        for (number, (role, content)) in (1_i32..).zip(said) {
            let at = opened + SignedDuration::from_mins(number.into());
            let id = ids.turn();
            turns.push(id);
            let origin = match role {
                Role::User => Origin::UserTurn,
                _ => Origin::Assistant,
            };
            self.contents.turns.push(Turn {
                id,
                session: session.id.clone(),
                number,
                role: *role,
                speaker: None,
                content: (*content).to_owned(),
                origin,
                said_at: at,
                recorded_at: at,
                spans: Vec::new(),
                marked: true,
            });
            (session.last_turn_at, session.turns) = (at, number);
        }
        session.state = SessionState::Idle;
        session.closed_at = Some(session.last_turn_at);
        session.extracted_through = session.turns;
        self.contents.sessions.push(session);
        turns
    }

    /// Records that an answer cited these memories.
    fn cite(&mut self, days: i64, session: &str, turn: TurnId, facts: &[FactId]) {
        let at = self.time(days) - SignedDuration::from_mins(30);
        let mut ids = Ids::new(at, clock::random());
        for fact in facts {
            self.usage.push(json!({
                "id": ids.usage(), "fact": fact, "session": name_of(session), "retrieval": null,
                "turn": turn, "kind": "cited", "influence": null, "at": at,
            }));
        }
    }
}

fn name_of(chat: &str) -> String {
    format!("{USER}-{chat}")
}

fn saying(content: &str) -> Edit {
    Edit { content: Some(content.to_owned()), ..Edit::default() }
}

#[cfg(test)]
mod tests {
    use lukasa_core::archive::faults;

    use super::*;

    #[test]
    fn demo_sample_is_a_valid_export_of_several_months() {
        let now: Timestamp = "2026-11-18T12:00:00Z".parse().unwrap();
        let sample = DemoMemory::new(now).unwrap();
        assert_eq!(faults(&sample.contents, now), Vec::<String>::new());
        let months: std::collections::BTreeSet<i8> = sample
            .contents
            .versions
            .iter()
            .map(|version| version.known.from.to_zoned(jiff::tz::TimeZone::UTC).month())
            .collect();
        assert!(months.len() >= 8, "{months:?}");
        assert_eq!(sample.contents.links[0].relation, "contradicts");
        assert!(sample.contents.versions.iter().any(|version| version.state == State::Forgotten));
        // Erased ids stay erased: a second demo needs others.
        let again = DemoMemory::new(now).unwrap();
        assert!(sample.contents.facts().is_disjoint(&again.contents.facts()));
    }
}
