//! `OpenID` Connect: what the claims of an ID token mean here, and when they are accepted. The
//! signature is verified before; the protocol is the server's.

use serde_json::{Map, Value};

use crate::limits::NAME_CHARS;
use crate::secret::constant_time_eq;
use crate::time::Timestamp;
use crate::words;

/// How far the clocks of provider and server may differ, in seconds.
pub const CLOCK_SKEW_SECONDS: i64 = 60;
/// How old a new ID token may be, in seconds: it is requested right before.
pub const MAX_AGE_SECONDS: i64 = 600;
/// Claims that users of most providers can edit themselves. They give no role and name no user.
const EDITABLE: [&str; 16] = [
    "name",
    "given_name",
    "family_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "phone_number",
    "address",
    "updated_at",
];

words!(
    /// Why an ID token is not accepted. The word is in the log.
    ClaimFault {
        Issuer = "issuer",
        Audience = "audience",
        AuthorizedParty = "authorized_party",
        Expired = "expired",
        NotYet = "not_yet_valid",
        TooOld = "too_old",
        Nonce = "nonce",
        Subject = "subject",
        User = "user_claim",
        UnverifiedEmail = "unverified_email",
        NotAllowed = "not_allowed",
    }
);

/// What an ID token has to be for.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedToken<'e> {
    pub issuer: &'e str,
    pub client_id: &'e str,
    /// The nonce of the request that the browser began.
    pub nonce: &'e str,
}

/// The allowed value that means every user of the provider.
const EVERYONE: &str = "*";

/// Which claims name the user and give roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRules {
    pub user_claim: String,
    /// What precedes the claim in the name of the user, so that ids of the provider and of an
    /// application do not name the same user by chance.
    pub user_prefix: String,
    pub role_claim: Option<String>,
    /// Values of the role claim that make an administrator of the tenant.
    pub admin_values: Vec<String>,
    /// One of them, or of the values for administrators, is needed to sign in; `*` is everyone.
    pub allowed_values: Vec<String>,
}

impl ClaimRules {
    /// Why these rules would not be safe or have no effect.
    pub fn fault(&self) -> Option<String> {
        let role = self.role_claim.as_deref();
        for claim in [Some(self.user_claim.as_str()), role].into_iter().flatten() {
            if claim.is_empty() || EDITABLE.contains(&claim) {
                return Some(format!("the claim {claim:?} can be set by the user"));
            }
        }
        if matches!(role, Some("email" | "sub")) {
            return Some("the role claim names a user and not a role".into());
        }
        let allows_roles = self.allowed_values.iter().any(|value| value != EVERYONE);
        let has_values = !self.admin_values.is_empty() || allows_roles;
        if self.admin_values.is_empty() && self.allowed_values.is_empty() {
            return Some("no role may sign in, and not everyone (`*`)".into());
        }
        if self.user_prefix.trim() != self.user_prefix
            || self.user_prefix.contains(char::is_control)
        {
            return Some(
                "the user prefix begins or ends with whitespace, or has a control character".into(),
            );
        }
        match (role, has_values) {
            (None, true) => Some("values of a role need the role claim".into()),
            (Some(_), false) => Some("the role claim needs values".into()),
            _ => None,
        }
    }
}

/// A user whom the provider identified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedIdentity {
    /// The name of the user in the tenant.
    pub user: String,
    pub admin: bool,
}

/// Checks the claims of an ID token whose signature was verified (OpenID Connect Core, 3.1.3.7).
pub fn check_claims(
    claims: &Map<String, Value>,
    expected: ExpectedToken<'_>,
    now: Timestamp,
) -> Result<(), ClaimFault> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    // Numbers may have a fraction (RFC 7519); whole seconds are enough here.
    #[expect(clippy::cast_possible_truncation, reason = "a number out of range saturates")]
    let seconds = |name: &str| claims.get(name).and_then(Value::as_f64).map(|at| at as i64);
    if text("iss") != Some(expected.issuer) {
        return Err(ClaimFault::Issuer);
    }
    let audiences: Vec<&Value> = match claims.get("aud") {
        Some(Value::Array(all)) => all.iter().collect(),
        one => one.into_iter().collect(),
    };
    if !audiences.iter().any(|audience| audience.as_str() == Some(expected.client_id)) {
        return Err(ClaimFault::Audience);
    }
    let party = claims.get("azp");
    let needs_party = audiences.len() > 1;
    let is_party = party.and_then(Value::as_str) == Some(expected.client_id);
    if (needs_party || party.is_some()) && !is_party {
        return Err(ClaimFault::AuthorizedParty);
    }
    let now = now.as_second();
    if seconds("exp").is_none_or(|end| end <= now - CLOCK_SKEW_SECONDS) {
        return Err(ClaimFault::Expired);
    }
    let Some(issued) = seconds("iat") else { return Err(ClaimFault::TooOld) };
    let starts = seconds("nbf").unwrap_or(issued).max(issued);
    if starts > now + CLOCK_SKEW_SECONDS || claims.get("nbf").is_some_and(|at| !at.is_number()) {
        return Err(ClaimFault::NotYet);
    }
    if issued < now - MAX_AGE_SECONDS - CLOCK_SKEW_SECONDS {
        return Err(ClaimFault::TooOld);
    }
    let nonce = text("nonce").unwrap_or_default();
    if !constant_time_eq(nonce.as_bytes(), expected.nonce.as_bytes()) {
        return Err(ClaimFault::Nonce);
    }
    if text("sub").is_none_or(|subject| subject.is_empty() || subject.len() > NAME_CHARS) {
        return Err(ClaimFault::Subject);
    }
    Ok(())
}

