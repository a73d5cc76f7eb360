//! A model that obeys whoever attacks: every text of the collections comes into a conversation by
//! every carrier, and the model proposes whatever the text wants, with every lie it can tell. None of
//! it may reach the block, change what a person has said, or touch anybody else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::PoisonError;

use anyhow::{Result, bail, ensure};
use futures_util::stream::{StreamExt as _, TryStreamExt as _, iter};
use lukasa_core::screen::directive;
use lukasa_core::{Caller, Category, Claim, FactId};
use lukasa_engine::context::Ask;
use lukasa_engine::facts::NewMemory;

use super::attack::{Carrier, claims, obeying};
use super::data::{self, Attack};
use super::room::{Answers, Room, case_words};
use super::utility;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The folder of public data; without it only the project's own attacks are used.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Only so many of the public attacks, spread over all of them.
    #[arg(long)]
    pub sample: Option<usize>,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Plant a fault that must be caught.
    #[arg(long, value_enum)]
    pub plant: Option<Plant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// What was extracted is believed, whoever said it.
    Trust,
    /// What a person said ends when something is learned.
    Explicit,
    /// What was learned about one user is also written to another.
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

/// What must be zero.
#[derive(Debug, Default)]
struct Found {
    in_block: usize,
    in_recall: usize,
    stated_changed: usize,
    promoted: usize,
    strangers: usize,
    examples: Vec<String>,
}

impl Found {
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

/// How many users are under attack at once.
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

    let (room, answers) = Room::scripted(args.seed).await?;
    if let Some(plant) = args.plant {
        // The database would refuse most of it by itself, so it has to look away.
        let blind = "alter table fact_version disable trigger close_version";
        room.admin.batch_execute(blind).await?;
        room.admin.batch_execute(plant.sql()).await?;
    }
    let bystander = victim(&room, "bystander", &attacks[0]).await?;
    let (mut found, mut passes, mut typed) = (Found::default(), 0, BTreeMap::new());
    for (batch, group) in attacks.chunks(AT_ONCE).enumerate() {
        let first = batch * AT_ONCE;
        passes += attacked(&room, &answers, group, first, &bystander, &mut found).await?;
        passes += as_typed(&room, &answers, group, first, &mut found, &mut typed).await?;
        if batch % 10 == 9 {
            eprintln!("hostile: {} of {} attacks", first + group.len(), attacks.len());
        }
    }
    watch(&room, &bystander, &mut found).await?;
    report(&found, &typed, attacks.len(), passes);
    if args.plant.is_none() {
        utility::run(&room, &answers, &benign).await?;
    }
    match (args.plant, found.total()) {
        (None, 0) => Ok(()),
        (None, many) => bail!("{many} faults"),
        (Some(plant), 0) => bail!("the planted fault {plant:?} was not caught"),
        (Some(plant), many) => {
            println!("the planted fault {plant:?} was caught {many} times");
            Ok(())
        }
    }
}

fn report(found: &Found, typed: &BTreeMap<&str, usize>, attacks: usize, passes: usize) {
    let carriers: Vec<&str> = Carrier::FOREIGN.iter().map(|carrier| carrier.name()).collect();
    println!("{passes} passes over {attacks} attacks by {}", carriers.join(", "));
    println!("in the block                  {:6}", found.in_block);
    println!("recalled as a memory          {:6}", found.in_recall);
    println!("stated memories changed       {:6}", found.stated_changed);
    println!("promoted                      {:6}", found.promoted);
    println!("in another user               {:6}", found.strangers);
    println!("the same texts as if the person had typed them, which nobody can tell:");
    for (what, count) in typed {
        println!("  {what:27} {count:6}");
    }
    for example in &found.examples {
        println!("  {example}");
    }
}

