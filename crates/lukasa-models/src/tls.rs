//! The one HTTP client builder of this crate, and the TLS behind it: rustls with ring.

use reqwest::ClientBuilder;
use reqwest::redirect::Policy;

/// Makes ring the process's provider of cryptography. Safe to call again, and keeps a provider that
/// was installed elsewhere. Without one, building any `reqwest` client panics, even one that only
/// uses plain HTTP.
pub fn install() {
    // An error means that a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client for `url` that follows no redirect and unpacks nothing: a limit on bytes would mean
/// little if few bytes could unpack to many. Only `https` loads the certificates that the machine
/// trusts: a bare container has none, and needs none for plain HTTP.
pub fn client(url: &str) -> ClientBuilder {
    install();
    let builder = ClientBuilder::new().redirect(Policy::none());
    let builder = builder.no_gzip().no_brotli().no_zstd().no_deflate();
    if url.starts_with("https:") { builder } else { builder.tls_certs_only([]) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn http_clients_are_built_for_both_schemes() {
        for url in ["https://models.example", "http://127.0.0.1", "https://models.example"] {
            assert!(super::client(url).build().is_ok(), "{url}");
        }
    }
}
