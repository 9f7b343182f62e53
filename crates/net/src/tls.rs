//! TLS certificates: the public authorities, compiled in, and those that the owner adds.

use std::{path::Path, sync::Arc};

use device::secret::Secret;
use rustls::{
    ClientConfig, ConfigBuilder, RootCertStore,
    client::WantsClientCert,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

/// Why a certificate file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaError {
    /// The file cannot be read, or holds no certificate in PEM form.
    #[error("no certificate in PEM form could be read: {0}")]
    Pem(#[from] rustls::pki_types::pem::Error),
    /// A certificate in the file is not usable as an authority.
    #[error("a certificate cannot be used as an authority: {0}")]
    Certificate(#[from] rustls::Error),
    /// The file holds no certificate.
    #[error("the file holds no certificate")]
    Empty,
}

/// Why a TLS client with its own certificates cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A certificate or key is not valid PEM.
    #[error("the {0} cannot be read")]
    Unreadable(&'static str),
    /// One of them cannot be used.
    #[error("the {0} cannot be used: {1}")]
    Unusable(&'static str, rustls::Error),
}

/// Additional certificates of a connection in PEM; empty for none.
#[derive(Debug, Clone, Copy)]
pub struct Own<'a> {
    pub authorities: &'a str,
    /// Client certificate with its intermediates.
    pub certificate: &'a str,
    pub key: &'a Secret,
}

#[derive(Debug, Clone)]
pub struct TlsClient(pub(crate) Arc<ClientConfig>);

/// The trusted certificates.
#[derive(Debug, Clone)]
pub struct Roots {
    store: RootCertStore,
}

impl Roots {
    pub fn public() -> Roots {
        let store = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        Roots { store }
    }

    /// Adds the authorities of a PEM file.
    ///
    /// # Errors
    /// The file cannot be read or holds no usable certificate.
    pub fn and_file(mut self, path: &Path) -> Result<Roots, CaError> {
        let mut found = false;
        for certificate in CertificateDer::pem_file_iter(path)? {
            self.store.add(certificate?)?;
            found = true;
        }
        if found { Ok(self) } else { Err(CaError::Empty) }
    }

    /// Adds an authority.
    ///
    /// # Errors
    /// The certificate is not usable as an authority.
    pub fn and(mut self, authority: CertificateDer<'static>) -> Result<Roots, CaError> {
        self.store.add(authority)?;
        Ok(self)
    }

    /// A client configuration with these authorities.
    pub(crate) fn client_config(self) -> Arc<ClientConfig> {
        Arc::new(self.builder().with_no_client_auth())
    }

    /// A client configuration with additional authorities and a client certificate.
    pub(crate) fn own_client(mut self, own: Own<'_>) -> Result<TlsClient, TlsError> {
        for authority in certificates(own.authorities, AUTHORITY)? {
            let unusable = |error| TlsError::Unusable(AUTHORITY, error);
            self.store.add(authority).map_err(unusable)?;
        }
        let chain = certificates(own.certificate, CERTIFICATE)?;
        let builder = self.builder();
        if chain.is_empty() {
            return Ok(TlsClient(Arc::new(builder.with_no_client_auth())));
        }
        let key = PrivateKeyDer::from_pem_slice(own.key.expose().as_bytes());
        // The error is dropped, because it could contain parts of the key.
        let key = key.map_err(|_| TlsError::Unreadable(KEY))?;
        let config = builder.with_client_auth_cert(chain, key);
        let unusable = |error| TlsError::Unusable(CERTIFICATE, error);
        Ok(TlsClient(Arc::new(config.map_err(unusable)?)))
    }

    fn builder(self) -> ConfigBuilder<ClientConfig, WantsClientCert> {
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider supports the protocol versions it was built with")
            .with_root_certificates(self.store)
    }
}

const AUTHORITY: &str = "authority";
const CERTIFICATE: &str = "certificate";
const KEY: &str = "key of the certificate";

/// Parses the certificates of a PEM text.
fn certificates(pem: &str, what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    found.map_err(|_| TlsError::Unreadable(what))
}
