//! Check of the standby that users' indexes are loaded from.

use lukasa_engine::{ConnectOptions, standby_health};

use super::{Check, with_cause};
use crate::cli::standby::StandbyArgs;

/// A standby that is further behind has few users' latest state.
const MAX_BEHIND_BYTES: u64 = 64 << 20;

/// Whether the standby, if one is set, answers, replays the log of this primary and is not far behind.
pub async fn check(settings: &StandbyArgs, primary: &ConnectOptions) -> Option<Check> {
    const FIX: &str = "correct LUKASA_STANDBY_URL, or start that standby; until then users' indexes are \
                       loaded from the primary";
    let warn = |good, found: String| Some(Check::new("standby", good, found, FIX).or_warn());
    let standby = match settings.connect(primary) {
        Ok(standby) => standby?,
        Err(error) => return warn(false, error.to_string()),
    };
    let health = match standby_health(primary, &standby).await {
        Ok(health) => health,
        Err(error) => return warn(false, with_cause(&error)),
    };
    let behind = format!("{:.1} MB of the log are not replayed", health.behind_bytes as f64 / 1e6);
    match (health.is_of_primary, health.is_standby) {
        (false, _) => warn(false, "is of another PostgreSQL than DATABASE_URL".into()),
        (true, false) => warn(false, "is a primary, not a standby".into()),
        (true, true) => warn(health.behind_bytes <= MAX_BEHIND_BYTES, behind),
    }
}
