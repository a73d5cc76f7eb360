//! The user's time zone, which is itself a memory: the hard one under `personal/timezone`.

use jiff::tz::TimeZone;
use lukasa_core::{Timestamp, Version};
use lukasa_store::{Scope, fact};

use crate::error::Result;

/// The domain and the key of the hard fact that remembers the user's time zone.
pub(crate) const ZONE_DOMAIN: &str = "personal";
pub(crate) const ZONE_KEY: &str = "timezone";

/// The memory with the user's time zone.
pub(crate) async fn timezone_version(scope: &Scope, now: Timestamp) -> Result<Option<Version>> {
    Ok(fact::value_of_key(scope, ZONE_DOMAIN, ZONE_KEY, now).await?)
}

/// The user's time zone, if one is remembered.
pub(crate) async fn remembered_zone(scope: &Scope, now: Timestamp) -> Result<Option<TimeZone>> {
    Ok(timezone_version(scope, now).await?.as_ref().and_then(zone_of))
}

/// The time zone that a version remembers.
pub(crate) fn zone_of(version: &Version) -> Option<TimeZone> {
    TimeZone::get(version.claim.value.as_ref()?.as_str()?).ok()
}
