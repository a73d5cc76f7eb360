//! One step of a history, as plain data.
//!
//! Everything a step refers to is named by the number of the step that created it, and every time
//! is absolute. So a history can be replayed with some of its steps left out, which is how a
//! failing one is shrunk.

use std::fmt;

use lukasa_core::{Claim, Edit, Origin, Status, Tier};

/// The number of a step; it also names the memory, link and operation that the step created.
pub type No = usize;

/// A number that no step has.
pub const UNKNOWN: No = usize::MAX;

/// Instants are microseconds since the epoch, as in PostgreSQL. This one is the open end.
pub const FOREVER: i64 = i64::MAX;

/// Start of every history: 2026-01-01.
pub const START: i64 = 1_767_225_600_000_000;

pub const SECOND: i64 = 1_000_000;
pub const DAY: i64 = 86_400 * SECOND;

/// The kind of caller of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    Human,
    Key(Origin),
    Extractor(Origin),
}

impl Speaker {
    pub fn is_human(self) -> bool {
        self == Speaker::Human
    }

    pub fn extracts(self) -> bool {
        matches!(self, Speaker::Extractor(_))
    }

    pub fn origin(self) -> Origin {
        match self {
            Speaker::Human => Origin::UserSaid,
            Speaker::Key(origin) | Speaker::Extractor(origin) => origin,
        }
    }
}

/// An idempotency key: one of a few names, and the step that first sent the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub name: u8,
    pub request: No,
}

/// The `If-Match` of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    Absent,
    /// The current version.
    Fresh,
    /// Another version.
    Stale,
}

#[derive(Debug, Clone)]
pub enum Target {
    Fact(No),
    Words(String),
}

/// The content that a confirmation refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Nothing,
    TheWords,
    OtherWords,
}

#[derive(Debug, Clone)]
pub enum Answer {
    Yes { shown: Shown, edit: Box<Edit> },
    No,
}

/// A point on both axes; an absent coordinate means now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    pub valid: Option<i64>,
    pub known: Option<i64>,
}

#[derive(Debug, Clone)]
pub struct New {
    pub claim: Claim,
    pub from: Option<i64>,
    pub until: Option<i64>,
    pub confidence: Option<f32>,
    pub tier: Tier,
    pub session: Option<String>,
    pub proposal: bool,
}

#[derive(Debug, Clone)]
pub enum Action {
    Save(Box<New>),
    Change {
        target: Target,
        edit: Edit,
        effective: Option<i64>,
        confidence: Option<f32>,
    },
    Correct {
        target: Target,
        edit: Edit,
        from: Option<i64>,
        until: Option<Option<i64>>,
    },
    Forget(Target),
    Delete(Target),
    Restore(Target),
    Erase(Target),
    Confirm {
        target: Target,
        answer: Answer,
    },
    Link {
        from: Target,
        to: Target,
        relation: String,
    },
    Unlink {
        of: Target,
        link: No,
    },
    Undo(No),
    UndoLast,
    Purge,
    OptIn {
        domain: String,
        open: bool,
    },
    /// Read in pages of this size.
    List {
        status: Option<Status>,
        point: Point,
        page: usize,
    },
    Get {
        target: Target,
        point: Point,
    },
    Versions(Target),
    Links(Target),
    Log,
}

impl Action {
    pub fn name(&self) -> &'static str {
        match self {
            Action::Save(new) if new.proposal => "propose",
            Action::Save(_) => "save",
            Action::Change { .. } => "change",
            Action::Correct { .. } => "correct",
            Action::Forget(_) => "forget",
            Action::Delete(_) => "delete",
            Action::Restore(_) => "restore",
            Action::Erase(_) => "erase",
            Action::Confirm { .. } => "confirm",
            Action::Link { .. } => "link",
            Action::Unlink { .. } => "unlink",
            Action::Undo(_) => "undo",
            Action::UndoLast => "undo-last",
            Action::Purge => "purge",
            Action::OptIn { .. } => "opt-in",
            Action::List { .. } => "list",
            Action::Get { .. } => "get",
            Action::Versions(_) => "history",
            Action::Links(_) => "links",
            Action::Log => "log",
        }
    }

    pub fn reads(&self) -> bool {
        matches!(
            self,
            Action::List { .. }
                | Action::Get { .. }
                | Action::Versions(_)
                | Action::Links(_)
                | Action::Log
        )
    }

    /// The memory that an `If-Match` would be about.
    pub fn target(&self) -> Option<&Target> {
        match self {
            Action::Change { target, .. }
            | Action::Correct { target, .. }
            | Action::Forget(target)
            | Action::Delete(target)
            | Action::Restore(target)
            | Action::Erase(target)
            | Action::Confirm { target, .. } => Some(target),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Step {
    pub no: No,
    pub user: usize,
    pub speaker: Speaker,
    pub now: i64,
    pub key: Option<Key>,
    pub matching: Matching,
    pub action: Action,
}

// ---------------------------------------------------------------- transcripts

/// An instant as the distance from the start of the history.
pub struct At(pub i64);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == FOREVER {
            return write!(f, "ever");
        }
        let (sign, micros) = match self.0 - START {
            past if past < 0 => ('-', -past),
            later => ('+', later),
        };
        let (days, seconds, rest) = (micros / DAY, micros % DAY / SECOND, micros % SECOND);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{sign}{days}d{hours:02}:{minutes:02}:{seconds:02}.{rest:06}")
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Fact(UNKNOWN) => write!(f, "#none"),
            Target::Fact(no) => write!(f, "#{no}"),
            Target::Words(words) => write!(f, "{words:?}"),
        }
    }
}

