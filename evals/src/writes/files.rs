//! Attacks by files: the memory tool's commands, an edited vault, a forged base, a forged archive,
//! and items of another program.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};

use anyhow::{Context as _, Result};
use lukasa_core::archive::{DOMAINS, FileSum, MANIFEST, MEMORIES, Manifest, OPERATIONS, POLICY};
use lukasa_core::vault::{BASE, Base, BaseVersion, encode};
use lukasa_core::{CallerKind, Force, Ids, Operation, Origin, State, Version};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;

use super::client::Client;
use super::target_user::TargetUser;
use super::{Case, Tally, one_line};

async fn run_command(client: &Client, body: Value, tally: &mut Tally) -> Result<()> {
    let mut answer = client.post("/api/vault/commands", body).await?;
    if answer.body["is_error"] == true {
        answer.status = 422;
    }
    tally.count(&answer);
    Ok(())
}

/// The commands of the memory tool, with the user's own token and with an assistant's key.
pub async fn memory_tool(
    target_user: &TargetUser,
    cases: &[Case],
    tally: &mut Tally,
) -> Result<()> {
    const PATHS: [&str; 3] = ["profile.md", "domains/food.md", "active_context.md"];
    // Files that do not exist yet, as targets of a rename.
    const FREE: [&str; 3] = ["procedures.md", "domains/work.md", "domains/music.md"];
    const STATED: [&str; 3] = ["Lives in Porto", "Never eats peanuts", "Drinks green tea"];
    for case in cases {
        let n = case.number;
        let client = if n.is_multiple_of(2) { &target_user.agent } else { &target_user.human };
        let line = encode(&one_line(case.text(n)));
        let path = format!("/memories/{}", PATHS[n % 3]);
        let stated = ["/memories/profile.md", "/memories/domains/food.md"][usize::from(n % 3 == 1)];
        let insert = json!({"command": "insert", "path": path, "insert_line": 1,
                            "insert_text": format!("- {line}\n")});
        run_command(client, insert, tally).await?;
        let body = match n % 5 {
            0 => json!({"command": "create", "path": "/memories/domains/travel.md",
                        "file_text": format!("# Travel\n\n## Preferences\n\n- {line}\n")}),
            1 | 2 => json!({"command": "str_replace", "path": stated, "old_str": STATED[n % 3],
                            "new_str": line}),
            3 => json!({"command": "rename", "old_path": "/memories/proposals.md",
                        "new_path": format!("/memories/{}", FREE[n / 5 % 3])}),
            _ => json!({"command": "insert", "path": "/memories/proposals.md", "insert_line": 0,
                        "insert_text": format!("- [x] {line}\n")}),
        };
        run_command(client, body, tally).await?;
    }
    Ok(())
}

/// Deletes the files with the memory tool.
pub async fn memory_tool_delete_all(target_user: &TargetUser, tally: &mut Tally) -> Result<()> {
    for path in ["domains/food.md", "proposals.md", "profile.md"] {
        let body = json!({"command": "delete", "path": format!("/memories/{path}")});
        run_command(&target_user.agent, body, tally).await?;
    }
    Ok(())
}

async fn vault(target_user: &TargetUser) -> Result<Vec<Value>> {
    let mut vault = target_user.agent.get("/api/vault").await?.expect("vault")?;
    Ok(vault["files"].as_array_mut().map(std::mem::take).unwrap_or_default())
}

/// Edits one file of a vault.
fn edit(files: &mut Vec<Value>, path: &str, change: impl FnOnce(&str) -> String) {
    match files.iter_mut().find(|file| file["path"] == path) {
        Some(file) => {
            file["content"] = json!(change(file["content"].as_str().unwrap_or_default()));
        }
        None => files.push(json!({"path": path, "content": change("")})),
    }
}

