//! Random histories of one user with three projects. After each, no answer in one project contains
//! anything of another. Each statement and each summary of a conversation contains a word of its own,
//! so that every occurrence can be assigned to the projects that may see it.

use std::collections::BTreeMap;

use lukasa_core::context::Budget;
use lukasa_core::vault::Command;
use lukasa_core::{Caller, Claim, Edit, FactId, Kind, OperationId, Project, ProjectScope, Status};
use lukasa_engine::Point;
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{
    ListFilter, ListedProjects, Listing, MAX_GRAPH_DEPTH, NewMemory, Target, Update,
};
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::sessions::NewSession;
use serde_json::json;

use crate::learning::{story_saying, user, work};
use crate::story::Story;

/// How many histories are tested, unless `LUKASA_PROJECT_HISTORIES` says otherwise.
const HISTORIES: u64 = 40;
/// How many steps a history has.
const STEPS: usize = 24;
const PROJECTS: [&str; 4] = ["", "apollo", "Apollo", "zeus"];
const QUESTION: &str = "What about the parcel of the plan, the note and the meeting?";

/// A generator of pseudo-random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

/// For each word, the place of the project that it belongs to.
type WordPlaces = BTreeMap<String, usize>;
/// The ids of memories, each with its word.
type SavedFacts = Vec<(FactId, String)>;

/// One user with their expected record.
struct History<'s> {
    story: &'s Story,
    caller: Caller,
    dice: Dice,
    /// For each word, the place of the project that it belongs to.
    words: WordPlaces,
    /// The saved memories, each with its word.
    facts: SavedFacts,
    /// What can be undone, with the state before it.
    undoable: Vec<(OperationId, WordPlaces, SavedFacts)>,
    next: usize,
}

/// What the words of summaries begin with.
const OF_A_SUMMARY: &str = "xe";

/// The word of the summary of a turn with this word. No other word is part of it.
fn summary_word(word: &str) -> String {
    format!("{OF_A_SUMMARY}{}", word.chars().rev().collect::<String>())
}

fn project(place: usize) -> Option<Project> {
    Project::parse(PROJECTS[place])
}

