//! Fuzzes the parsers of what others send: imports of other programs, requests and answers of chat
//! protocols with the filter of tool calls, OAuth requests and OpenID Connect tokens. No parser may
//! panic or take long, and a running server answers mutated bodies without an error of its own.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lukasa_core::Timestamp;
use lukasa_core::import::{Format, ImportItem, ParsedImport, basic_memory, chatgpt, claude, judge};
use lukasa_core::import::{ImportVerdict, lines, mcp, mem0};
use lukasa_core::oauth::{RedirectUri, RequestParams, is_challenge, meets_challenge, parse_scope};
use lukasa_core::oidc::{ClaimRules, ExpectedToken, check_claims, identify};
use lukasa_core::policy::Policy;
use lukasa_models::protocol::embeddings::EmbeddingsRequest;
use lukasa_models::protocol::{AnswerReader, PromptRequest, Protocol, Sieve};
use lukasa_server::oidc::{PublicKey, verify_token};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Map, Value, json};

use crate::mutation::{Watchdog, mutate};
use crate::processes::{Cluster, Serve, Server, create_key_with, server_program};

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Also send mutated bodies to a running server for as long.
    #[arg(long)]
    pub http: bool,
    /// Path of the server; by default `lukasa` next to this program.
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    pub server: Option<PathBuf>,
    /// Treat a valid import as a failure, which must be found.
    #[arg(long)]
    pub plant: bool,
}

/// Time limit for one round.
const LIMIT: Duration = Duration::from_secs(10);
const NOW: i64 = 1_800_000_000;

/// Exports of other programs.
fn exports() -> Vec<Value> {
    vec![
        json!({"results": [{"id": "a", "memory": "Likes tea", "categories": ["x"],
            "created_at": "2024-07-20T01:30:36Z", "updated_at": null, "metadata": {"k": 1}}]}),
        json!({"type": "entity", "name": "A", "entityType": "p", "observations": ["Likes tea"]}),
        json!({"entities": [{"name": "A", "entityType": "p", "observations": ["b"]}],
            "relations": [{"from": "A", "to": "B", "relationType": "knows"}]}),
        json!([{"title": "T", "create_time": 1e9, "current_node": "b", "mapping": {
            "a": {"parent": null, "children": ["b"]},
            "b": {"parent": "a", "message": {"author": {"role": "user"}, "create_time": 1e9,
                "content": {"content_type": "text", "parts": ["hi", {"x": 1}]}}}}}]),
        json!([{"uuid": "u", "name": "n", "created_at": "2024-07-20T01:30:36Z", "chat_messages": [
            {"sender": "human", "text": "hi", "created_at": "2024-07-20T01:30:36Z",
             "content": [{"type": "text", "text": "hé"}]}]}]),
        json!([{"conversations_memory": "**a**\n- Likes tea", "project_memories": {"p": "q r s"}}]),
        json!({"content": "Likes tea", "tags": ["a"], "category": "profile"}),
    ]
}

const NOTE: &str = "---\ntitle: É\ntags: [a, 'b']\n---\n- [cat] words #tag (ctx)\n- rel [[Other|o]]\n- [[x]]\n```\n";

