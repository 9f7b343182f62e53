//! A certificate authority for one test.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use tokio_rustls::TlsAcceptor;

/// A temporary authority and a certificate.
pub struct Authority {
    pub root: CertificateDer<'static>,
    pub root_pem: String,
    pub acceptor: TlsAcceptor,
}

/// An authority with a certificate for these names.
pub fn authority(names: &[&str]) -> Authority {
    let root_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = params.self_signed(&root_key).unwrap();
    let issuer = Issuer::new(params, root_key);
    let key = KeyPair::generate().unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let leaf = CertificateParams::new(names)
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .unwrap();
    Authority {
        root: root.der().clone(),
        root_pem: root.pem(),
        acceptor: TlsAcceptor::from(Arc::new(config)),
    }
}