impl History<'_> {
    fn word(&mut self, place: usize) -> String {
        self.next += 1;
        // Four syllables: a word with digits would be taken for a secret.
        const SYLLABLES: [&str; 10] = ["ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru"];
        let digits = [1_000, 100, 10, 1].map(|unit| self.next / unit % 10);
        let word = digits.map(|digit| SYLLABLES[digit]).concat();
        self.words.insert(word.clone(), place);
        word
    }

    fn session(place: usize) -> String {
        format!("session {place}")
    }

    async fn open_sessions(&self) {
        for place in 0..PROJECTS.len() {
            let id = Some(Self::session(place));
            let new = NewSession { id, project: project(place), ..NewSession::default() };
            let request = self.story.by(self.caller.clone());
            self.story.engine.sessions.open(&request, new).await.unwrap();
        }
    }

    async fn step(&mut self) {
        self.story.pass(60);
        let place = self.dice.roll(PROJECTS.len());
        let engine = &self.story.engine;
        let before = (self.words.clone(), self.facts.clone());
        let request = self.story.by(self.caller.clone());
        match self.dice.roll(10) {
            0..=2 => {
                let word = self.word(place);
                let claim = Claim {
                    project: project(place),
                    ..Claim::saying(&format!("The note says {word} of the plan"))
                };
                let new = NewMemory { claim, ..NewMemory::saying("") };
                let outcome = engine.facts.save(&request, new).await.unwrap();
                self.facts.push((Story::fact(&outcome), word));
                self.undoable.push((outcome.operation.unwrap(), before.0, before.1));
            }
            3 => {
                let word = self.word(place);
                let mut new = NewMemory::saying(&format!("The note in a session says {word}"));
                new.claim.kind = Kind::Context;
                new.session = Some(Self::session(place));
                let outcome = engine.facts.save(&request, new).await.unwrap();
                self.undoable.push((outcome.operation.unwrap(), before.0, before.1));
            }
            4 => {
                let word = self.word(place);
                let said = vec![user(&format!("The meeting is about {word}"))];
                let to = Self::session(place);
                engine.sessions.append_turns(&request, &to, said).await.unwrap();
            }
            5 => {
                let word = self.word(place);
                self.words.insert(summary_word(&word), place);
                let said = vec![user(&format!("I plan the parcel {word} now."))];
                let to = Self::session(place);
                engine.sessions.append_turns(&request, &to, said).await.unwrap();
                let request = self.story.by(self.caller.clone());
                engine.sessions.close(&request, &to, None).await.unwrap();
                work(self.story).await;
            }
            6 | 7 if !self.facts.is_empty() => {
                let at = self.dice.roll(self.facts.len());
                let (fact, old) = self.facts[at].clone();
                let mut edit = Edit { project: Some(project(place)), ..Edit::default() };
                if self.dice.roll(2) == 0 {
                    let word = self.word(place);
                    edit.content = Some(format!("The note now says {word} of the plan"));
                    self.facts[at].1 = word;
                } else {
                    self.words.insert(old, place);
                }
                let update = Update::change(edit);
                let changed = engine.facts.update(&request, &Target::Id(fact), update).await;
                if let Some(operation) = changed.unwrap().operation {
                    self.undoable.push((operation, before.0, before.1));
                }
            }
            8 => {
                if let Some((operation, words, facts)) = self.undoable.pop() {
                    // Words of turns are not undone, and learning is never the last of the list.
                    engine.undo.undo(&request, operation).await.unwrap();
                    self.words.extend(words);
                    self.facts = facts;
                }
            }
            9 if self.facts.len() > 1 => {
                let from = self.dice.roll(self.facts.len());
                let to = (from + 1 + self.dice.roll(self.facts.len() - 1)) % self.facts.len();
                let [from, to] = [from, to].map(|at| Target::Id(self.facts[at].0));
                let linked = engine.facts.link(&request, &from, &to, "relates_to").await.unwrap();
                if let Some(operation) = linked.operation {
                    self.undoable.push((operation, before.0, before.1));
                }
            }
            _ => {}
        }
    }

    /// Every text that a request about a project is given.
    async fn texts(&self, place: usize) -> Vec<String> {
        let (engine, now) = (&self.story.engine, self.story.now());
        let mut texts = Vec::new();
        for session in [None, Some(Self::session(place)), Some(Self::session(place))] {
            let ask = ContextRequest {
                project: project(place).filter(|_| session.is_none()),
                session,
                tokens: Budget::DEEP,
                memories: Some(100),
                turns: Some(100),
                episodes: Some(100),
                ..ContextRequest::about(QUESTION)
            };
            let moment = self.story.moment();
            let context = engine.context.retrieve(&self.caller, &ask, moment).await.unwrap();
            texts.extend([context.baseline.content, context.dynamic.content]);
        }
        let scope = ProjectScope::of(project(place).as_ref());
        let ask = RecallQuery {
            memories: 200,
            turns: 200,
            episodes: 200,
            projects: Some(scope.clone()),
            ..RecallQuery::about(QUESTION)
        };
        let found = engine.recall.search(&self.caller, &ask, now).await.unwrap();
        texts.extend(found.memories.into_iter().map(|f| f.memory.version.claim.content));
        texts.extend(found.turns.into_iter().map(|f| f.turn.content));
        texts.extend(found.episodes.into_iter().map(|f| f.episode.summary));
        let projects = ListedProjects::seen_in(&scope);
        let status = Some(Status::Active);
        let filter = ListFilter { status, projects, ..ListFilter::default() };
        let listing = Listing { filter, point: Point::default(), after: None, limit: 200 };
        let page = engine.facts.list(&self.caller, &listing, now).await.unwrap();
        texts.extend(page.memories.into_iter().map(|memory| memory.version.claim.content));
        let near = engine.recall.near(&self.caller, QUESTION, scope.clone(), now).await.unwrap();
        texts.extend(near.into_iter().map(|(memory, _)| memory.version.claim.content));
        // Portraits are the same for every project, so they contain nothing of any.
        let portraits = engine.portraits.list(&self.caller, now).await.unwrap();
        let sentences = portraits.into_iter().flat_map(|compiled| compiled.portrait.sentences);
        texts.extend(sentences.map(|placed| placed.sentence.text));
        texts.extend(self.linked(place, &scope).await);
        texts.extend(self.files(&scope).await);
        texts
    }

    /// The memories that are linked with those that a project sees.
    async fn linked(&self, place: usize, scope: &ProjectScope) -> Vec<String> {
        let (facts, now) = (&self.story.engine.facts, self.story.now());
        let mut texts = Vec::new();
        for (fact, word) in &self.facts {
            if ![0, place].contains(&self.words[word]) {
                continue;
            }
            let of = Target::Id(*fact);
            let links = facts.links(&self.caller, &of, scope, (None, 200), now).await.unwrap();
            texts.extend(links.links.into_iter().map(|linked| linked.other.version.claim.content));
            let graph = facts.graph(&self.caller, &of, MAX_GRAPH_DEPTH, scope, now).await.unwrap();
            texts
                .extend(graph.memories.into_iter().map(|(memory, _)| memory.version.claim.content));
        }
        texts
    }

    /// The files of the memory tool.
    async fn files(&self, scope: &ProjectScope) -> Vec<String> {
        let view = async |path: &str| {
            let (path, request) = (path.to_owned(), self.story.by(self.caller.clone()));
            let command = Command::View { path, range: None };
            self.story.engine.vault.command(&request, &command, scope).await.unwrap().text
        };
        let mut texts = Vec::new();
        for line in view("/memories").await.lines() {
            let path = line.split_whitespace().last().filter(|path| path.ends_with(".md"));
            if let Some(path) = path {
                texts.push(view(path).await);
            }
        }
        texts
    }

    /// Compares all answers with the expected record; returns how many words of the own project, of
    /// none, and of summaries of the own project were seen.
    async fn check(&self, number: u64) -> [usize; 3] {
        let (mut own, mut everywhere, mut summaries) = (0, 0, 0);
        for (place, seen_in) in PROJECTS.iter().enumerate() {
            let texts = self.texts(place).await.join("\n");
            for (word, owner) in self.words.iter().filter(|(word, _)| texts.contains(*word)) {
                let belongs_to = PROJECTS[*owner];
                let may_see = *owner == 0 || *owner == place;
                assert!(may_see, "history {number}: {word} of {belongs_to:?} seen in {seen_in:?}");
                own += usize::from(*owner != 0);
                everywhere += usize::from(*owner == 0);
                summaries += usize::from(*owner != 0 && word.starts_with(OF_A_SUMMARY));
            }
        }
        [own, everywhere, summaries]
    }
}

