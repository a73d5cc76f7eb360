//! A short chat with a real model behind the gateway. What the client gets is held against what the
//! model sent, overheard on the way.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Stand;
use super::shots::Shooter;

/// Chats in both forms, and says what did not hold.
pub async fn chat(
    stand: &Stand,
    program: &Path,
    url: &str,
    dir: &Path,
    llm: &str,
) -> Result<Vec<String>> {
    let heard: Arc<Mutex<Vec<u8>>> = Arc::default();
    let tap = tap(llm, Arc::clone(&heard)).await?;
    let log = dir.join("live.log");
    let server = super::serve(&stand.args, program, url, &log, &tap).await?;
    stand
        .call(20, "/api/memory", json!({"content": "Is called Ada and drinks only oolong tea"}))
        .await?;
    let shooter =
        Shooter { base: format!("http://{}/v1", server.address), ..stand.gateway(20, "live") };
    println!("\na chat with a real model");
    let (mut failed, mut history) = (Vec::new(), Vec::<Value>::new());
    for (n, asked) in ["What is my name?", "What should I drink?", "Thank you!"].iter().enumerate()
    {
        history.push(super::user(asked));
        let streamed = n != 1;
        heard.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let shot = shooter.send_with(&history, streamed, 48).await.context("no answer")?;
        let raw = heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sent = body_of(&raw).context("the model's answer cannot be taken apart")?;
        let same = sent == shot.body;
        let text = text_of(&shot.body, streamed);
        println!("  {asked} -> {text:?}");
        println!(
            "    {} bytes {}, {}",
            shot.body.len(),
            if streamed { "streamed" } else { "in one piece" },
            if same { "the model's own" } else { "NOT the model's own" }
        );
        if !same {
            failed.push(format!("the answer to {asked:?} was changed on its way"));
        }
        history.push(json!({"role": "assistant", "content": text}));
    }
    Ok(failed)
}

/// Listens in on a plain connection to the model.
async fn tap(llm: &str, heard: Arc<Mutex<Vec<u8>>>) -> Result<String> {
    let rest = llm.strip_prefix("http://").context("--llm is http://host:port/v1")?;
    let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (address, path) = (address.to_owned(), path.trim_end_matches('/').to_owned());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let own = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (address, heard) = (address.clone(), Arc::clone(&heard));
            tokio::spawn(async move {
                let Ok(model) = TcpStream::connect(&address).await else { return };
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_model, mut to_model) = model.into_split();
                let asking = tokio::io::copy(&mut from_client, &mut to_model);
                let answering = async {
                    let mut piece = vec![0; 16 << 10];
                    while let Ok(size @ 1..) = from_model.read(&mut piece).await {
                        let bytes = &piece[..size];
                        heard
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

/// The body of an answer as it came over the wire.
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
