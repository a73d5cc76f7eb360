//! Verifies the signature of an ID token with the keys of its issuer. The algorithms are fixed here
//! and bound to the type of the key: `none`, and those with a shared secret, do not exist.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Maximum size of an ID token.
pub const MAX_TOKEN_BYTES: usize = 64 * 1024;

/// A public key of the issuer (RFC 7517). Keys of other kinds are skipped.
#[derive(Debug, Clone, Deserialize)]
pub struct PublicKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

lukasa_core::words!(
    /// Why a token was not verified.
    TokenFault {
        Malformed = "malformed_token",
        Algorithm = "algorithm",
        /// No key of the issuer has the id that the token names. The keys may have changed.
        UnknownKey = "unknown_key",
        Signature = "signature",
    }
);

impl TokenFault {
    /// Whether the token may be signed with a key that the issuer has added since the keys were read.
    pub fn may_be_a_new_key(self) -> bool {
        matches!(self, TokenFault::UnknownKey | TokenFault::Signature)
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<Value>,
}

fn decode(text: &str) -> Result<Vec<u8>, TokenFault> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| TokenFault::Malformed)
}

/// The claims of a token that one of the keys signed.
pub fn verify(token: &str, keys: &[PublicKey]) -> Result<Map<String, Value>, TokenFault> {
    let parts: Vec<&str> = token.split('.').collect();
    let [header, payload, signature] = parts[..] else { return Err(TokenFault::Malformed) };
    if token.len() > MAX_TOKEN_BYTES {
        return Err(TokenFault::Malformed);
    }
    let header: Header =
        serde_json::from_slice(&decode(header)?).map_err(|_| TokenFault::Malformed)?;
    let algorithm = Algorithm::parse(&header.alg).ok_or(TokenFault::Algorithm)?;
    if header.crit.is_some() {
        return Err(TokenFault::Malformed);
    }
    let fits = |key: &&PublicKey| algorithm.matches_key(key, header.kid.as_deref());
    let candidates: Vec<&PublicKey> = keys.iter().filter(fits).collect();
    // Without a key id only one key can be meant.
    let key = match (&candidates[..], &header.kid) {
        ([key], _) | ([key, ..], Some(_)) => *key,
        _ => return Err(TokenFault::UnknownKey),
    };
    let signed = token.rsplit_once('.').map_or("", |(signed, _)| signed);
    if !algorithm.is_signed(key, signed.as_bytes(), &decode(signature)?) {
        return Err(TokenFault::Signature);
    }
    serde_json::from_slice(&decode(payload)?).map_err(|_| TokenFault::Malformed)
}

#[derive(Clone, Copy)]
enum Algorithm {
    Rs256,
    Ps256,
    Es256,
    EdDsa,
}

impl Algorithm {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "PS256" => Some(Self::Ps256),
            "ES256" => Some(Self::Es256),
            "EdDSA" => Some(Self::EdDsa),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// Whether a key may be used with the algorithm, and has this id.
    fn matches_key(self, key: &PublicKey, kid: Option<&str>) -> bool {
        let (kty, crv) = match self {
            Self::Rs256 | Self::Ps256 => ("RSA", None),
            Self::Es256 => ("EC", Some("P-256")),
            Self::EdDsa => ("OKP", Some("Ed25519")),
        };
        key.kty == kty
            && (crv.is_none() || key.crv.as_deref() == crv)
            && key.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
            && key.alg.as_deref().is_none_or(|alg| alg == self.name())
            && (kid.is_none() || key.kid.as_deref() == kid)
    }