fn date(f: &mut fmt::Formatter<'_>, name: &str, at: Option<i64>) -> fmt::Result {
    at.map_or(Ok(()), |at| write!(f, " {name} {}", At(at)))
}

fn edited(f: &mut fmt::Formatter<'_>, edit: &Edit) -> fmt::Result {
    let Edit { content, summary, force, domain, key, value, importance, .. } = edit;
    if let Some(content) = content {
        write!(f, " {content:?}")?;
    }
    for (name, text) in [("summary", summary), ("domain", domain), ("key", key)] {
        if let Some(text) = text {
            write!(f, " {name}={}", text.as_deref().unwrap_or("none"))?;
        }
    }
    if let Some(force) = force {
        write!(f, " {}", force.as_str())?;
    }
    if let Some(value) = value {
        write!(f, " value={}", value.as_ref().map(ToString::to_string).unwrap_or_default())?;
    }
    importance.map_or(Ok(()), |importance| write!(f, " importance={importance}"))
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        match self {
            Action::Save(new) => {
                let claim = &new.claim;
                write!(f, " {:?}", claim.content)?;
                if let (Some(domain), Some(key)) = (&claim.domain, &claim.key) {
                    let value = claim.value.as_ref().map(ToString::to_string).unwrap_or_default();
                    write!(f, " {} {domain}/{key}={value}", claim.force.as_str())?;
                } else if let Some(domain) = &claim.domain {
                    write!(f, " in {domain}")?;
                }
                date(f, "from", new.from)?;
                date(f, "until", new.until)
            }
            Action::Change { target, edit, effective, .. } => {
                write!(f, " {target}")?;
                edited(f, edit)?;
                date(f, "effective", *effective)
            }
            Action::Correct { target, edit, from, until } => {
                write!(f, " {target}")?;
                edited(f, edit)?;
                date(f, "from", *from)?;
                date(f, "until", until.map(|until| until.unwrap_or(FOREVER)))
            }
            Action::Forget(target)
            | Action::Delete(target)
            | Action::Restore(target)
            | Action::Erase(target)
            | Action::Versions(target)
            | Action::Links(target) => write!(f, " {target}"),
            Action::Confirm { target, answer: Answer::No } => write!(f, " {target} no"),
            Action::Confirm { target, answer: Answer::Yes { shown, edit } } => {
                write!(f, " {target} yes, shown {shown:?}")?;
                edited(f, edit)
            }
            Action::Link { from, to, relation } => write!(f, " {from} {relation} {to}"),
            Action::Unlink { of, link } => write!(f, " {of} link {}", Target::Fact(*link)),
            Action::Undo(operation) => write!(f, " {}", Target::Fact(*operation)),
            Action::OptIn { domain, open } => {
                write!(f, " {} {domain}", if *open { "open" } else { "shut" })
            }
            Action::List { status, point, page } => {
                write!(f, " {} by {page}", status.map_or("any", Status::as_str))?;
                date(f, "valid", point.valid)?;
                date(f, "known", point.known)
            }
            Action::Get { target, point } => {
                write!(f, " {target}")?;
                date(f, "valid", point.valid)?;
                date(f, "known", point.known)
            }
            Action::Purge | Action::UndoLast | Action::Log => Ok(()),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let speaker = match self.speaker {
            Speaker::Human => "human".to_owned(),
            Speaker::Key(origin) => format!("key/{}", origin.as_str()),
            Speaker::Extractor(origin) => format!("extractor/{}", origin.as_str()),
        };
        write!(
            f,
            "#{:<2} {} user {} {speaker}: {}",
            self.no,
            At(self.now),
            self.user,
            self.action
        )?;
        if let Some(key) = self.key {
            write!(f, " [key {} of #{}]", key.name, key.request)?;
        }
        match self.matching {
            Matching::Absent => Ok(()),
            other => write!(f, " [if-match {other:?}]"),
        }
    }
}
