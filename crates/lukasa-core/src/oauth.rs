//! Rules of OAuth 2.1 for assistants that connect by URL: which addresses an answer may be sent to,
//! which scopes exist, and the proof key. No endpoint, no credential and no text for users is here.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lukasa_text::line;
use sha2::{Digest, Sha256};
use url::{Host, Url};

use crate::Permission;

/// The permissions that a connector can have. Each is a scope of the same name.
pub const SCOPES: [Permission; 3] = [Permission::Read, Permission::Write, Permission::Propose];
/// Requested by clients that want a refresh token. Every client gets one.
const OFFLINE_SCOPE: &str = "offline_access";
/// Maximum length of the name of a client.
const NAME_CHARS: usize = 80;
/// Maximum number of redirect addresses of a client.
const MAX_REDIRECT_URIS: usize = 10;
/// Maximum length of a redirect address, and of all of a client together.
const REDIRECT_URI_BYTES: usize = 512;
const REDIRECT_URIS_BYTES: usize = 2_048;

/// What a client registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthClient {
    /// The name it gave itself, as one line. Any client can give itself any name.
    pub name: String,
    pub redirect_uris: Vec<String>,
}

impl OAuthClient {
    /// Checks the metadata of a client; the error says what is wrong with a redirect address.
    pub fn register(
        name: Option<&str>,
        redirect_uris: Vec<String>,
    ) -> Result<Self, InvalidRedirectUri> {
        let bytes: usize = redirect_uris.iter().map(String::len).sum();
        if !(1..=MAX_REDIRECT_URIS).contains(&redirect_uris.len()) || bytes > REDIRECT_URIS_BYTES {
            return Err(InvalidRedirectUri("1 to 10 addresses, 2048 bytes together"));
        }
        let mut hosts = Vec::new();
        for text in &redirect_uris {
            hosts.push(RedirectUri::parse(text)?.host());
        }
        let name = line::harmless_start(name.unwrap_or_default(), NAME_CHARS);
        let name = if line::is_visible(&name) { name } else { hosts.swap_remove(0) };
        Ok(Self { name, redirect_uris })
    }

    /// The address to answer to, if the client registered it. The port of an address on the user's
    /// own machine may be another one (RFC 8252); everything else must be the same text.
    pub fn redirect_uri(&self, requested: &str) -> Option<RedirectUri> {
        let parsed = RedirectUri::parse(requested).ok()?;
        let matches = |registered: &String| {
            registered == requested
                || RedirectUri::parse(registered).is_ok_and(|known| known.differs_in_port(&parsed))
        };
        self.redirect_uris.iter().any(matches).then_some(parsed)
    }
}

/// What is wrong with a redirect address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidRedirectUri(pub &'static str);

/// An address that an authorization answer may be sent to: `https`, or `http` on the user's own
/// machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectUri(Url);

impl RedirectUri {
    pub fn parse(text: &str) -> Result<Self, InvalidRedirectUri> {
        if text.len() > REDIRECT_URI_BYTES {
            return Err(InvalidRedirectUri("a redirect address has at most 512 bytes"));
        }
        let url = Url::parse(text);
        let url = url.map_err(|_| InvalidRedirectUri("a redirect address must be a URL"))?;
        // An address that parsers read differently is refused: it could name another host.
        let is_canonical = url.as_str() == text || url.as_str().strip_suffix('/') == Some(text);
        if !is_canonical || !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidRedirectUri("a redirect address must be in its canonical form"));
        }
        if url.fragment().is_some() {
            return Err(InvalidRedirectUri("a redirect address must have no fragment"));
        }
        let known = Self(url);
        if known.0.scheme() != "https" && !known.is_loopback() {
            let what = "a redirect address must be https, or http on localhost, 127.0.0.1 or [::1]";
            return Err(InvalidRedirectUri(what));
        }
        Ok(known)
    }

    /// Whether it is a program on the user's own machine, reached without TLS.
    pub fn is_loopback(&self) -> bool {
        let is_local_host = match self.0.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip == std::net::Ipv4Addr::LOCALHOST,
            Some(Host::Ipv6(ip)) => ip == std::net::Ipv6Addr::LOCALHOST,
            None => false,
        };
        self.0.scheme() == "http" && is_local_host
    }

    fn differs_in_port(&self, other: &Self) -> bool {
        let without_port = |uri: &Self| {
            let mut url = uri.0.clone();
            let _ = url.set_port(None);
            url
        };
        self.is_loopback() && other.is_loopback() && without_port(self) == without_port(other)
    }

    /// The host, with its port if it has one.
    pub fn host(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        self.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The source expression with which a content security policy allows a form to end there.
    pub fn policy_source(&self) -> String {
        match self.0.host() {
            // A policy cannot name an IPv6 address.
            Some(Host::Ipv6(_)) => format!("{}:", self.0.scheme()),
            _ => self.0.origin().ascii_serialization(),
        }
    }

    /// The address with these parameters added.
    pub fn with_params(&self, params: &[(&str, &str)]) -> String {
        let mut url = self.0.clone();
        url.query_pairs_mut().extend_pairs(params);
        url.into()
    }
}

