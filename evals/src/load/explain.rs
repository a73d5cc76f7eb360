//! Plans of the statements the server sends: timed, in the server's role and with the server's plan
//! mode, for one user, and rolled back.

use std::collections::HashMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use tokio_postgres::{Client, SimpleQueryMessage};

use super::bench::RecordedRequest;
use crate::processes::connect;

/// The plans of all statements of all operations.
pub async fn plans(url: &str, recorded_requests: &[RecordedRequest]) -> Result<String> {
    let mut text = String::new();
    for recorded_request in recorded_requests {
        for mode in ["force_custom_plan", "force_generic_plan"] {
            let client = connect(url).await?;
            client
                .batch_execute(&format!("set role lukasa_serve; set plan_cache_mode = {mode}"))
                .await?;
            // The first run also fills the session's caches, which are warm in a pooled connection.
            for warm in [false, true] {
                let mut plan_text = format!("# {}, {mode}\n\n", recorded_request.operation.name());
                of_one(&client, recorded_request, &mut plan_text, !warm)
                    .await
                    .with_context(|| recorded_request.operation.name().to_owned())?;
                text.push_str(if warm { &plan_text } else { "" });
            }
        }
    }
    Ok(text)
}

async fn of_one(
    client: &Client,
    recorded_request: &RecordedRequest,
    text: &mut String,
    first: bool,
) -> Result<()> {
    let template = &recorded_request.template;
    for (number, sql) in template.prepared.iter().enumerate().filter(|_| first) {
        client.batch_execute(&format!("prepare q{number} as {sql}")).await?;
    }
    // The digits that pgbench draws at random.
    let mut values: HashMap<String, String> =
        [("b", "123"), ("c", "123456789012"), ("e", "12345678"), ("f", "1234")]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
    for (statements, _) in &template.flights {
        for statement in statements {
            let statement = template.about(statement, &recorded_request.target);
            let statement = substitute(&statement, &values);
            if matches!(statement.as_str(), "commit" | "rollback") {
                client.batch_execute("rollback").await?;
                continue;
            }
            let Some(number) = number_of(&statement) else {
                client.batch_execute(&statement).await?;
                continue;
            };
            let sql = &template.prepared[number];
            let _ = writeln!(text, "{sql}");
            // A write is explained by executing it, so it is not executed again for its rows.
            if sql.starts_with("select") {
                remember(client, &statement, &mut values).await?;
            }
            let explain = format!("explain (analyze, buffers) {statement}");
            for message in client.simple_query(&explain).await.with_context(|| explain.clone())? {
                if let SimpleQueryMessage::Row(row) = message {
                    let _ = writeln!(text, "    {}", row.get(0).unwrap_or_default());
                }
            }
            let _ = writeln!(text);
        }
    }
    Ok(())
}

/// The number of the prepared statement that is executed.
fn number_of(statement: &str) -> Option<usize> {
    statement.strip_prefix("execute q")?.split('(').next()?.parse().ok()
}

/// Stores the last row of an answer, as `\aset` does.
async fn remember(
    client: &Client,
    statement: &str,
    values: &mut HashMap<String, String>,
) -> Result<()> {
    for message in client.simple_query(statement).await.context(statement.to_owned())? {
        if let SimpleQueryMessage::Row(row) = message {
            for (at, column) in row.columns().iter().enumerate() {
                values.insert(column.name().to_owned(), row.get(at).unwrap_or_default().to_owned());
            }
        }
    }
    Ok(())
}

/// Replaces pgbench's variables by values.
fn substitute(text: &str, values: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(':') {
        out.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        let is_word_char = |c: char| c.is_ascii_alphabetic() || c == '_';
        let end =
            rest.find(|c: char| !(is_word_char(c) || c.is_ascii_digit())).unwrap_or(rest.len());
        match values.get(&rest[..end]).filter(|_| rest.starts_with(is_word_char)) {
            Some(value) if !text[..text.len() - rest.len() - 1].ends_with(':') => {
                out.pop();
                out.push_str(value);
                rest = &rest[end..];
            }
            _ => {}
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_and_casts_are_not() {
        let values = HashMap::from([("b".into(), "1".into()), ("text".into(), "!".into())]);
        assert_eq!(substitute("'8:b-:c' $1::text", &values), "'81-:c' $1::text");
    }
}