/// The user and the role that checked claims give.
pub fn identify(
    claims: &Map<String, Value>,
    rules: &ClaimRules,
) -> Result<VerifiedIdentity, ClaimFault> {
    let user = claims.get(&rules.user_claim).and_then(Value::as_str).unwrap_or_default();
    let is_long = (rules.user_prefix.chars().count() + user.chars().count()) > NAME_CHARS;
    if user.trim() != user || user.is_empty() || is_long || user.chars().any(char::is_control) {
        return Err(ClaimFault::User);
    }
    // Only the boolean counts: some providers let users set an unverified address.
    let is_verified = claims.get("email_verified") == Some(&Value::Bool(true));
    if rules.user_claim == "email" && !is_verified {
        return Err(ClaimFault::UnverifiedEmail);
    }
    let user = if rules.user_claim == "email" { user.to_lowercase() } else { user.to_owned() };
    let user = format!("{}{user}", rules.user_prefix);
    let roles: Vec<&str> = match rules.role_claim.as_ref().and_then(|name| claims.get(name)) {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        one => one.and_then(Value::as_str).into_iter().collect(),
    };
    let has = |values: &[String]| values.iter().any(|value| roles.contains(&value.as_str()));
    let admin = has(&rules.admin_values);
    let is_everyone = rules.allowed_values.iter().any(|value| value == EVERYONE);
    if !is_everyone && !admin && !has(&rules.allowed_values) {
        return Err(ClaimFault::NotAllowed);
    }
    Ok(VerifiedIdentity { user, admin })
}

