//! TLS to the database, with rustls and ring. The URL's `sslmode` decides whether it is used.

use std::path::Path;

use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, Result};

pub(crate) fn connector(ca_file: Option<&Path>) -> Result<MakeRustlsConnect> {
    let mut roots = rustls::RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(path) = ca_file {
        let bad = |e: &dyn std::fmt::Display| {
            Error::Configuration(format!("certificate file {}: {e}", path.display()))
        };
        let pem = std::fs::read(path).map_err(|e| bad(&e))?;
        for certificate in rustls_pemfile::certs(&mut pem.as_slice()) {
            let certificate = certificate.map_err(|e| bad(&e))?;
            roots.add(certificate).map_err(|e| bad(&e))?;
        }
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::Configuration(e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