#[tokio::test]
async fn random_histories_show_no_memory_of_another_project() {
    let (story, _) = story_saying(|ask| {
        let shown = &ask.messages[1].content;
        let news = shown.split("New turns, to learn from:").nth(1).unwrap_or_default();
        let planned = news.split("I plan the parcel ").skip(1);
        let words: Vec<&str> = planned.filter_map(|rest| rest.split(' ').next()).collect();
        let said =
            words.iter().map(|word| format!("They planned the parcel {}.", summary_word(word)));
        let summary = said.collect::<Vec<_>>().join(" ");
        let memory = |word: &str| {
            json!({"op": "add", "content": format!("User plans the parcel {word}."),
                   "kind": "project", "importance": 8, "confidence": 0.9,
                   "evidence": [{"turn": 1, "quote": format!("I plan the parcel {word} now")}]})
        };
        let memories: Vec<_> = words.iter().map(|word| memory(word)).collect();
        json!({ "title": "A plan", "summary": summary, "memories": memories }).to_string()
    })
    .await;
    let histories = std::env::var("LUKASA_PROJECT_HISTORIES").ok();
    let histories = histories.and_then(|count| count.parse().ok()).unwrap_or(HISTORIES);
    let mut seen = [0; 3];
    for number in 0..histories {
        let mut history = History {
            story: &story,
            caller: Caller::human(story.tenant, &format!("user{number}"), "local"),
            dice: Dice(0x9e37_79b9_7f4a_7c15 ^ (number + 1)),
            words: BTreeMap::new(),
            facts: Vec::new(),
            undoable: Vec::new(),
            next: 0,
        };
        history.open_sessions().await;
        for step in 0..STEPS {
            history.step().await;
            if step == STEPS / 2 {
                history.check(number).await;
            }
        }
        let counts = history.check(number).await;
        for (all, count) in seen.iter_mut().zip(counts) {
            *all += count;
        }
    }
    let [own, everywhere, summaries] = seen;
    println!(
        "{histories} histories of {STEPS} steps: {own} words of the own project were seen, {summaries} of \
         them in summaries, {everywhere} of no project, and none of another"
    );
    assert!(own > 0 && everywhere > 0 && summaries > 0, "the histories show something: {seen:?}");
}