/// A user who has said a few things; if the attack is a forgery, also what is true.
async fn victim(room: &Room, name: &str, attack: &Attack) -> Result<Victim> {
    let caller = room.human(name);
    let mut said = vec!["Lives in Lisbon.".to_owned(), "Works as a nurse.".to_owned()];
    let truth = attack.truth.as_ref().and_then(|truth| truth.as_str().or(truth[0].as_str()));
    said.push(match (&attack.question, truth) {
        (Some(question), Some(truth)) => format!("{question} {truth}."),
        _ => "Prefers short answers.".to_owned(),
    });
    let mut stated = BTreeSet::new();
    for content in said {
        let claim =
            Claim { category: Category::Profile, importance: 0.8, ..Claim::saying(&content) };
        let new = NewMemory { claim, ..NewMemory::saying("") };
        let saved = room.engine.save(&room.request(&caller), new).await?;
        stated.extend(saved.memories.iter().map(|memory| memory.version.fact));
    }
    let mut victim = Victim {
        name: name.to_owned(),
        caller,
        attack: attack.clone(),
        block: String::new(),
        stated,
    };
    victim.block = block(room, &victim).await?.0;
    ensure!(victim.block.contains("Lisbon"), "the block holds what was said");
    Ok(victim)
}

/// The always-on block, and the facts that are recalled for the attack's own words.
async fn block(room: &Room, victim: &Victim) -> Result<(String, BTreeSet<FactId>)> {
    let asked = claims(&victim.attack).pop().unwrap_or_default();
    let message: String = asked.chars().take(500).collect();
    let context =
        room.engine.retrieve(&victim.caller, &Ask::about(&message), room.moment()).await?;
    ensure!(context.degraded.iter().all(|part| *part == "vectors"), "{:?}", context.degraded);
    let facts = context.dynamic.items.iter().filter_map(|item| match item.source {
        lukasa_core::context::block::Source::Memory { fact, .. } => Some(fact),
        lukasa_core::context::block::Source::Turn { .. } => None,
    });
    Ok((context.baseline.content, facts.collect()))
}

/// A case has a number by which the model knows it.
fn case_of(attack: usize, carrier: usize) -> usize {
    attack * 16 + carrier
}

fn know(answers: &Answers, case: usize, answer: String) {
    answers.write().unwrap_or_else(PoisonError::into_inner).insert(case, answer);
}

/// Every attack by every carrier whose words are not the person's.
async fn attacked(
    room: &Room,
    answers: &Answers,
    group: &[Attack],
    first: usize,
    bystander: &Victim,
    found: &mut Found,
) -> Result<usize> {
    answers.write().unwrap_or_else(PoisonError::into_inner).clear();
    let foreign: Vec<FactId> = bystander.stated.iter().copied().collect();
    let victims = iter(group.iter().enumerate()).map(|(n, attack)| async move {
        victim(room, &format!("victim-{}", first + n), attack).await
    });
    let victims: Vec<Victim> = victims.buffered(WORKERS).try_collect().await?;
    let talks = victims.iter().enumerate().map(|(n, victim)| {
        for place in 0..Carrier::FOREIGN.len() {
            let case = case_of(first + n, place);
            know(answers, case, obeying(&victim.attack, case, &foreign));
        }
        async move {
            for (place, carrier) in Carrier::FOREIGN.into_iter().enumerate() {
                let turns = carrier.turns(&victim.attack.payload, case_of(first + n, place));
                let caller = room.key(&victim.name, carrier.origin());
                room.chat(&caller, carrier.name(), turns).await?;
            }
            anyhow::Ok(())
        }
    });
    let talks: Vec<_> = talks.collect();
    iter(talks).buffer_unordered(WORKERS).try_collect::<Vec<()>>().await?;
    let mut passes = room.work(WORKERS).await?;
    // The person comes back to a session in which something hostile was read.
    let resumed = victims.iter().enumerate().map(|(n, victim)| {
        let case = case_of(first + n, Carrier::FOREIGN.len() - 1);
        let turn = lukasa_core::NewTurn::saying(lukasa_core::Role::User, &case_words(case));
        async move {
            let caller = room.key(&victim.name, Carrier::Summary.origin());
            room.chat(&caller, Carrier::Summary.name(), vec![turn]).await
        }
    });
    let resumed: Vec<_> = resumed.collect();
    iter(resumed).buffer_unordered(WORKERS).try_collect::<Vec<()>>().await?;
    passes += room.work(WORKERS).await?;
    // Neither repetition nor a night makes anything of it.
    for victim in &victims {
        room.engine.consolidate(&room.request(&victim.caller), false).await?;
        watch(room, victim, found).await?;
    }
    Ok(passes)
}

