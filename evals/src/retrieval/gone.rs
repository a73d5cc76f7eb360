//! What was taken back must not come back: deleted, forgotten or superseded, it is never found.

use std::collections::HashSet;

use anyhow::{Context, Result};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hyper::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::asking::Places;
use super::client::{AT_ONCE, Client};
use super::set::{Person, Set};

/// How many facts are changed, and how many of them each question may bring back.
const CHANGED: usize = 300;
const DEEP: usize = 50;

#[derive(Debug, Default, Serialize)]
pub struct Gone {
    /// Memories that were taken away, questions asked afterwards, and memories that came back.
    pub deleted: usize,
    pub after_delete: usize,
    pub came_back_deleted: usize,
    pub forgotten: usize,
    pub after_forget: usize,
    pub came_back_forgotten: usize,
    /// Facts that were changed, questions for them that brought an old value back, and questions
    /// that found the new one among the first ten.
    pub changed: usize,
    pub old_values: usize,
    pub new_values: usize,
}

impl Gone {
    pub fn came_back(&self) -> usize {
        self.came_back_deleted + self.came_back_forgotten + self.old_values
    }
}

/// Deletes what answers one person's questions and forgets what answers another's, and asks again.
pub async fn take_away(
    client: &Client,
    set: &Set,
    places: &[Places],
    gone: &mut Gone,
) -> Result<()> {
    let mut people = set.people.iter().zip(places);
    if let Some((person, places)) = people.next() {
        let taken = remove(client, person, places, "delete").await?;
        let (asked, back) = ask_again(client, person, &taken, true).await?;
        gone.deleted = taken.len();
        (gone.after_delete, gone.came_back_deleted) = (asked, back);
    }
    if let Some((person, places)) = people.next() {
        let taken = remove(client, person, places, "forget").await?;
        // What was forgotten held until then, so only a question about now must not find it.
        let (asked, back) = ask_again(client, person, &taken, false).await?;
        gone.forgotten = taken.len();
        (gone.after_forget, gone.came_back_forgotten) = (asked, back);
    }
    Ok(())
}

async fn remove<'p>(
    client: &Client,
    person: &Person,
    places: &'p Places,
    verb: &str,
) -> Result<HashSet<&'p str>> {
    let gold = person.questions.iter().flat_map(|question| &question.gold);
    let taken: HashSet<&str> = gold.map(|index| places.ids[*index].as_str()).collect();
    for id in &taken {
        let (method, path) = match verb {
            "delete" => (Method::DELETE, format!("/api/memory/{id}")),
            _ => (Method::POST, format!("/api/memory/{id}/{verb}")),
        };
        client.ask(&person.name, method, &path, None).await?;
    }
    Ok(taken)
}

/// How many questions were asked and how many of these memories came back. Where memories must be
/// gone from the past as well, every question is asked of its own moment, too.
async fn ask_again(
    client: &Client,
    person: &Person,
    taken: &HashSet<&str>,
    past_as_well: bool,
) -> Result<(usize, usize)> {
    let requests = person.questions.iter().flat_map(|question| {
        let query: String = question.text.chars().take(20_000).collect();
        let now = json!({ "query": query, "limit": DEEP, "turns": 0 });
        let then = question.before.filter(|_| past_as_well).map(|(_, at)| {
            let mut then = now.clone();
            then["as_of"] = json!(at.to_string());
            then
        });
        [Some(now), then].into_iter().flatten()
    });
    let requests: Vec<Value> = requests.collect();
    let answers = requests.iter().map(|request| client.search(&person.name, request));
    let answers: Vec<Value> = stream::iter(answers).buffered(AT_ONCE).try_collect().await?;
    let back = |answer: &Value| {
        let found = answer["memories"].as_array().into_iter().flatten();
        let ids = found.filter_map(|one| one["memory"]["id"].as_str());
        ids.filter(|id| taken.contains(id)).count()
    };
    Ok((requests.len(), answers.iter().map(back).sum()))
}

/// A word that is in no other fact: made of syllables, one for each digit.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su"];
    format!("{number:04}").bytes().map(|digit| SYLLABLES[usize::from(digit - b'0')]).collect()
}

/// Saves facts, changes their values, and asks for each by its name.
pub async fn change(client: &Client, gone: &mut Gone) -> Result<()> {
    let user = "changed";
    let line = |number: usize, value: usize| {
        format!("The {} account is looked after by {}.", word(number), word(value))
    };
    // The old value of one fact is the new value of none.
    let (old, new) = (|number: usize| 2000 + number, |number: usize| 5000 + number);
    for number in 0..CHANGED {
        let id = client.save(user, json!({ "content": line(number, old(number)) })).await?;
        let body = Some(json!({ "content": line(number, new(number)) }));
        client.ask(user, Method::PATCH, &format!("/api/memory/{id}"), body).await?;
    }
    for number in 0..CHANGED {
        // Half of the questions even name the old value.
        let query = match number % 2 {
            0 => format!("Who looks after the {} account?", word(number)),
            _ => format!("Is the {} account with {}?", word(number), word(old(number))),
        };
        let request = json!({ "query": query, "limit": DEEP });
        let found = client.search(user, &request).await?;
        let found = found["memories"].as_array().context("no memories")?;
        let says = |one: &Value, value: &str| {
            one["memory"]["content"].as_str().is_some_and(|content| content.contains(value))
        };
        let stale = |one: &Value| (0..CHANGED).any(|other| says(one, &word(old(other))));
        gone.old_values += usize::from(found.iter().any(stale));
        let fresh = line(number, new(number));
        gone.new_values += usize::from(found.iter().take(10).any(|one| says(one, &fresh)));
    }
    gone.changed = CHANGED;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_word_of_its_own() {
        let words: HashSet<String> = (0..10_000).map(word).collect();
        assert_eq!(words.len(), 10_000);
    }
}