/// The parameters of a request, from a query or a form.
pub struct RequestParams(Vec<(String, String)>);

impl RequestParams {
    pub fn parse(text: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(text).into_owned().collect())
    }

    /// The parameters with these names, as a query in one canonical form.
    pub fn query(&self, names: &[&str]) -> String {
        let known = self.0.iter().filter(|(name, _)| names.contains(&name.as_str()));
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(known).finish()
    }

    /// The value of a parameter; an empty one counts as absent. The error names a parameter that
    /// occurs more than once, which OAuth forbids.
    pub fn get<'p>(&'p self, name: &'p str) -> Result<Option<&'p str>, &'p str> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
        let first = values.next();
        match values.next() {
            Some(_) => Err(name),
            None => Ok(first.map(String::as_str).filter(|value| !value.is_empty())),
        }
    }
}

/// The permissions of a requested scope; all of [`SCOPES`] if none is requested. The error is a
/// scope that no connector can have.
pub fn parse_scope(text: Option<&str>) -> Result<Vec<Permission>, &str> {
    let words = text.unwrap_or_default().split(' ');
    let mut list = Vec::new();
    for word in words.filter(|word| !word.is_empty() && *word != OFFLINE_SCOPE) {
        let known = SCOPES.into_iter().find(|permission| permission.as_str() == word);
        list.push(known.ok_or(word)?);
    }
    list.sort_unstable();
    list.dedup();
    Ok(if list.is_empty() { SCOPES.to_vec() } else { list })
}

/// The scope with these permissions.
pub fn print_scope(permissions: &[Permission]) -> String {
    permissions.iter().map(|permission| permission.as_str()).collect::<Vec<_>>().join(" ")
}

/// Whether a text has the form of a PKCE challenge of the method S256: 32 bytes in base64url.
pub fn is_challenge(text: &str) -> bool {
    text.len() == 43 && URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == 32)
}

