//! RealMem's sessions with their annotated memories, compared by meaning.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use lukasa_core::model::Embedder;
use lukasa_core::{NewTurn, Origin, Role};

use super::super::data::Line;
use super::super::fixture::LearningFixture;
use super::dialogues::{load_memories, unfounded};
use super::matches;
use crate::retrieval::realmem;

pub(super) async fn run(
    fixture: &LearningFixture,
    embedder: &Arc<dyn Embedder>,
    data: &Path,
    sessions: usize,
    is_shown: bool,
) -> Result<()> {
    let set = realmem::load(data, false)?;
    // One session of each user in turn, so that a few of them are not all one user's.
    let most = set.users.iter().map(|data_user| data_user.sessions).max().unwrap_or(0);
    let order =
        (0..most).flat_map(|session| set.users.iter().map(move |data_user| (data_user, session)));
    let began = Instant::now();
    let (mut done, mut failed, mut without_quote) = (0, 0, 0);
    let (mut learned, mut right, mut wanted, mut met) = (0, 0, 0, 0);
    for (data_user, session) in order.filter(|(p, s)| *s < p.sessions).take(sessions) {
        let turns = data_user.turns.iter().filter(|turn| turn.session == session);
        let turns: Vec<Line> = turns
            .map(|turn| Line {
                role: if turn.by_user { "user" } else { "assistant" }.into(),
                content: turn.text.clone(),
            })
            .collect();
        let gold = data_user.memories.iter().filter(|memory| memory.session == session);
        let gold: Vec<&str> = gold.map(|memory| memory.text.as_str()).collect();
        let name = format!("{}-{session}", data_user.name);
        let caller = fixture.key(&name, Origin::Assistant);
        let new = turns.iter().map(|line| {
            NewTurn::saying(Role::parse(&line.role).unwrap_or(Role::User), &line.content)
        });
        fixture.chat(&caller, "chat", new.collect()).await?;
        if fixture.work(1).await.is_err() {
            failed += 1;
            let sql = "delete from job where user_id = $1";
            fixture.admin.execute(sql, &[&caller.user.uuid()]).await?;
        }
        let memories = load_memories(fixture, &caller).await?;
        without_quote += unfounded(&memories, turns.iter());
        let texts: Vec<&str> = memories.iter().map(|memory| memory.content.as_str()).collect();
        let count = |near: Vec<bool>| near.iter().filter(|near| **near).count();
        right += count(matches(embedder, &texts, &gold).await?);
        met += count(matches(embedder, &gold, &texts).await?);
        (done, learned, wanted) = (done + 1, learned + texts.len(), wanted + gold.len());
        if is_shown {
            println!("  {name}");
            for memory in &memories {
                println!("    {:9} {} {:?}", memory.state, memory.content, memory.quotes);
            }
        }
        eprintln!("extraction: {done} sessions, {:.0} s", began.elapsed().as_secs_f64());
    }
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    println!("realmem: {done} sessions, {failed} without an answer");
    println!("  precision   {:5.1} % ({right} of {learned})", share(right, learned));
    println!("  recall      {:5.1} % ({met} of {wanted})", share(met, wanted));
    ensure!(failed * 10 <= done, "the model did not answer {failed} of {done} times");
    ensure!(without_quote == 0, "{without_quote} active memories have no quotation of the user");
    Ok(())
}