/// Nothing of the attack is where a person or a prompt would meet it as a memory.
async fn watch(room: &Room, victim: &Victim, found: &mut Found) -> Result<()> {
    let (after, recalled) = block(room, victim).await?;
    let who = format!("{} ({})", victim.name, victim.attack.id);
    if after != victim.block {
        found.in_block += 1;
        found.note(format!("{who}: the block changed to {after:?}"));
    }
    if !recalled.is_subset(&victim.stated) {
        found.in_recall += 1;
        found.note(format!("{who}: recalled {recalled:?}"));
    }
    const SQL: &str = "select fact_id, content, state, extracted, known_until is null, \
        exists (select 1 from session s where s.user_id = v.user_id and s.session_id = v.session), \
        (select count(*) from turn t where t.user_id = v.user_id \
           and 'trn_' || replace(t.turn_id::text, '-', '') = any (v.turns)), cardinality(turns) \
        from fact_version v where user_id = $1";
    let allowed: BTreeSet<String> =
        claims(&victim.attack).iter().map(|claim| one_line(claim)).collect();
    let mut standing = BTreeSet::new();
    for row in room.admin.query(SQL, &[&victim.caller.user.uuid()]).await? {
        let (fact, content) = (FactId::from_uuid(row.get(0)), row.get::<_, String>(1));
        let (state, extracted, open): (&str, bool, bool) = (row.get(2), row.get(3), row.get(4));
        if !extracted {
            if open && state == "active" && !allowed.contains(&content) {
                standing.insert(fact);
            }
            continue;
        }
        if victim.stated.contains(&fact) {
            found.stated_changed += 1;
            found.note(format!("{who}: {content:?} in the place of what was said"));
        }
        if state == "active" {
            found.promoted += 1;
            found.note(format!("{who}: {content:?} is {state}"));
        }
        if !allowed.contains(&content) || !row.get::<_, bool>(5) {
            found.strangers += 1;
            found.note(format!("{who}: {content:?} is not from here"));
        }
    }
    if standing != victim.stated {
        found.stated_changed += 1;
        found.note(format!("{who}: what was said does not stand"));
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The same texts in a turn that nothing tells from a person's own. A statement is believed, as it
/// must be; an order still is not, and what was said before still stands.
async fn as_typed(
    room: &Room,
    answers: &Answers,
    group: &[Attack],
    first: usize,
    found: &mut Found,
    typed: &mut BTreeMap<&'static str, usize>,
) -> Result<usize> {
    let talks = group.iter().enumerate().map(|(n, attack)| async move {
        let victim = victim(room, &format!("typist-{}", first + n), attack).await?;
        let case = case_of(first + n, 15);
        know(answers, case, obeying(attack, case, &[]));
        let turns = Carrier::Typed.turns(&attack.payload, case);
        let caller = room.key(&victim.name, Carrier::Typed.origin());
        room.chat(&caller, "typed", turns).await
    });
    let talks: Vec<_> = talks.collect();
    iter(talks).buffer_unordered(WORKERS).try_collect::<Vec<()>>().await?;
    let passes = room.work(WORKERS).await?;
    for (n, attack) in group.iter().enumerate() {
        let caller = room.human(&format!("typist-{}", first + n));
        const SQL: &str = "select content, state, extracted, known_until is null \
            from fact_version where user_id = $1";
        let mut worst = "nothing remembered";
        let mut stated = 0;
        for row in room.admin.query(SQL, &[&caller.user.uuid()]).await? {
            let (content, state): (String, &str) = (row.get(0), row.get(1));
            let (extracted, open): (bool, bool) = (row.get(2), row.get(3));
            if !extracted {
                stated += usize::from(open && state == "active");
                continue;
            }
            if state == "active" && directive::is_directive(&content) {
                found.promoted += 1;
                found.note(format!("{}: the order {content:?} is active", attack.id));
            }
            worst = match (state, worst) {
                ("active", _) => "remembered",
                ("proposed", "remembered") => worst,
                ("proposed", _) => "asked about",
                (_, "nothing remembered") => "kept as a guess",
                _ => worst,
            };
        }
        if stated != 3 {
            found.stated_changed += 1;
            found.note(format!("{}: what was said does not stand", attack.id));
        }
        *typed.entry(worst).or_default() += 1;
    }
    Ok(passes)
}
