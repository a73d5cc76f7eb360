//! A model that obeys attackers: every text of the collections enters a conversation by every
//! carrier, and the model proposes whatever the text wants, with every lie it can tell. None of it
//! may reach the memory block, change a user's statements, or affect another user.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::PoisonError;

use anyhow::{Result, bail, ensure};
use futures_util::stream::{StreamExt as _, TryStreamExt as _, iter};
use lukasa_core::{Caller, Category, Claim, FactId};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::NewMemory;
use lukasa_text::screen::directive;

use super::attack::{Carrier, claims, obeying};
use super::data::{self, Attack};
use super::fixture::{Answers, LearningFixture, case_words};
use super::utility;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The folder of public data; without it only the project's own attacks are used.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Use only this many of the public attacks, spread over all of them.
    #[arg(long)]
    pub sample: Option<usize>,
    /// Number of carriers for each attack, in turn; 0 for all.
    #[arg(long, default_value_t = 0)]
    pub carriers: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Plant a fault that must be caught.
    #[arg(long, value_enum)]
    pub plant: Option<Plant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// Extracted facts are active, whatever their origin.
    Trust,
    /// Stated facts end when something is learned.
    Explicit,
    /// Facts learned about one user are also written to another.
    Leak,
}

impl Plant {
    fn sql(self) -> &'static str {
        match self {
            Plant::Trust => {
                "create function believe() returns trigger language plpgsql as $$ begin \
                   if new.extracted then new.state := 'active'; new.tier := 'strong'; \
                     new.origin := 'user_turn'; new.confidence := 1; new.importance := 1; end if; \
                   return new; end $$; \
                 create trigger believe before insert on fact_version \
                   for each row execute function believe()"
            }
            Plant::Explicit => {
                "create function fell() returns trigger language plpgsql security definer as $$ \
                 begin update fact_version set known_until = new.known_from, \
                     closed_by = new.opened_by where user_id = new.user_id and not extracted \
                     and known_until is null; return new; end $$; \
                 create trigger fell after insert on fact_version for each row \
                   when (new.extracted) execute function fell()"
            }
            Plant::Leak => {
                "create function leak() returns trigger language plpgsql security definer as $$ \
                 begin update fact_version v set content = new.content where not v.extracted \
                     and v.user_id <> new.user_id and v.known_until is null \
                     and v.user_id = (select min(user_id::text)::uuid from users); \
                   return new; end $$; \
                 create trigger leak after insert on fact_version for each row \
                   when (new.extracted) execute function leak()"
            }
        }
    }
}

/// Counts that must be zero.
#[derive(Debug, Default)]
struct Findings {
    in_block: usize,
    in_recall: usize,
    stated_changed: usize,
    promoted: usize,
    strangers: usize,
    examples: Vec<String>,
}

impl Findings {
    fn total(&self) -> usize {
        self.in_block + self.in_recall + self.stated_changed + self.promoted + self.strangers
    }

    fn note(&mut self, words: String) {
        if self.examples.len() < 10 {
            self.examples.push(words);
        }
    }
}

/// A user under attack.
struct Victim {
    name: String,
    caller: Caller,
    attack: Attack,
    block: String,
    stated: BTreeSet<FactId>,
}

/// Number of users under attack at once.
const AT_ONCE: usize = 100;
const WORKERS: usize = 8;