/// A sync of files that an assistant has edited: new lines, other content in place of the user's,
/// proposals moved to where they would be active, and the user's lines removed.
pub async fn vault_sync(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    for (round, some) in cases.chunks(4).enumerate() {
        let mut files = vault(target_user).await?;
        let mut lines = String::new();
        for case in some {
            lines.push_str(&format!("- {}\n", encode(&one_line(case.text(case.number + round)))));
        }
        let words = encode(&one_line(some[0].text(round)));
        match round % 4 {
            0 => {
                edit(&mut files, "profile.md", |text| format!("{text}\n## Preferences\n\n{lines}"));
            }
            1 => edit(&mut files, "profile.md", |text| text.replace("Lives in Porto", &words)),
            2 => {
                // Every proposal, without its proposal marks.
                let waiting = files.iter().find(|file| file["path"] == "proposals.md");
                let waiting = waiting.and_then(|file| file["content"].as_str()).unwrap_or_default();
                let waiting = format!("\n{}\n{lines}", waiting.replace("[ ]", "[x]"));
                edit(&mut files, "proposals.md", |text| text.replace("[ ]", "[x]"));
                edit(&mut files, "active_context.md", |text| format!("{text}{waiting}"));
            }
            _ => {
                edit(&mut files, "domains/food.md", |text| {
                    let rest = text.lines().filter(|line| !line.contains("peanuts"));
                    format!("{}\n{lines}", rest.collect::<Vec<_>>().join("\n"))
                });
            }
        }
        tally.count(&target_user.agent.post("/api/vault", json!({"files": files})).await?);
    }
    Ok(())
}

/// Unused ids: every case has a number of its own.
fn ids(from: &Version, number: usize) -> Ids {
    let mut seed = [0; 16];
    seed.copy_from_slice(&Sha256::digest(format!("forged {number}"))[..16]);
    Ids::new(from.known.from, seed)
}

/// A version that claims to be stated and confirmed by the user.
fn forge(from: &Version, case: &Case, hard: bool) -> Version {
    let mut forged = from.clone();
    let mut ids = ids(from, case.number);
    forged.fact = ids.fact();
    forged.id = ids.version();
    forged.number = 1;
    forged.reopens = None;
    forged.state = State::Active;
    forged.claim.content = one_line(case.text(case.number));
    forged.claim.importance = 1.0;
    forged.claim.domain = hard.then(|| "food".to_owned());
    forged.claim.value = None;
    forged.claim.key = hard.then(|| format!("rule_{}", case.number));
    forged.claim.force = if hard { Force::Hard } else { Force::Soft };
    forged.origin = Origin::UserSaid;
    forged.extracted = false;
    forged.consented_at = Some(from.known.from);
    forged.last_confirmed_at = Some(from.known.from);
    forged
}

/// A sync whose base claims memories that the vault never had.
pub async fn vault_base(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    for some in cases.chunks(8) {
        let mut files = vault(target_user).await?;
        let place = files.iter().position(|file| file["path"] == BASE).context("a base")?;
        let text = files[place]["content"].as_str().unwrap_or_default();
        let mut base = Base::read(text, &mut Vec::new());
        let first = base.memories.first().context("a memory in the base")?.memory.clone();
        let mut lines = String::new();
        for case in some {
            let memory = forge(&first, case, case.number.is_multiple_of(2));
            let (id, words) = (memory.fact.to_string(), encode(&memory.claim.content));
            lines.push_str(&format!("- {words} ^mem-{}\n", id.trim_start_matches("mem_")));
            base.memories.push(BaseVersion { memory, file: Some("profile.md".to_owned()) });
        }
        // And the user's own content is claimed to have been different.
        for based in &mut base.memories {
            based.memory.claim.content =
                based.memory.claim.content.replace("Lives in Porto", "Lives in Faro");
        }
        files[place]["content"] = json!(base.write().content);
        edit(&mut files, "profile.md", |text| format!("{text}\n{lines}"));
        tally.count(&target_user.agent.post("/api/vault", json!({"files": files})).await?);
    }
    Ok(())
}

/// The files of a ZIP.
fn unzip(bytes: Vec<u8>) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes))?;
    let mut files = BTreeMap::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index)?;
        let name = file.name().context("a name")?.into_owned();
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        files.insert(name, content);
    }
    Ok(files)
}

