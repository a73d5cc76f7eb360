//! A short chat with a real model behind the gateway. The response is compared with what the model
//! sent, recorded by a tap.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::chat_client::ChatClient;
use super::{Args, detected_or_missed};
use crate::processes::{Cluster, create_key};

const KNOWN: [&str; 2] = ["Is called Ada", "Drinks only oolong tea"];

/// Questions, whether the answer is streamed, and the word of a memory that answers it.
const ASKED: [(&str, bool, &str); 5] = [
    ("What is my name?", true, "Ada"),
    ("What is my name?", false, "Ada"),
    ("What should I drink?", true, "oolong"),
    ("What should I drink?", false, "oolong"),
    ("What is my favourite tea?", true, "oolong"),
];

/// Minimum number of questions answered from memory. Small models do not always use the prompt.
const FROM_MEMORY: usize = 3;

/// Asks in both forms; fails with what did not hold.
pub async fn run(args: &Args, program: &Path, dir: &Path, llm: &str) -> Result<()> {
    let recorded: Arc<Mutex<Vec<u8>>> = Arc::default();
    let tap = tap(llm, Arc::clone(&recorded)).await?;
    let cluster = Cluster::start(dir, false, "64MB")?;
    let url = cluster.url("lukasa");
    let server = super::serve(args, program, &url, &dir.join("live.log"), &tap).await?;
    let (_, key) = create_key(program, &url, "acme")?;
    let chat_client = ChatClient {
        http: reqwest::Client::new(),
        base: format!("http://{}/v1", server.address),
        key,
        user: "ada".into(),
        session: "live".into(),
    };
    for content in KNOWN {
        let to = format!("http://{}/api/memory", server.address);
        let save =
            chat_client.http.post(to).bearer_auth(&chat_client.key).header("x-lukasa-user", "ada");
        ensure!(
            save.json(&json!({"content": content})).send().await?.status() == 201,
            "a save failed"
        );
    }
    println!("\nquestions to a real model");
    let (mut failed, mut from_memory, mut without) = (Vec::new(), 0, 0);
    for (n, (asked, streamed, word)) in ASKED.into_iter().enumerate() {
        recorded.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let chat_client = ChatClient { session: format!("live-{n}"), ..chat_client.clone() };
        let timed = chat_client.ask(&question(asked, streamed)).await.context("no answer")?;
        ensure!(timed.status == 200, "{asked:?} was answered {}", timed.status);
        let raw = recorded.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sent = body_of(&raw).context("the model's answer cannot be taken apart")?;
        let (same, text) = (sent == timed.body, text_of(&timed.body, streamed));
        println!(
            "  {asked} -> {text:?}\n    {} bytes {}, {}",
            timed.body.len(),
            if streamed { "streamed" } else { "in one piece" },
            if same { "the model's own" } else { "NOT the model's own" }
        );
        if !same {
            failed.push(format!("the answer to {asked:?} was changed on its way"));
        }
        from_memory += usize::from(text.contains(word));
        // The same question without the gateway: if that answer has the word too, it proves
        // nothing.
        let past = ChatClient { base: tap.clone(), ..chat_client.clone() };
        let past = past.ask(&question(asked, streamed)).await.context("no answer")?;
        without += usize::from(text_of(&past.body, streamed).contains(word));
    }
    println!("  from memory: {from_memory} of {}", ASKED.len());
    if from_memory < FROM_MEMORY {
        failed.push(format!("only {from_memory} answers are from memory"));
    }
    println!(
        "  planted: the same questions past the gateway: {}",
        detected_or_missed(without == 0)
    );
    if without > 0 {
        failed.push(format!("{without} words are known without memory"));
    }
    ensure!(failed.is_empty(), "{}", failed.join("; "));
    println!("verdict: all checks passed");
    Ok(())
}

/// Temperature 0, so that a run is reproducible.
fn question(asked: &str, streamed: bool) -> Value {
    json!({"model": "m", "stream": streamed, "messages": [super::user(asked)], "max_tokens": 48,
           "temperature": 0})
}

/// A plain TCP proxy to the model that records its bytes.
async fn tap(llm: &str, recorded: Arc<Mutex<Vec<u8>>>) -> Result<String> {
    let rest = llm.strip_prefix("http://").context("--llm is http://host:port/v1")?;
    let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (address, path) = (address.to_owned(), path.trim_end_matches('/').to_owned());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let own = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (address, recorded) = (address.clone(), Arc::clone(&recorded));
            tokio::spawn(async move {
                let Ok(model) = TcpStream::connect(&address).await else { return };
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_model, mut to_model) = model.into_split();
                let asking = tokio::io::copy(&mut from_client, &mut to_model);
                let answering = async {
                    let mut piece = vec![0; 16 << 10];
                    while let Ok(size @ 1..) = from_model.read(&mut piece).await {
                        let bytes = &piece[..size];
                        recorded
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .extend_from_slice(bytes);
                        if to_client.write_all(bytes).await.is_err() {
                            break;
                        }
                    }
                };
                tokio::select! { _ = asking => {}, () = answering => {} }
            });
        }
    });
    Ok(format!("http://{own}/{path}"))
}

/// The body of a raw HTTP response.
fn body_of(raw: &[u8]) -> Option<Vec<u8>> {
    let end = raw.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&raw[..end]).to_lowercase();
    let mut rest = &raw[end + 4..];
    if !head.contains("transfer-encoding: chunked") {
        return Some(rest.to_vec());
    }
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n")?;
        let size =
            usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(line + 2..line + 2 + size)?);
        rest = rest.get(line + 2 + size + 2..)?;
    }
}

fn text_of(body: &[u8], streamed: bool) -> String {
    let text = String::from_utf8_lossy(body);
    let read = |json: &str| serde_json::from_str::<Value>(json).unwrap_or_default();
    if !streamed {
        return read(&text)["choices"][0]["message"]["content"].as_str().unwrap_or("").to_owned();
    }
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    events
        .map(|event| {
            read(event)["choices"][0]["delta"]["content"].as_str().unwrap_or("").to_owned()
        })
        .collect()
}