/// Whether a PKCE verifier belongs to a challenge of the method S256.
pub fn meets_challenge(verifier: &str, challenge: &str) -> bool {
    let is_unreserved = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    let has_form = (43..=128).contains(&verifier.len()) && verifier.bytes().all(is_unreserved);
    has_form && URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())) == challenge
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oauth_redirect_uris_are_https_or_loopback() {
        for good in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://app.example/cb?x=1",
            "https://app.example",
            "http://localhost:4321/callback",
            "http://127.0.0.1/cb",
            "http://[::1]:99/cb",
        ] {
            assert!(RedirectUri::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/cb",
            "//app.example/cb",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "cursor://callback",
            "http://app.example/cb",
            "http://localhost.evil.example/cb",
            "http://127.0.0.1.nip.io/cb",
            "http://10.0.0.1/cb",
            "https://app.example/cb#x",
            "https://app.example/cb#",
            "https://good.example@evil.example/cb",
            "https://user:pass@app.example/cb",
            "https:\\\\app.example\\cb",
            "https://APP.example/cb",
            "https://app.example/a/../cb",
            "https://app.example/\tcb",
            " https://app.example/cb",
            "http://localhost:80/cb",
        ] {
            assert!(RedirectUri::parse(bad).is_err(), "{bad}");
        }
        let long = format!("https://app.example/{}", "x".repeat(600));
        assert!(RedirectUri::parse(&long).is_err());
    }

    #[test]
    fn oauth_redirect_uri_is_matched_exactly_except_for_loopback_ports() {
        let uris = ["https://app.example/cb", "http://127.0.0.1:1/cb", "http://localhost/cb"];
        let uris = uris.map(str::to_owned).to_vec();
        let client = OAuthClient::register(Some("App"), uris).unwrap();
        for good in [
            "https://app.example/cb",
            "http://127.0.0.1:1/cb",
            "http://127.0.0.1:54321/cb",
            "http://localhost:9/cb",
        ] {
            assert!(client.redirect_uri(good).is_some(), "{good}");
        }
        for bad in [
            "https://app.example/cb/",
            "https://app.example/cb?x",
            "https://app.example:8443/cb",
            "https://evil.example/cb",
            "https://app.example.evil.example/cb",
            "http://127.0.0.1:1/other",
            "http://[::1]:1/cb",
            "http://localhost:9/cb?x=1",
            "https://localhost:9/cb",
        ] {
            assert!(client.redirect_uri(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn oauth_client_name_is_one_visible_line() {
        let uris = || vec!["https://app.example/cb".to_owned()];
        let name = |name: Option<&str>| OAuthClient::register(name, uris()).unwrap().name;
        assert_eq!(name(Some("My\n app")), "My app");
        assert!(!name(Some("<script>alert(1)</script>")).contains('<'));
        assert!(!name(Some("a\u{202e}b")).contains('\u{202e}'));
        assert_eq!(name(Some("x".repeat(500).as_str())).chars().count(), NAME_CHARS + 1);
        for none in [None, Some(""), Some(" \u{200b}")] {
            assert_eq!(name(none), "app.example");
        }
        assert!(OAuthClient::register(Some("x"), Vec::new()).is_err());
        assert!(OAuthClient::register(Some("x"), vec![uris().remove(0); 11]).is_err());
    }

    #[test]
    fn oauth_scopes_never_contain_administration() {
        assert_eq!(parse_scope(None), Ok(SCOPES.to_vec()));
        assert_eq!(parse_scope(Some("read offline_access read")), Ok(vec![Permission::Read]));
        for bad in ["admin", "read admin", "erase", "chat", "READ", "read,write", "*"] {
            assert!(parse_scope(Some(bad)).is_err(), "{bad}");
        }
        assert_eq!(print_scope(&SCOPES), "read write propose");
    }

    #[test]
    fn oauth_verifier_meets_only_its_own_challenge() {
        // The example of RFC 7636.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert!(is_challenge(challenge) && meets_challenge(verifier, challenge));
        assert!(!meets_challenge(challenge, challenge) && !meets_challenge("", challenge));
        assert!(!meets_challenge(&verifier[1..], challenge));
        assert!(
            !is_challenge("") && !is_challenge(&"x".repeat(42)) && !is_challenge(&"=".repeat(43))
        );
    }

    #[test]
    fn oauth_repeated_parameter_is_an_error() {
        let params = RequestParams::parse(b"a=1&b=2&b=3&c=&d=x%20y+z");
        assert_eq!(params.get("a"), Ok(Some("1")));
        assert_eq!(params.get("b"), Err("b"));
        assert_eq!((params.get("c"), params.get("e")), (Ok(None), Ok(None)));
        assert_eq!(params.get("d"), Ok(Some("x y z")));
        assert_eq!(params.query(&["a", "d"]), "a=1&d=x+y+z");
    }

    #[test]
    fn oauth_answer_is_added_to_the_query_of_the_redirect_uri() {
        let uri = RedirectUri::parse("https://app.example/cb?x=1").unwrap();
        let address = uri.with_params(&[("code", "c"), ("state", "a&b=c#d")]);
        assert_eq!(address, "https://app.example/cb?x=1&code=c&state=a%26b%3Dc%23d");
        assert_eq!(uri.policy_source(), "https://app.example");
        let uri = RedirectUri::parse("http://[::1]:7/cb").unwrap();
        assert_eq!((uri.policy_source().as_str(), uri.host().as_str()), ("http:", "[::1]:7"));
    }
}