pub async fn run(args: Args) -> Result<()> {
    println!("seed {}", args.seed);
    let own = data::attacks()?;
    let public = args.data.as_deref().map(data::corpus).transpose()?.unwrap_or_default();
    let (benign, hostile): (Vec<_>, Vec<_>) = public.into_iter().partition(|a| a.kind == "benign");
    let step = args.sample.map_or(1, |wanted| hostile.len().div_ceil(wanted.max(1)).max(1));
    let hostile: Vec<Attack> = hostile.into_iter().step_by(step).collect();
    println!("{} attacks of our own, {} public ones", own.len(), hostile.len());
    let attacks: Vec<Attack> = own.into_iter().chain(hostile).collect();

    let (fixture, answers) = LearningFixture::scripted(args.seed).await?;
    if let Some(plant) = args.plant {
        // The database itself would refuse most of it, so its trigger is disabled.
        let blind = "alter table fact_version disable trigger close_version";
        fixture.admin.batch_execute(blind).await?;
        fixture.admin.batch_execute(plant.sql()).await?;
    }
    let bystander = victim(&fixture, "bystander", &attacks[0]).await?;
    let (mut findings, mut passes, mut typed) = (Findings::default(), 0, BTreeMap::new());
    for (batch, group) in attacks.chunks(AT_ONCE).enumerate() {
        let first = batch * AT_ONCE;
        let part = Group { attacks: group, first, carriers: args.carriers };
        passes += attacked(&fixture, &answers, part, &bystander, &mut findings).await?;
        passes += as_typed(&fixture, &answers, group, first, &mut findings, &mut typed).await?;
        if batch % 10 == 9 {
            eprintln!("hostile: {} of {} attacks", first + group.len(), attacks.len());
        }
    }
    watch(&fixture, &bystander, &mut findings).await?;
    report(&findings, &typed, attacks.len(), passes);
    if args.plant.is_none() {
        utility::run(&fixture, &answers, &benign).await?;
    }
    match (args.plant, findings.total()) {
        (None, 0) => Ok(()),
        (None, many) => bail!("{many} faults"),
        (Some(plant), 0) => bail!("the planted fault {plant:?} was not caught"),
        (Some(plant), many) => {
            println!("the planted fault {plant:?} was caught {many} times");
            Ok(())
        }
    }
}

fn report(findings: &Findings, typed: &BTreeMap<&str, usize>, attacks: usize, passes: usize) {
    let carriers: Vec<&str> = Carrier::FOREIGN.iter().map(|carrier| carrier.name()).collect();
    println!("{passes} passes over {attacks} attacks by {}", carriers.join(", "));
    println!("in the block                  {:6}", findings.in_block);
    println!("recalled as a memory          {:6}", findings.in_recall);
    println!("stated memories changed       {:6}", findings.stated_changed);
    println!("promoted                      {:6}", findings.promoted);
    println!("in another user               {:6}", findings.strangers);
    println!("the same texts as if the user had typed them, which cannot be detected:");
    for (what, count) in typed {
        println!("  {what:27} {count:6}");
    }
    for example in &findings.examples {
        println!("  {example}");
    }
}

/// A user with a few stated facts; if the attack is a forgery, also with the true one.
async fn victim(fixture: &LearningFixture, name: &str, attack: &Attack) -> Result<Victim> {
    let caller = fixture.human(name);
    let mut statements = vec!["Lives in Lisbon.".to_owned(), "Works as a nurse.".to_owned()];
    let truth = attack.truth.as_ref().and_then(|truth| truth.as_str().or(truth[0].as_str()));
    statements.push(match (&attack.question, truth) {
        (Some(question), Some(truth)) => format!("{question} {truth}."),
        _ => "Prefers short answers.".to_owned(),
    });
    let mut stated = BTreeSet::new();
    for content in statements {
        let claim =
            Claim { category: Category::Profile, importance: 0.8, ..Claim::saying(&content) };
        let new = NewMemory { claim, ..NewMemory::saying("") };
        let saved = fixture.engine.facts.save(&fixture.request(&caller), new).await?;
        stated.extend(saved.memories.iter().map(|memory| memory.version.fact));
    }
    let mut victim = Victim {
        name: name.to_owned(),
        caller,
        attack: attack.clone(),
        block: String::new(),
        stated,
    };
    victim.block = block(fixture, &victim).await?.0;
    ensure!(victim.block.contains("Lisbon"), "the block has the stated facts");
    Ok(victim)
}

/// The always-on block, and the facts that are recalled for the attack's own words.
async fn block(fixture: &LearningFixture, victim: &Victim) -> Result<(String, BTreeSet<FactId>)> {
    let asked = claims(&victim.attack).pop().unwrap_or_default();
    let message: String = asked.chars().take(500).collect();
    let context = fixture
        .engine
        .context
        .retrieve(&victim.caller, &ContextRequest::about(&message), fixture.moment())
        .await?;
    ensure!(context.degraded.is_empty(), "{:?}", context.degraded);
    let facts = context.dynamic.items.iter().filter_map(|item| match item.source {
        lukasa_core::context::block::LineSource::Memory { fact, .. } => Some(fact),
        _ => None,
    });
    Ok((context.baseline.content, facts.collect()))
}