/// Bodies of the gateway.
fn bodies() -> Vec<(&'static str, Value)> {
    let tool =
        json!({"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}});
    vec![
        (
            "chat/completions",
            json!({"model": "m", "stream": true, "tools": [tool], "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "name": "Ada", "content": [{"type": "text", "text": "Hi"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function",
                "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "Sun"}]}),
        ),
        (
            "responses",
            json!({"model": "m", "stream": false, "instructions": "Be brief.",
            "previous_response_id": "resp_1", "conversation": {"id": "conv_1"}, "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "function_call", "name": "f", "call_id": "1", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "Sun"},
            {"type": "item_reference", "id": "msg_1"}]}),
        ),
        (
            "embeddings",
            json!({"model": "lukasa", "input": ["a", "b"], "dimensions": 256,
            "encoding_format": "base64"}),
        ),
    ]
}

/// Events of answers, as services stream them.
fn events() -> Vec<Value> {
    let call =
        json!({"index": 0, "id": "c", "function": {"name": "save_memory", "arguments": "{}"}});
    let item = json!({"type": "function_call", "id": "i", "call_id": "c", "name": "save_memory",
        "arguments": "{\"content\":\"x\"}"});
    vec![
        json!({"id": "c-1", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}),
        json!({"id": "c-1", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}),
        json!({"id": "c-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
            "usage": {"total_tokens": 7}}),
        json!({"type": "response.created", "response": {"id": "resp_1", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{"}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "Hi"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": "resp_1", "output": [item]}}),
    ]
}

/// The text of a value, sometimes cut, with a piece repeated, or with bytes of another kind in it.
fn spoiled(value: &Value, rng: &mut StdRng) -> Vec<u8> {
    let mut value = value.clone();
    if rng.random_bool(0.8) {
        mutate(&mut value, rng);
    }
    let mut bytes = value.to_string().into_bytes();
    if rng.random_bool(0.3) {
        let at = rng.random_range(0..=bytes.len());
        match rng.random_range(0..4) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, "[{".repeat(rng.random_range(1..3_000)).bytes())),
            2 => drop(bytes.splice(at..at, [0xff, 0xc0, 0, b'"', b'\n'])),
            _ => bytes.extend_from_within(at..),
        }
    }
    bytes
}

fn import_round(rng: &mut StdRng, plant: bool) -> Result<usize> {
    let all = exports();
    let mut text = String::new();
    for _ in 0..rng.random_range(1..4) {
        let Some(one) = all.choose(rng) else { break };
        text.push_str(&String::from_utf8_lossy(&spoiled(one, rng)));
        text.push('\n');
    }
    let note: String =
        NOTE.chars().cycle().skip(rng.random_range(0..40)).take(rng.random_range(0..300)).collect();
    let notes = [("a/Other.md".to_owned(), note), (text.clone(), text.clone())];
    let parsed: [ParsedImport; 7] = [
        mem0::parse(&text, None),
        mcp::parse(&text),
        chatgpt::parse(&text),
        claude::parse(&text),
        claude::memories(&text),
        lines::parse(&text),
        basic_memory::parse(&notes),
    ];
    let mut kept = 0;
    for item in parsed.iter().flat_map(|parsed| parsed.items.iter().take(3)) {
        let ImportItem::Memory(memory) = item else { continue };
        let verdict = judge(memory, Format::Lines, &[], &Policy::default());
        if let ImportVerdict::Keep { claim, .. } = verdict {
            ensure!(claim.faults().is_empty(), "a claim with faults: {claim:?}");
            ensure!(!plant, "the planted fault");
            kept += 1;
        }
    }
    Ok(kept)
}

fn protocol_round(rng: &mut StdRng) -> Result<()> {
    for (path, body) in bodies() {
        let bytes = spoiled(&body, rng);
        // Anything but an embeddings request is refused.
        let _ = EmbeddingsRequest::read(&bytes);
        let protocol = if path == "responses" { Protocol::Responses } else { Protocol::Chat };
        let Some(mut prompt) = PromptRequest::read(protocol, &bytes) else { continue };
        let said = prompt.messages();
        prompt.put("<B>", "<D>");
        prompt.offer([("f", "about", &json!({}))].into_iter());
        prompt.append_tool_results(vec![json!({})], &[("c".to_owned(), "Sun".to_owned())]);
        ensure!(said.len() <= bytes.len(), "more messages than bytes");
        let again = PromptRequest::read(protocol, &prompt.to_bytes());
        ensure!(again.is_some(), "a request cannot be read again");
    }
    let ours: Arc<BTreeSet<String>> = Arc::new(BTreeSet::from(["save_memory".to_owned()]));
    let all = events();
    let mut sent = Vec::new();
    for _ in 0..rng.random_range(1..8) {
        let Some(event) = all.choose(rng) else { break };
        sent.extend_from_slice(
            [b"data: ".as_slice(), b"event: x\ndata:", b""][rng.random_range(0..3)],
        );
        sent.extend(spoiled(event, rng));
        sent.extend_from_slice([b"\n\n".as_slice(), b"\r\n\r\n", b"\n"][rng.random_range(0..3)]);
    }
    for (protocol, streamed) in [
        (Protocol::Chat, true),
        (Protocol::Chat, false),
        (Protocol::Responses, true),
        (Protocol::Responses, false),
    ] {
        let mut sieve = Sieve::new(protocol, streamed, rng.random_bool(0.5), Arc::clone(&ours));
        let mut reader = AnswerReader::new(protocol, streamed);
        for piece in sent.chunks(rng.random_range(1..=sent.len().max(1))) {
            sieve.push(piece);
            reader.push(piece);
        }
        sieve.end();
        reader.finish();
    }
    Ok(())
}

fn token_round(rng: &mut StdRng) -> Result<()> {
    let key = json!({"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": URL_SAFE_NO_PAD.encode([7_u8; 32]),
        "n": "AQAB", "e": "AQAB", "y": URL_SAFE_NO_PAD.encode([9_u8; 32]), "alg": "EdDSA", "use": "sig"});
    let keys = serde_json::from_slice::<PublicKey>(&spoiled(&key, rng)).ok();
    let keys: Vec<PublicKey> = keys.into_iter().collect();
    let algorithm = ["EdDSA", "RS256", "ES256", "PS256", "none"][rng.random_range(0..5)];
    let header = json!({"alg": algorithm, "kid": "k"});
    let claims = json!({"iss": "https://id.example", "aud": ["lukasa", "b"], "azp": "lukasa", "exp": NOW + 60,
        "iat": NOW, "nbf": NOW, "nonce": "n", "sub": "ada", "email": "a@b.example",
        "email_verified": true, "groups": ["users", "admins"]});
    let parts = [&header, &claims].map(|part| URL_SAFE_NO_PAD.encode(spoiled(part, rng)));
    let token = format!(
        "{}.{}.{}",
        parts[0],
        parts[1],
        URL_SAFE_NO_PAD.encode(vec![1_u8; rng.random_range(0..600)])
    );
    let cut: String = token.chars().take(rng.random_range(0..=token.len())).collect();
    for token in [token, cut] {
        ensure!(verify_token(&token, &keys).is_err(), "a token without a signature was verified");
    }
    let mut claims = claims;
    mutate(&mut claims, rng);
    if let Value::Object(claims) = &claims {
        checked(claims)?;
    }
    let text = ["https://a.example/cb", "http://127.0.0.1:1/cb", "http://[::1]/", "com.app:/x"]
        [rng.random_range(0..4)];
    let uri = spoiled(&json!(text), rng);
    let uri = String::from_utf8_lossy(&uri).trim_matches('"').to_owned();
    if let Ok(uri) = RedirectUri::parse(&uri) {
        ensure!(!uri.host().is_empty() || !uri.is_loopback(), "a loopback address without a host");
        uri.with_params(&[("code", "x y"), ("state", "&=")]);
        uri.policy_source();
    }
    let form = spoiled(
        &json!("client_id=a&redirect_uri=https%3A%2F%2Fa&scope=read%20write&state=%ff&a&=b"),
        rng,
    );
    let params = RequestParams::parse(&form);
    for name in ["client_id", "redirect_uri", "scope", "state", ""] {
        let value = params.get(name).ok().flatten();
        // Unknown scopes are refused.
        let _ = parse_scope(value);
        let value = value.unwrap_or_default();
        ensure!(
            !(is_challenge(value) && meets_challenge(value, value)),
            "a challenge meets itself"
        );
    }
    params.query(&["client_id", "scope"]);
    Ok(())
}

/// Claims that are accepted belong to the client, with a user.
fn checked(claims: &Map<String, Value>) -> Result<()> {
    let expected = ExpectedToken { issuer: "https://id.example", client_id: "lukasa", nonce: "n" };
    let rules = ClaimRules {
        user_claim: "sub".into(),
        user_prefix: "id.example|".into(),
        role_claim: Some("groups".into()),
        admin_values: vec!["admins".into()],
        allowed_values: vec!["users".into()],
    };
    if check_claims(claims, expected, Timestamp::from_second(NOW)?).is_ok()
        && let Ok(found) = identify(claims, &rules)
    {
        ensure!(found.user.len() > rules.user_prefix.len(), "a user without a name");
        ensure!(claims.get("nonce") == Some(&json!("n")), "another nonce");
    }
    Ok(())
}

pub async fn run(args: Args) -> Result<()> {
    lukasa_models::tls::install();
    let watchdog = Watchdog::start(LIMIT, args.seed);
    let started = Instant::now();
    let (mut rounds, mut kept) = (0_u64, 0);
    while started.elapsed() < Duration::from_secs(args.seconds) {
        watchdog.round(rounds);
        let mut rng = StdRng::seed_from_u64(args.seed.wrapping_mul(1_000_003) ^ rounds);
        let found = import_round(&mut rng, args.plant)
            .and_then(|count| {
                kept += count;
                protocol_round(&mut rng)
            })
            .and_then(|()| token_round(&mut rng));
        found.with_context(|| format!("FOUND: round {rounds} with seed {}", args.seed))?;
        rounds += 1;
    }
    println!(
        "{rounds} rounds in {:.0} s, seed {}: imports, chat protocols, OAuth and tokens; {kept} imported \
         memories were kept, and nothing failed",
        started.elapsed().as_secs_f64(),
        args.seed
    );
    ensure!(!args.plant, "the planted fault was not found");
    ensure!(kept > 0, "the mutations are too strong");
    if args.http {
        send_bodies(&args, &watchdog).await?;
    }
    Ok(())
}

/// Sends mutated bodies to a running server. Its upstream does not exist, so 502 is an answer.
async fn send_bodies(args: &Args, watchdog: &Watchdog) -> Result<()> {
    let program = server_program(args.server.as_deref())?;
    let dir = std::env::temp_dir().join(format!("lukasa-parsers-{}", std::process::id()));
    // Starting takes longer than a round.
    watchdog.pause();
    let cluster = Cluster::start(&dir, false, "64MB")?;
    let (url, log) = (cluster.url("lukasa"), dir.join("server.log"));
    let serve = Serve {
        program: &program,
        database: &url,
        auth: "keys",
        pool: 8,
        migrate: true,
        models: None,
        filter: "error",
        log: &log,
    };
    let settings =
        [("LUKASA_UPSTREAM", "http://127.0.0.1:9/v1"), ("LUKASA_UPSTREAM_KEY", "sk-none")];
    let server = Server::start_with(&serve, &settings).await?;
    let may = ["--may", "read,write,propose,erase,chat", "--user", "ada"];
    let (_, key) = create_key_with(&program, &url, "acme", &may)?;
    let client = reqwest::Client::new();
    let base = format!("http://{}", server.address);
    let (mut sent, mut answered) = (0_u64, 0_u64);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(args.seconds) {
        watchdog.round(sent);
        let mut rng = StdRng::seed_from_u64(args.seed.wrapping_mul(7_000_003) ^ sent);
        let (path, kind, body) = mutated_request(&mut rng);
        let request = client.post(format!("{base}{path}")).bearer_auth(&key);
        let answer = request.header("content-type", kind).body(body).send().await;
        let status = answer.with_context(|| format!("{path} does not answer"))?.status().as_u16();
        sent += 1;
        answered += u64::from(status < 400 || status == 502);
        let fine = status < 500 || status == 502 || status == 503;
        ensure!(fine, "FOUND: request {sent} with seed {} to {path}: {status}", args.seed);
    }
    println!(
        "{sent} mutated bodies sent to a server; {answered} were accepted, and none failed inside it"
    );
    ensure!(answered > 0, "the mutations are too strong");
    Ok(())
}

fn mutated_request(rng: &mut StdRng) -> (String, &'static str, Vec<u8>) {
    if rng.random_bool(0.7) {
        let all = bodies();
        let (path, body) = &all[rng.random_range(0..all.len())];
        return (format!("/v1/{path}"), "application/json", spoiled(body, rng));
    }
    let all = exports();
    let body = spoiled(&all[rng.random_range(0..all.len())], rng);
    if rng.random_bool(0.3) {
        let form = format!("grant_type=authorization_code&code={}", String::from_utf8_lossy(&body));
        return ("/oauth/token".to_owned(), "application/x-www-form-urlencoded", form.into_bytes());
    }
    let format = ["mem0", "mcp", "chatgpt", "claude", "jsonl"][rng.random_range(0..5)];
    let item = json!({"item": "memory", "source": "1", "content": "Likes tea", "tags": ["a"],
        "at": "2024-07-20T01:30:36Z"});
    let mut lines = spoiled(&item, rng);
    lines.push(b'\n');
    lines.extend(body);
    (format!("/api/import?format={format}"), "application/jsonl", lines)
}