/// A path of this server to open after the sign-in; anything that could lead elsewhere is replaced.
pub fn own_path(to: Option<&str>) -> &str {
    let is_own = |path: &&str| {
        let second = path.as_bytes().get(1);
        path.starts_with('/')
            && !matches!(second, Some(b'/' | b'\\'))
            && path.len() <= 1_024
            && path.bytes().all(|b| b.is_ascii_graphic() && b != b'\\' && b != b'"' && b != b';')
    };
    to.filter(is_own).unwrap_or("/memory")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const EXPECTED: ExpectedToken<'_> =
        ExpectedToken { issuer: "https://id.example", client_id: "lukasa", nonce: "n1" };

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).expect("a time")
    }

    fn claims(changes: &Value) -> Map<String, Value> {
        let mut claims = json!({
            "iss": "https://id.example", "aud": "lukasa", "exp": 1_800_000_300, "iat": 1_800_000_000,
            "nonce": "n1", "sub": "248289761001", "email": "Ada@Example.org", "email_verified": true,
        });
        for (name, value) in changes.as_object().expect("an object") {
            match value {
                Value::Null => claims.as_object_mut().expect("an object").remove(name),
                value => {
                    claims.as_object_mut().expect("an object").insert(name.clone(), value.clone())
                }
            };
        }
        claims.as_object().expect("an object").clone()
    }

    fn rules(user: &str, role: Option<&str>) -> ClaimRules {
        let values = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect();
        ClaimRules {
            user_claim: user.into(),
            user_prefix: String::new(),
            role_claim: role.map(str::to_owned),
            admin_values: role.map_or_else(Vec::new, |_| values(&["memory-admins"])),
            allowed_values: values(&["*"]),
        }
    }

    #[test]
    fn oidc_claims_of_another_issuer_client_time_or_request_are_refused() {
        let check = |changes: Value| check_claims(&claims(&changes), EXPECTED, now());
        assert_eq!(check(json!({})), Ok(()));
        assert_eq!(check(json!({"aud": ["lukasa", "other"], "azp": "lukasa"})), Ok(()));
        assert_eq!(check(json!({"exp": 1_800_000_300.25, "iat": 1_800_000_000.75})), Ok(()));
        for (changes, fault) in [
            (json!({"iss": "https://id.example/"}), ClaimFault::Issuer),
            (json!({"iss": null}), ClaimFault::Issuer),
            (json!({"aud": "other"}), ClaimFault::Audience),
            (json!({"aud": []}), ClaimFault::Audience),
            (json!({"aud": null}), ClaimFault::Audience),
            (json!({"aud": ["lukasa", "other"]}), ClaimFault::AuthorizedParty),
            (json!({"azp": "other"}), ClaimFault::AuthorizedParty),
            (json!({"exp": 1_799_999_940}), ClaimFault::Expired),
            (json!({"exp": "1800000300"}), ClaimFault::Expired),
            (json!({"exp": null}), ClaimFault::Expired),
            (json!({"iat": 1_800_000_061}), ClaimFault::NotYet),
            (json!({"nbf": 1_800_000_061}), ClaimFault::NotYet),
            (json!({"nbf": 1_800_000_061.5}), ClaimFault::NotYet),
            (json!({"nbf": "0"}), ClaimFault::NotYet),
            (json!({"iat": 1_799_999_339}), ClaimFault::TooOld),
            (json!({"iat": null}), ClaimFault::TooOld),
            (json!({"nonce": "n2"}), ClaimFault::Nonce),
            (json!({"nonce": null}), ClaimFault::Nonce),
            (json!({"sub": ""}), ClaimFault::Subject),
        ] {
            assert_eq!(check(changes.clone()), Err(fault), "{changes}");
        }
    }

    #[test]
    fn oidc_user_is_named_by_the_subject_or_a_verified_address() {
        let name = |changes: Value, rules: &ClaimRules| {
            identify(&claims(&changes), rules).map(|identity| identity.user)
        };
        assert_eq!(name(json!({}), &rules("sub", None)).as_deref(), Ok("248289761001"));
        let email = rules("email", None);
        assert_eq!(name(json!({}), &email).as_deref(), Ok("ada@example.org"));
        for unverified in [json!(false), json!("true"), json!(1), Value::Null] {
            let changes = json!({"email_verified": unverified});
            assert_eq!(name(changes, &email), Err(ClaimFault::UnverifiedEmail));
        }
        let prefixed = ClaimRules { user_prefix: "id.example|".into(), ..rules("sub", None) };
        assert_eq!(name(json!({}), &prefixed).as_deref(), Ok("id.example|248289761001"));
        assert_eq!(name(json!({"sub": "a\nb"}), &rules("sub", None)), Err(ClaimFault::User));
        assert_eq!(name(json!({"sub": 7}), &rules("sub", None)), Err(ClaimFault::User));
    }

    #[test]
    fn oidc_role_comes_only_from_the_configured_claim() {
        let mut with_role = rules("sub", Some("groups"));
        let admin = |changes: Value, rules: &ClaimRules| {
            identify(&claims(&changes), rules).map(|identity| identity.admin)
        };
        assert_eq!(admin(json!({"groups": ["staff", "memory-admins"]}), &with_role), Ok(true));
        assert_eq!(admin(json!({"groups": "memory-admins"}), &with_role), Ok(true));
        for other in [
            json!({}),
            json!({"groups": ["memory-admins2"]}),
            json!({"groups": {"memory-admins": true}}),
            json!({"role": "memory-admins", "admin": true, "nickname": "memory-admins"}),
        ] {
            assert_eq!(admin(other.clone(), &with_role), Ok(false), "{other}");
        }
        with_role.allowed_values = vec!["staff".into()];
        assert_eq!(admin(json!({"groups": ["staff"]}), &with_role), Ok(false));
        assert_eq!(admin(json!({"groups": ["guests"]}), &with_role), Err(ClaimFault::NotAllowed));
        // Claims that users can set are refused as settings.
        for claim in ["nickname", "preferred_username", "email", ""] {
            assert!(rules("sub", Some(claim)).fault().is_some(), "{claim}");
        }
        assert!(rules("preferred_username", None).fault().is_some());
        let unrestricted = ClaimRules { allowed_values: Vec::new(), ..rules("sub", None) };
        assert!(unrestricted.fault().is_some());
        assert_eq!(rules("sub", None).fault(), None);
        assert_eq!(rules("email", Some("groups")).fault(), None);
    }

    #[test]
    fn oidc_sign_in_leads_to_no_other_host() {
        assert_eq!(own_path(Some("/review?x=1")), "/review?x=1");
        for to in
            ["//evil.example", "/\\evil.example", "https://evil.example", "", "x", "/a b", "/\n/"]
        {
            assert_eq!(own_path(Some(to)), "/memory", "{to}");
        }
    }
}
