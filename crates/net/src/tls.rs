//! Whom TLS trusts: the public authorities, compiled in, and those the owner adds.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

/// A file of certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaError {
    /// The file cannot be read, or holds no certificate in PEM form.
    #[error("no certificate in PEM form could be read: {0}")]
    Pem(#[from] rustls::pki_types::pem::Error),
    /// A certificate in the file cannot be an authority.
    #[error("a certificate cannot be used as an authority: {0}")]
    Certificate(#[from] rustls::Error),
    /// The file holds no certificate.
    #[error("the file holds no certificate")]
    Empty,
}

/// The certificates that are trusted.
#[derive(Debug, Clone)]
pub struct Roots {
    store: RootCertStore,
}

impl Roots {
    /// The public authorities.
    pub fn public() -> Roots {
        let store = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        Roots { store }
    }

    /// Trusts the authorities in a PEM file too.
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

    /// Trusts one more authority.
    ///
    /// # Errors
    /// The certificate cannot be an authority.
    pub fn and(mut self, authority: CertificateDer<'static>) -> Result<Roots, CaError> {
        self.store.add(authority)?;
        Ok(self)
    }

    /// The client's side of TLS with these authorities.
    pub(crate) fn client_config(self) -> Arc<ClientConfig> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider supports the protocol versions it was built with")
            .with_root_certificates(self.store)
            .with_no_client_auth();
        Arc::new(config)
    }
}
