//! `lukasa demo`

mod sample;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::client::{ServerArgs, ServerError};
use super::serve::ServeArgs;
use super::show::{BOLD, DIM, boxed, count, paint};
use super::{DatabaseArgs, FormatArgs, say, say_json};
use crate::models::ModelSettings;
use crate::{archive, clock, postgres};

/// The user of the demo.
const USER: &str = "demo";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa demo               start (or use) a server and fill it with a small sample memory
  lukasa demo --clean       erase that memory permanently

No model, key or account is needed. Without DATABASE_URL Lukasa starts its own PostgreSQL, if the programs
are installed, and otherwise prints how to install them. No data leaves the machine.")]
pub struct DemoArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    models: ModelSettings,
    /// Erase the demo user and all their data
    #[arg(long)]
    clean: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// A server that this command has started.
struct StartedServer {
    /// The folder of its database, unless that is the one of `DATABASE_URL`.
    folder: Option<PathBuf>,
}

impl DemoArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        if self.server.answers().await {
            return self.show(None).await;
        }
        let listen = address(self.server.url())?;
        let folder = match self.database.url()? {
            Some(_) => None,
            None => {
                let folder = self.database.data_dir.clone();
                Some(folder.unwrap_or_else(postgres::default_data_folder))
            }
        };
        let started = StartedServer { folder };
        let serve = ServeArgs::on_this_machine(self.database.clone(), self.models.clone(), listen);
        let (listening, mut ready) = tokio::sync::mpsc::channel::<SocketAddr>(1);
        let serving = serve.run_with_callback(move |address| {
            let _ = listening.try_send(address);
        });
        tokio::pin!(serving);
        tokio::select! {
            ended = &mut serving => return ended,
            address = ready.recv() => address.context("the server exited while it started")?,
        };
        let shown = {
            let show = self.show(Some(&started));
            tokio::pin!(show);
            tokio::select! {
                ended = &mut serving => return ended,
                shown = &mut show => shown,
            }
        };
        shown?;
        // `--clean` does not keep the server running.
        if self.clean {
            return Ok(());
        }
        serving.await
    }

    /// Fills the memory or removes it, and prints commands to try.
    async fn show(&self, started: Option<&StartedServer>) -> anyhow::Result<()> {
        let server = self.server.about(USER);
        if self.clean {
            return self.remove(&server).await;
        }
        // Creates the user again after `--clean`. A key without that right gets 403, which is ignored:
        // if the user does not exist, the next request fails.
        match server.post("/api/users", &json!({ "user": USER })).await {
            Err(error) if status(&error) != Some(403) => return Err(error),
            _ => {}
        }
        let state = server.get("/api/state").await?;
        let fresh = state["memories"] == 0 && state["sessions"] == 0;
        if fresh {
            match server.key() {
                None => restore(&server).await?,
                Some(_) => seed(&server).await?,
            }
        }
        let state = server.get("/api/state").await?;
        let console = has_console(&server).await;
        let folder = started.and_then(|started| started.folder.as_deref());
        let url = server.url();
        if self.format.json {
            return say_json(&json!({
                "url": url, "user": USER, "seeded": fresh, "state": state,
                "data_folder": folder.map(|folder| folder.display().to_string()),
                "console": console.then(|| format!("{url}/?user={USER}")),
            }));
        }
        let number = |name: &str| usize::try_from(state[name].as_u64().unwrap_or(0)).unwrap_or(0);
        let mut lines = vec![
            format!("{}   {url}", paint(BOLD, "Lukasa is running")),
            format!(
                "user {USER}: {}, {}",
                count(number("memories"), "memory", "memories"),
                count(number("sessions"), "chat", "chats")
            ),
        ];
        match server.key() {
            Some(_) => lines.push("key: as given with --key".into()),
            None => lines.push("no key is needed on this machine".into()),
        }
        if let Some(folder) = folder {
            lines.push(format!("data: {}", folder.display()));
        }
        if console {
            lines.push(format!("console: {url}/?user={USER}"));
        }
        // Of a server that was running already only its operator knows the chat models.
        if started.is_some() && !self.models.has_chat() {
            lines.push("no chat model is configured: saving, recall and learning by rules work without one".into());
        }
        let tried = server.post("/api/memory/search", &json!({ "query": "dinner" })).await?;
        if tried["model"].is_null() {
            lines.push("search matches words only; to add meaning: lukasa model get potion".into());
        }
        let at =
            if url == "http://127.0.0.1:7777" { String::new() } else { format!(" --url {url}") };
        lines.extend([
            String::new(),
            "Try next, in another terminal:".into(),
            format!("  lukasa recall 'what can I cook for dinner' --user {USER} --explain{at}"),
            format!("  lukasa log school --user {USER}{at}"),
            format!("  lukasa save I only do index funds{at}"),
        ]);
        say(&boxed(&lines))?;
        let end = match started {
            Some(_) => "Ctrl-C stops the server; saved memories are kept. ",
            None => "",
        };
        say(&paint(DIM, &format!("{end}Remove the demo's memory with: lukasa demo --clean{at}")))
    }

    async fn remove(&self, server: &ServerArgs) -> anyhow::Result<()> {
        let request = server.request(Method::DELETE, &format!("/api/users/{USER}"))?;
        let removed = match server.send(request).await {
            Ok(_) => true,
            Err(error) if status(&error) == Some(404) => false,
            Err(error) => return Err(error),
        };
        if self.format.json {
            return say_json(&json!({ "user": USER, "removed": removed }));
        }
        match removed {
            true => say(&format!("The user {USER} and all their data were erased.")),
            false => say(&format!("There is no user {USER}; nothing was erased.")),
        }
    }
}