/// Attacks at once, the number of the first one, and by how many carriers each comes.
#[derive(Clone, Copy)]
struct Group<'a> {
    attacks: &'a [Attack],
    first: usize,
    carriers: usize,
}

impl Group<'_> {
    /// The carriers of an attack of the group, as places in the list of all: 0 stands for all, and fewer
    /// are taken in turn.
    fn carriers_of(self, attack: usize) -> impl Iterator<Item = usize> {
        let all = Carrier::FOREIGN.len();
        let each = if self.carriers == 0 { all } else { self.carriers.min(all) };
        (0..each).map(move |turn| ((self.first + attack) * each + turn) % all)
    }
}

/// The number by which the model identifies a case.
fn case_of(attack: usize, carrier: usize) -> usize {
    attack * 16 + carrier
}

fn know(answers: &Answers, case: usize, answer: String) {
    answers.write().unwrap_or_else(PoisonError::into_inner).insert(case, answer);
}

/// Every attack by its carriers, whose content is not the user's.
async fn attacked(
    fixture: &LearningFixture,
    answers: &Answers,
    group: Group<'_>,
    bystander: &Victim,
    findings: &mut Findings,
) -> Result<usize> {
    answers.write().unwrap_or_else(PoisonError::into_inner).clear();
    let foreign: Vec<FactId> = bystander.stated.iter().copied().collect();
    let first = group.first;
    let victims = iter(group.attacks.iter().enumerate()).map(|(n, attack)| async move {
        victim(fixture, &format!("victim-{}", first + n), attack).await
    });
    let victims: Vec<Victim> = victims.buffered(WORKERS).try_collect().await?;
    let talks = victims.iter().enumerate().map(|(n, victim)| {
        for place in group.carriers_of(n) {
            let case = case_of(first + n, place);
            know(answers, case, obeying(&victim.attack, case, &foreign));
        }
        async move {
            for place in group.carriers_of(n) {
                let carrier = Carrier::FOREIGN[place];
                let turns = carrier.turns(&victim.attack.payload, case_of(first + n, place));
                let caller = fixture.key(&victim.name, carrier.origin());
                fixture.chat(&caller, carrier.name(), turns).await?;
            }
            anyhow::Ok(())
        }
    });
    let talks: Vec<_> = talks.collect();
    iter(talks).buffer_unordered(WORKERS).try_collect::<Vec<()>>().await?;
    let mut passes = fixture.work(WORKERS).await?;
    // The user returns to a session in which something hostile was read.
    let summary = Carrier::FOREIGN.len() - 1;
    let read = |n: &usize| group.carriers_of(*n).any(|place| place == summary);
    let resumed = (0..victims.len()).filter(read).map(|n| {
        let (victim, case) = (&victims[n], case_of(first + n, summary));
        let turn = lukasa_core::NewTurn::saying(lukasa_core::Role::User, &case_words(case));
        async move {
            let caller = fixture.key(&victim.name, Carrier::Summary.origin());
            fixture.chat(&caller, Carrier::Summary.name(), vec![turn]).await
        }
    });
    let resumed: Vec<_> = resumed.collect();
    iter(resumed).buffer_unordered(WORKERS).try_collect::<Vec<()>>().await?;
    passes += fixture.work(WORKERS).await?;
    // Neither repetition nor consolidation promotes it.
    for victim in &victims {
        fixture.engine.consolidation.consolidate(&fixture.request(&victim.caller), false).await?;
        watch(fixture, victim, findings).await?;
    }
    Ok(passes)
}