    fn is_signed(self, key: &PublicKey, signed: &[u8], signature: &[u8]) -> bool {
        let part = |text: &Option<String>| text.as_deref().and_then(|text| decode(text).ok());
        match self {
            Self::Rs256 | Self::Ps256 => {
                let (Some(n), Some(e)) = (part(&key.n), part(&key.e)) else { return false };
                let algorithm = match self {
                    Self::Ps256 => &RSA_PSS_2048_8192_SHA256,
                    _ => &RSA_PKCS1_2048_8192_SHA256,
                };
                RsaPublicKeyComponents { n, e }.verify(algorithm, signed, signature).is_ok()
            }
            Self::Es256 => {
                let (Some(x), Some(y)) = (part(&key.x), part(&key.y)) else { return false };
                let point = [&[4][..], &x, &y].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(signed, signature)
                    .is_ok()
            }
            Self::EdDsa => {
                let Some(x) = part(&key.x) else { return false };
                UnparsedPublicKey::new(&ED25519, x).verify(signed, signature).is_ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    };
    use ring::{digest, hmac};
    use serde_json::json;

    use super::*;

    fn print(bytes: impl AsRef<[u8]>) -> String {
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn signed(header: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
        let text = format!("{}.{}", print(header.to_string()), print(r#"{"sub":"ada"}"#));
        format!("{text}.{}", print(sign(text.as_bytes())))
    }

    fn ed25519() -> (Ed25519KeyPair, PublicKey) {
        let seed = digest::digest(&digest::SHA256, b"a seed");
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.as_ref()).expect("a key");
        let key =
            json!({"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": print(pair.public_key())});
        (pair, serde_json::from_value(key).expect("a key"))
    }

    #[test]
    fn oidc_token_is_verified_with_the_key_of_its_id() {
        let (pair, key) = ed25519();
        let sign = |text: &[u8]| pair.sign(text).as_ref().to_vec();
        let token = signed(&json!({"alg": "EdDSA", "kid": "k1"}), sign);
        assert_eq!(verify(&token, std::slice::from_ref(&key)).expect("claims")["sub"], "ada");
        let other = signed(&json!({"alg": "EdDSA", "kid": "k2"}), sign);
        assert_eq!(verify(&other, std::slice::from_ref(&key)), Err(TokenFault::UnknownKey));
        let changed = token.replace(&print(r#"{"sub":"ada"}"#), &print(r#"{"sub":"eve"}"#));
        assert_eq!(verify(&changed, std::slice::from_ref(&key)), Err(TokenFault::Signature));
        let critical = signed(&json!({"alg": "EdDSA", "kid": "k1", "crit": ["b64"]}), sign);
        assert_eq!(verify(&critical, &[key]), Err(TokenFault::Malformed));
    }

    #[test]
    fn oidc_token_signed_with_p256_is_verified() {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("a key");
        let point = pair.public_key().as_ref();
        let key = json!({"kty": "EC", "crv": "P-256", "x": print(&point[1..33]),
                         "y": print(&point[33..])});
        let key: PublicKey = serde_json::from_value(key).expect("a key");
        let sign = |text: &[u8]| pair.sign(&random, text).expect("signed").as_ref().to_vec();
        let token = signed(&json!({"alg": "ES256"}), sign);
        assert!(verify(&token, std::slice::from_ref(&key)).is_ok());
        // Without a key id only one key can be meant.
        assert_eq!(verify(&token, &[key.clone(), key]), Err(TokenFault::UnknownKey));
    }

    #[test]
    fn oidc_token_without_signature_or_with_a_shared_secret_is_refused() {
        let (_, key) = ed25519();
        let public = decode(key.x.as_deref().expect("x")).expect("bytes");
        let keys = [key];
        for algorithm in ["none", "None", "NONE", "HS256", "HS512", "RS1", ""] {
            let header = json!({"alg": algorithm, "kid": "k1"});
            let secret = hmac::Key::new(hmac::HMAC_SHA256, &public);
            let token = signed(&header, |text| hmac::sign(&secret, text).as_ref().to_vec());
            assert_eq!(verify(&token, &keys), Err(TokenFault::Algorithm), "{algorithm}");
            let bare = signed(&header, |_| Vec::new());
            assert_eq!(verify(&bare, &keys), Err(TokenFault::Algorithm), "{algorithm}");
        }
        // An algorithm of another type of key does not find this one.
        let token = signed(&json!({"alg": "RS256", "kid": "k1"}), |_| vec![1; 256]);
        assert_eq!(verify(&token, &keys), Err(TokenFault::UnknownKey));
        for text in ["", "a.b", "a.b.c.d", "..", "e30.e30.", "eyJhbGciOiJFZERTQSJ9.e30.%%%"] {
            assert!(verify(text, &keys).is_err(), "{text}");
        }
    }
}
