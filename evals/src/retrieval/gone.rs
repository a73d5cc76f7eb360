//! Removed memories must not be found: neither deleted, forgotten nor superseded ones.

use std::collections::HashSet;

use anyhow::{Context, Result};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hyper::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::asking::Places;
use super::client::{AT_ONCE, Client};
use super::set::{DataUser, Set};

/// Number of changed facts, and number of results per question.
const CHANGED: usize = 300;
const DEEP: usize = 50;

#[derive(Debug, Default, Serialize)]
pub struct RemovalCheck {
    /// Number of removed memories, of questions asked afterwards, and of removed memories found.
    pub deleted: usize,
    pub after_delete: usize,
    pub came_back_deleted: usize,
    pub forgotten: usize,
    pub after_forget: usize,
    pub came_back_forgotten: usize,
    /// Number of changed facts, of questions that found an old value, and of questions that found
    /// the new one among the first ten.
    pub changed: usize,
    pub old_values: usize,
    pub new_values: usize,
}

impl RemovalCheck {
    pub fn found_again(&self) -> usize {
        self.came_back_deleted + self.came_back_forgotten + self.old_values
    }
}

/// Deletes the answers to one user's questions and forgets those of another's, and asks again.
pub async fn remove_answers(
    client: &Client,
    set: &Set,
    places: &[Places],
    gone: &mut RemovalCheck,
) -> Result<()> {
    let mut users = set.users.iter().zip(places);
    if let Some((data_user, places)) = users.next() {
        let taken = remove(client, data_user, places, "delete").await?;
        let (asked, back) = ask_again(client, data_user, &taken, true).await?;
        gone.deleted = taken.len();
        (gone.after_delete, gone.came_back_deleted) = (asked, back);
    }
    if let Some((data_user, places)) = users.next() {
        let taken = remove(client, data_user, places, "forget").await?;
        // A forgotten memory was valid until then, so only a question about now must not find it.
        let (asked, back) = ask_again(client, data_user, &taken, false).await?;
        gone.forgotten = taken.len();
        (gone.after_forget, gone.came_back_forgotten) = (asked, back);
    }
    Ok(())
}

async fn remove<'p>(
    client: &Client,
    data_user: &DataUser,
    places: &'p Places,
    verb: &str,
) -> Result<HashSet<&'p str>> {
    let gold = data_user.questions.iter().flat_map(|question| &question.gold);
    let taken: HashSet<&str> = gold.map(|index| places.ids[*index].as_str()).collect();
    for id in &taken {
        let (method, path) = match verb {
            "delete" => (Method::DELETE, format!("/api/memory/{id}")),
            _ => (Method::POST, format!("/api/memory/{id}/{verb}")),
        };
        client.ask(&data_user.name, method, &path, None).await?;
    }
    Ok(taken)
}

/// Returns how many questions were asked and how many of these memories were found. Where memories
/// must be gone from the past as well, every question is also asked at its own moment.
async fn ask_again(
    client: &Client,
    data_user: &DataUser,
    taken: &HashSet<&str>,
    past_as_well: bool,
) -> Result<(usize, usize)> {
    let requests = data_user.questions.iter().flat_map(|question| {
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
    let answers = requests.iter().map(|request| client.search(&data_user.name, request));
    let answers: Vec<Value> = stream::iter(answers).buffered(AT_ONCE).try_collect().await?;
    let back = |answer: &Value| {
        let found = answer["memories"].as_array().into_iter().flatten();
        let ids = found.filter_map(|one| one["memory"]["id"].as_str());
        ids.filter(|id| taken.contains(id)).count()
    };
    Ok((requests.len(), answers.iter().map(back).sum()))
}

/// A unique word: made of syllables, one for each digit.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su"];
    format!("{number:04}").bytes().map(|digit| SYLLABLES[usize::from(digit - b'0')]).collect()
}

/// Saves facts, changes their values, and searches for each by its name.
pub async fn change(client: &Client, gone: &mut RemovalCheck) -> Result<()> {
    let user = "changed";
    let line = |number: usize, value: usize| {
        format!("The {} account is looked after by {}.", word(number), word(value))
    };
    // No fact's old value is another's new value.
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
    fn number_words_are_unique() {
        let words: HashSet<String> = (0..10_000).map(word).collect();
        assert_eq!(words.len(), 10_000);
    }
}