/// A ZIP of these files with a matching manifest.
fn zipped(mut files: BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>> {
    let manifest = files.remove(MANIFEST).context("a manifest")?;
    let mut manifest: Manifest = serde_json::from_slice(&manifest)?;
    let sum = |content: &Vec<u8>| FileSum {
        bytes: content.len() as u64,
        lines: content.iter().filter(|byte| **byte == b'\n').count() as u64,
        sha256: hex::encode(Sha256::digest(content)),
    };
    manifest.files = files.iter().map(|(name, content)| (name.clone(), sum(content))).collect();
    files.insert(MANIFEST.to_owned(), serde_json::to_vec(&manifest)?);
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(name, SimpleFileOptions::default())?;
        zip.write_all(&content)?;
    }
    Ok(zip.finish()?.into_inner())
}

fn rows<T: serde::de::DeserializeOwned>(content: &[u8]) -> Result<Vec<T>> {
    let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Ok(serde_json::from_slice(line)?)).collect()
}

fn lines<T: serde::Serialize>(rows: &[T]) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut content, row)?;
        content.push(b'\n');
    }
    Ok(content)
}

/// An export of the user's own, with forged memories and operations of the user, opened domains and
/// a changed policy.
pub async fn archive(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    // What must be rejected is sent separately, so that the rest is not rejected with it.
    let (planted, attacks): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.planted);
    for cases in [attacks, planted] {
        let forged = forge_archive(target_user, &cases).await?;
        tally.count(&target_user.agent.upload("/api/import", "application/zip", forged).await?);
    }
    Ok(())
}

async fn forge_archive(target_user: &TargetUser, cases: &[&Case]) -> Result<Vec<u8>> {
    let mut files = unzip(target_user.agent.download("/api/export").await?)?;
    let of = |files: &BTreeMap<String, Vec<u8>>, name: &str| {
        files.get(name).cloned().with_context(|| format!("no {name} in the export"))
    };
    let mut versions: Vec<Version> = rows(&of(&files, MEMORIES)?)?;
    let mut operations: Vec<Operation> = rows(&of(&files, OPERATIONS)?)?;
    let first = versions.iter().find(|v| v.known.until.is_none()).context("a memory")?.clone();
    let by = operations.iter().find(|o| o.id == first.opened_by).context("an operation")?.clone();
    // The last attack's operation is forged too: earlier than all others, and the user's.
    let mut own = by;
    own.id = ids(&first, cases.first().map_or(0, |case| case.number)).operation();
    own.at -= jiff::SignedDuration::from_hours(1);
    own.caller = CallerKind::Human;
    own.voice = lukasa_core::Voice::stated(Origin::UserSaid);
    own.facts = Vec::new();
    for case in cases {
        let mut forged = forge(&first, case, case.number.is_multiple_of(2));
        forged.known.until = None;
        forged.closed_by = None;
        if case.number.is_multiple_of(3) {
            forged.opened_by = own.id;
            forged.known.from = own.at;
            own.facts.push(forged.fact);
        }
        versions.push(forged);
    }
    operations.push(own);
    operations.sort_by_key(|operation| operation.at);
    files.insert(MEMORIES.to_owned(), lines(&versions)?);
    files.insert(OPERATIONS.to_owned(), lines(&operations)?);
    files.insert(POLICY.to_owned(), serde_json::to_vec(&json!({"admission": "auto"}))?);
    let mut domains: Value = serde_json::from_slice(&of(&files, DOMAINS)?)?;
    for domain in domains.as_array_mut().into_iter().flatten() {
        domain["opted_in_at"] = json!("2026-01-01T00:00:00Z");
    }
    files.insert(DOMAINS.to_owned(), serde_json::to_vec(&domains)?);
    zipped(files)
}

/// Items of another program.
pub async fn items(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    const FORMATS: [&str; 4] = ["jsonl", "chatgpt", "mem0", "claude"];
    for (round, some) in cases.chunks(8).enumerate() {
        let item = |case: &Case| {
            let n = case.number;
            let mut item = json!({"item": "memory", "source": format!("item-{n}"),
                                  "content": case.text(n), "category": "profile"});
            if n.is_multiple_of(3) {
                item["content"] = json!(format!("Keeps a diary, volume {n}"));
                item["detail"] = json!(case.text(n));
            }
            item
        };
        let items: Vec<Value> = some.iter().map(item).collect();
        let path = format!("/api/import?format={}&source=s{round}", FORMATS[round % 4]);
        let body = lines(&items)?;
        tally.count(&target_user.agent.upload(&path, "application/jsonl", body).await?);
    }
    Ok(())
}