/// The socket address of a local URL.
fn address(url: &str) -> anyhow::Result<SocketAddr> {
    let host = url.strip_prefix("http://").unwrap_or(url).replace("localhost", "127.0.0.1");
    host.parse().with_context(|| {
        format!(
            "no Lukasa server answers at {url}, and none can be started there\n  next: use --url \
                 http://127.0.0.1:PORT, or start the server first"
        )
    })
}

fn status(error: &anyhow::Error) -> Option<u16> {
    error.downcast_ref::<ServerError>().map(|refused| refused.status)
}

/// Whether the server was built with the console.
async fn has_console(server: &ServerArgs) -> bool {
    let Ok(request) = server.request(Method::GET, "/") else { return false };
    let Ok(page) = server.send(request).await else { return false };
    let kind = page.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    // A binary built without the console answers with a plain page that has no ETag.
    kind.is_some_and(|kind| kind.starts_with("text/html")) && page.headers().contains_key("etag")
}

/// Imports the sample memory of several months, for which the user of this machine vouches, and adds an open
/// proposal.
async fn restore(server: &ServerArgs) -> anyhow::Result<()> {
    let now = clock::now();
    let sample = sample::DemoMemory::new(now)?;
    let bytes = archive::pack_unsigned(&sample.contents, &sample.usage, now)?;
    let request = server.request(Method::POST, "/api/import?name=demo&trust=true")?;
    let request = request.header(CONTENT_TYPE, "application/zip").body(bytes);
    server.send(request).await?;
    propose(server).await
}

/// A key cannot vouch for an export, so everything is saved now through the API: memories in several domains, a
/// change and a correction, two chats, and an open proposal.
async fn seed(server: &ServerArgs) -> anyhow::Result<()> {
    let chats = [
        (
            "kyoto",
            json!([
                { "role": "user", "content": "We want to see Kyoto in April. Are trains enough to get around?" },
                { "role": "assistant",
                  "content": "Yes: trains and buses reach everything you named. I would stay near the station." },
                { "role": "user", "content": "Good. Ines gets sick in buses, so trains first." },
            ]),
        ),
        (
            "exhibition",
            json!([
                { "role": "user",
                  "content": "Help me outline the labels for the tile exhibition. Short sentences please." },
                { "role": "assistant",
                  "content": "Three labels to begin with: clay, glaze, and the hands that set them." },
            ]),
        ),
    ];
    for (name, turns) in chats {
        let path = format!("/api/sessions/{USER}-{name}/turns");
        server.post(&path, &json!({ "turns": turns })).await?;
    }
    let memories = [
        json!({ "content": "Is called Alma and lives in Lisbon", "category": "profile", "domain": "personal" }),
        json!({ "content": "Cooks vegetarian at home, and eats fish by the sea",
                "domain": "food", "kind": "preference", "tags": ["dinner"] }),
        json!({ "content": "Prefers window seats, and trains over planes", "domain": "travel", "kind": "preference" }),
        json!({ "content": "Designs exhibitions at a tile museum", "domain": "work", "kind": "fact" }),
        json!({ "content": "No meetings before ten", "domain": "schedule", "force": "hard",
                "key": "earliest-meeting", "value": "10:00" }),
        json!({ "content": "Likes answers short, with the reason first",
                "category": "style", "domain": "communication", "kind": "preference" }),
        json!({ "content": "Plans to see Kyoto in April with the family",
                "domain": "travel", "kind": "project", "session_id": format!("{USER}-kyoto") }),
    ];
    for memory in &memories {
        server.post("/api/memory", memory).await?;
    }
    let school = json!({ "content": "Ines starts school in September 2027", "domain": "personal" });
    let saved = server.post("/api/memory", &school).await?;
    let right = json!({ "content": "Ines starts school in September 2026", "mode": "correction" });
    edit(server, &saved, &right).await?;
    let coffee =
        json!({ "content": "Drinks two espressos a day", "domain": "food", "kind": "habit" });
    let saved = server.post("/api/memory", &coffee).await?;
    edit(server, &saved, &json!({ "content": "Drinks one espresso a day, before noon" })).await?;
    propose(server).await
}

async fn propose(server: &ServerArgs) -> anyhow::Result<()> {
    let proposal = json!({ "content": "Would like to learn some Japanese before the trip",
        "domain": "travel", "kind": "project", "reasoning": "asked for phrases twice" });
    server.post("/api/memory/propose", &proposal).await?;
    Ok(())
}

async fn edit(server: &ServerArgs, saved: &Value, change: &Value) -> anyhow::Result<()> {
    let id = saved["memory"]["id"].as_str().unwrap_or_default();
    let request = server.request(Method::PATCH, &format!("/api/memory/{id}"))?;
    server.send(request.json(change)).await?;
    Ok(())
}
