//! `lukasa save`

use std::io::Read as _;

use clap::Args;
use serde_json::{Value, json};

use super::super::FormatArgs;
use super::super::client::{ServerArgs, ServerError, ask};
use super::{open_domain, print_written};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa save I only do index funds
  lukasa save 'Prefers window seats' --domain travel --tag seats
  lukasa save 'No meetings before ten' --domain schedule --rule earliest_meeting --value 10:00
  echo 'Allergic to penicillin' | lukasa save - --domain health --open

The memory is active at once. Saving the same again returns the existing memory. Some domains (finance,
health, relationships, religion) are closed until you open them: saving in one of them asks first, unless
you pass --open or --keep-without-domain. Secrets are never stored.")]
pub struct SaveArgs {
    /// One short line; `-` reads it from standard input
    #[arg(required = true, num_args = 1.., value_name = "WORDS")]
    words: Vec<String>,
    /// Its domain, such as travel
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// The project it belongs to; it holds everywhere if absent
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// profile, context, style or fact
    #[arg(long, value_name = "WORD")]
    category: Option<String>,
    /// preference, fact, habit, skill, artifact, relationship, project or context
    #[arg(long, value_name = "WORD")]
    kind: Option<String>,
    /// A longer text, found by recall but never put into a prompt
    #[arg(long, value_name = "TEXT")]
    detail: Option<String>,
    /// Make it a rule that must be respected, with this key in its domain
    #[arg(long, value_name = "NAME", requires = "domain")]
    rule: Option<String>,
    /// The value of the rule, as JSON or a text
    #[arg(long, value_name = "JSON", requires = "rule")]
    value: Option<String>,
    /// A tag; can be given more than once
    #[arg(long = "tag", value_name = "WORD")]
    tags: Vec<String>,
    /// From when it is valid, such as 2026-03-01; now if absent
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Until when it is valid; without end if absent
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// How long it lasts: temporary (a day), contextual (a week), deadline (a week after its date) or lasting
    #[arg(long, value_name = "WORD", conflicts_with = "until")]
    ttl: Option<String>,
    /// Open the domain first, if it is closed
    #[arg(long, conflicts_with = "keep_without_domain")]
    open: bool,
    /// Save it as a memory without a domain, if its domain is closed
    #[arg(long, conflicts_with = "domain")]
    keep_without_domain: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl SaveArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let body = self.body()?;
        if let (true, Some(domain)) = (self.open, &self.domain) {
            open_domain(&self.server, domain).await?;
        }
        let written = match self.server.post("/api/memory", &body).await {
            Err(error) => match closed_domain(&error) {
                Some(domain) => self.ask_about(&domain, error, body).await?,
                None => return Err(error),
            },
            Ok(written) => written,
        };
        print_written(&written, self.format.json)
    }

    fn body(&self) -> anyhow::Result<Value> {
        let mut content = self.words.join(" ");
        if content == "-" {
            content.clear();
            std::io::stdin().read_to_string(&mut content)?;
        }
        let mut body = json!({ "content": content.trim() });
        let mut set = |name: &str, value: Option<&String>| {
            if let Some(value) = value {
                body[name] = json!(value);
            }
        };
        set("domain", self.domain.as_ref());
        set("project", self.project.as_ref());
        set("category", self.category.as_ref());
        set("kind", self.kind.as_ref());
        set("detail", self.detail.as_ref());
        set("key", self.rule.as_ref());
        set("valid_from", self.since.as_ref());
        set("valid_until", self.until.as_ref());
        set("ttl", self.ttl.as_ref());
        if self.keep_without_domain {
            body["keep_without_domain"] = json!(true);
        }
        if self.rule.is_some() {
            body["force"] = json!("hard");
        }
        if let Some(value) = &self.value {
            body["value"] = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        }
        if !self.tags.is_empty() {
            body["tags"] = json!(self.tags);
        }
        Ok(body)
    }

    /// Asks the user about a domain that is closed, if the terminal is interactive.
    async fn ask_about(
        &self,
        domain: &str,
        refused: anyhow::Error,
        mut body: Value,
    ) -> anyhow::Result<Value> {
        let question = format!(
            "This is about {domain}, and you have not opened {domain} for your memory.\n\
             [o]pen {domain}, [k]eep this one without a domain, or [c]ancel? [c]"
        );
        let typed = match (self.open, self.format.json) {
            (true, _) => Some("o".to_owned()),
            (false, true) => None,
            (false, false) => ask(&question)?,
        };
        match typed.unwrap_or_default().to_lowercase().as_str() {
            "o" | "open" => open_domain(&self.server, domain).await?,
            "k" | "keep" if self.domain.is_none() => body["keep_without_domain"] = json!(true),
            _ => {
                return Err(refused.context(format!(
                    "nothing was saved: the domain {domain} is not open\n  next: repeat the command \
                     with --open or --keep-without-domain"
                )));
            }
        }
        self.server.post("/api/memory", &body).await
    }
}

/// The domain that a save was rejected for because the user has not opened it.
fn closed_domain(error: &anyhow::Error) -> Option<String> {
    let refused = error.downcast_ref::<ServerError>()?;
    let domain = refused.problem["domain"].as_str().filter(|_| refused.code == "opt_in_needed");
    domain.map(str::to_owned)
}
