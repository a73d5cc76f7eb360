//! MCP resources and prompts: the memory block for prompts, the portraits, single memories, a prompt
//! with the context for a message, and one that lets the assistant learn from the conversation.

use lukasa_core::Permission;
use lukasa_engine::Point;
use lukasa_engine::context::{Context, ContextRequest};
use lukasa_text::line::harmless_data;
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, GetPromptRequestParams, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, Prompt, PromptArgument, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Value, json};

use super::{McpCaller, panel};
use crate::api::App;
use crate::api::auth::forbidden;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::memory::target;
use crate::api::wire::MemoryView;

const BASELINE: &str = "lukasa://baseline";
const PROFILE: &str = "lukasa://profile";
const PORTRAITS: &str = "lukasa://portraits/";
const MEMORIES: &str = "lukasa://memories/";
/// Asks the assistant to save what matters of the conversation it holds.
const LEARN: &str = include_str!("learn.md");
const MARKDOWN: &str = "text/markdown";
/// A resource may change with the next message, so clients must not cache it.
const RESOURCE_TTL_MS: u64 = 0;

/// A problem as a protocol error. A missing resource and one of another user give the same error.
fn protocol_error(problem: &Problem) -> ErrorData {
    let message = format!("{}. {}", problem.title, problem.detail);
    let data = Some(json!({ "code": problem.code }));
    match problem.code {
        code if code.as_str().ends_with("_not_found") => {
            ErrorData::resource_not_found(message, data)
        }
        ErrorCode::Internal | ErrorCode::Unavailable => ErrorData::internal_error(message, data),
        _ => ErrorData::invalid_request(message, data),
    }
}

fn engine_error(error: lukasa_engine::Error) -> ErrorData {
    protocol_error(&Problem::from(error))
}

/// The error for a URI that no resource has.
fn unknown_resource(uri: &str) -> ErrorData {
    let message =
        "There is no such resource. `resources/list` and `resources/templates/list` list them.";
    ErrorData::resource_not_found(message, Some(json!({ "code": "not_found", "uri": uri })))
}

fn check_read(caller: &McpCaller) -> Result<(), ErrorData> {
    match caller.admitted.may(Permission::Read) {
        true => Ok(()),
        false => Err(protocol_error(&forbidden(Permission::Read))),
    }
}

pub async fn list(app: &App, caller: &McpCaller) -> Result<ListResourcesResult, ErrorData> {
    check_read(caller)?;
    let page = |uri: String, name: &str, about: &str| {
        Resource::new(uri, name).with_description(about).with_mime_type(MARKDOWN)
    };
    let mut all = vec![
        page(BASELINE.into(), "baseline", "What every prompt should say about the user"),
        page(PROFILE.into(), "profile", "Who the user is, every sentence with its sources"),
    ];
    let portraits =
        app.engine().portraits.list(&caller.caller, app.now()).await.map_err(engine_error)?;
    for portrait in portraits {
        let (name, title) = (portrait.portrait.name.to_string(), portrait.portrait.name.title());
        all.push(page(format!("{PORTRAITS}{name}"), &name, &title));
    }
    all.extend(panel::listed());
    Ok(ListResourcesResult::with_all_items(all)
        .with_ttl_ms(RESOURCE_TTL_MS)
        .with_cache_scope(CacheScope::Private))
}

pub fn templates() -> ListResourceTemplatesResult {
    let template = |uri: String, name: &str, about: &str| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(MARKDOWN)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(format!("{PORTRAITS}{{name}}"), "portrait", "A portrait by its name"),
        template(format!("{MEMORIES}{{id}}"), "memory", "One memory in full"),
    ])
}

pub async fn read(
    app: &App,
    caller: &McpCaller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    check_read(caller)?;
    if uri == panel::URI {
        let page = panel::read().ok_or_else(|| unknown_resource(uri))?;
        return Ok(ReadResourceResult::new(vec![page]).with_cache_scope(CacheScope::Public));
    }
    let (engine, now) = (app.engine(), app.now());
    let portrait = match uri {
        PROFILE => Some("profile"),
        _ => uri.strip_prefix(PORTRAITS),
    };
    let text = if uri == BASELINE {
        context(app, caller, "").await?.baseline.content
    } else if let Some(name) = portrait {
        engine
            .portraits
            .get(&caller.caller, name, now)
            .await
            .map_err(engine_error)?
            .portrait
            .markdown()
    } else if let Some(id) = uri.strip_prefix(MEMORIES) {
        let memory = engine.facts.get(&caller.caller, &target(id), Point::default(), now).await;
        let memory = memory.map_err(engine_error)?;
        let view = MemoryView::from(&memory);
        let content = harmless_data(&view.content);
        match view.detail.as_deref().map(harmless_data).filter(|detail| !detail.is_empty()) {
            Some(detail) => format!("{content}\n\n{detail}"),
            None => content,
        }
    } else {
        return Err(unknown_resource(uri));
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(RESOURCE_TTL_MS)
        .with_cache_scope(CacheScope::Private))
}

/// The context for a message. Without a message it is only the baseline block.
async fn context(app: &App, caller: &McpCaller, about: &str) -> Result<Context, ErrorData> {
    let mut ask = ContextRequest::about(about);
    ask.project.clone_from(&caller.project);
    if about.is_empty() {
        (ask.memories, ask.turns, ask.episodes) = (Some(0), Some(0), Some(0));
    }
    app.engine().context.retrieve(&caller.caller, &ask, app.moment()).await.map_err(engine_error)
}

pub fn prompts() -> ListPromptsResult {
    let message = PromptArgument::new("message")
        .with_description("The user's message; without it only the baseline")
        .with_required(false);
    let prompt =
        Prompt::new("context", Some("Memories relevant to a message"), Some(vec![message]));
    let learn =
        Prompt::new("learn", Some("Keep what matters of this conversation"), None::<Vec<_>>);
    ListPromptsResult::with_all_items(vec![
        prompt.with_title("What Lukasa knows"),
        learn.with_title("Learn from this conversation"),
    ])
}

pub async fn prompt(
    app: &App,
    caller: &McpCaller,
    params: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    check_read(caller)?;
    match params.name.as_str() {
        "context" => {}
        "learn" => {
            return Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, LEARN)]));
        }
        _ => {
            return Err(ErrorData::invalid_params("the prompts are `context` and `learn`", None));
        }
    }
    let asked = params.arguments.as_ref().and_then(|given| given.get("message"));
    let message = asked.and_then(Value::as_str).unwrap_or_default();
    if message.chars().count() > crate::api::search::QUERY_CHARS {
        return Err(ErrorData::invalid_params("`message` has at most 20000 characters", None));
    }
    let context = context(app, caller, message).await?;
    let text = format!("{}{}", context.baseline.content, context.dynamic.content);
    let text = if text.is_empty() { "Nothing is known about the user yet.".into() } else { text };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