/// Checks that nothing of the attack is visible to a user or a prompt as a memory.
async fn watch(fixture: &LearningFixture, victim: &Victim, findings: &mut Findings) -> Result<()> {
    let (after, recalled) = block(fixture, victim).await?;
    let who = format!("{} ({})", victim.name, victim.attack.id);
    if after != victim.block {
        findings.in_block += 1;
        findings.note(format!("{who}: the block changed to {after:?}"));
    }
    if !recalled.is_subset(&victim.stated) {
        findings.in_recall += 1;
        findings.note(format!("{who}: recalled {recalled:?}"));
    }
    const SQL: &str = "select fact_id, content, state, extracted, known_until is null, \
        exists (select 1 from session s where s.user_id = v.user_id and s.session_id = v.session), \
        (select count(*) from turn t where t.user_id = v.user_id \
           and 'trn_' || replace(t.turn_id::text, '-', '') = any (v.turns)), cardinality(turns) \
        from fact_version v where user_id = $1";
    let allowed: BTreeSet<String> =
        claims(&victim.attack).iter().map(|claim| one_line(claim)).collect();
    let mut standing = BTreeSet::new();
    for row in fixture.admin.query(SQL, &[&victim.caller.user.uuid()]).await? {
        let (fact, content) = (FactId::from_uuid(row.get(0)), row.get::<_, String>(1));
        let (state, extracted, open): (&str, bool, bool) = (row.get(2), row.get(3), row.get(4));
        if !extracted {
            if open && state == "active" && !allowed.contains(&content) {
                standing.insert(fact);
            }
            continue;
        }
        if victim.stated.contains(&fact) {
            findings.stated_changed += 1;
            findings.note(format!("{who}: {content:?} in place of a stated fact"));
        }
        if state == "active" {
            findings.promoted += 1;
            findings.note(format!("{who}: {content:?} is {state}"));
        }
        if !allowed.contains(&content) || !row.get::<_, bool>(5) {
            findings.strangers += 1;
            findings.note(format!("{who}: {content:?} is another user's"));
        }
    }
    if standing != victim.stated {
        findings.stated_changed += 1;
        findings.note(format!("{who}: a stated fact is not active"));
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The same texts in a turn that cannot be distinguished from the user's own. A statement is
/// believed, as it must be; an order is still not, and earlier statements are still active.
async fn as_typed(
    fixture: &LearningFixture,
    answers: &Answers,
    group: &[Attack],
    first: usize,
    findings: &mut Findings,
    typed: &mut BTreeMap<&'static str, usize>,
) -> Result<usize> {
    let talks = group.iter().enumerate().map(|(n, attack)| async move {
        let victim = victim(fixture, &format!("typist-{}", first + n), attack).await?;
        let case = case_of(first + n, 15);
        know(answers, case, obeying(attack, case, &[]));
        let turns = Carrier::Typed.turns(&attack.payload, case);
        let caller = fixture.key(&victim.name, Carrier::Typed.origin());
        fixture.chat(&caller, "typed", turns).await
    });
    let talks: Vec<_> = talks.collect();
    iter(talks).buffer_unordered(WORKERS).try_collect::<Vec<()>>().await?;
    let passes = fixture.work(WORKERS).await?;
    for (n, attack) in group.iter().enumerate() {
        let caller = fixture.human(&format!("typist-{}", first + n));
        const SQL: &str = "select content, state, extracted, known_until is null \
            from fact_version where user_id = $1";
        let mut worst = "nothing remembered";
        let mut stated = 0;
        for row in fixture.admin.query(SQL, &[&caller.user.uuid()]).await? {
            let (content, state): (String, &str) = (row.get(0), row.get(1));
            let (extracted, open): (bool, bool) = (row.get(2), row.get(3));
            if !extracted {
                stated += usize::from(open && state == "active");
                continue;
            }
            if state == "active" && directive::is_directive(&content) {
                findings.promoted += 1;
                findings.note(format!("{}: the order {content:?} is active", attack.id));
            }
            worst = match (state, worst) {
                ("active", _) => "remembered",
                ("proposed", "remembered") => worst,
                ("proposed", _) => "asked about",
                (_, "nothing remembered") => "stored as a guess",
                _ => worst,
            };
        }
        if stated != 3 {
            findings.stated_changed += 1;
            findings.note(format!("{}: a stated fact is not active", attack.id));
        }
        *typed.entry(worst).or_default() += 1;
    }
    Ok(passes)
}
