//! The catalogue of mining pools; the `feeds` crate has their requests and parsers.

use alloc::vec::Vec;

/// A mining pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSpec {
    /// Id of the pool.
    pub id: &'static str,
    /// Name of the pool as its operator writes it.
    pub name: &'static str,
    /// Content of its user field.
    pub user: UserField,
    /// Publishes a daily figure for the earnings screen.
    pub earnings: bool,
    /// Has pool-wide figures, which need no user.
    pub global: bool,
}

/// Content of the user field of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserField {
    /// An address or a name, which is public.
    Name,
    /// A token. GET shows it by the interface; everywhere else it is a secret.
    Token,
    /// An API key, a secret.
    ApiKey,
}

impl UserField {
    /// Label of the field in a form.
    pub fn label(self) -> &'static str {
        match self {
            UserField::Name => "Bitcoin address",
            UserField::Token => "Access token",
            UserField::ApiKey => "API key",
        }
    }
}

const fn pool(id: &'static str, name: &'static str) -> PoolSpec {
    PoolSpec {
        id,
        name,
        user: UserField::Name,
        earnings: false,
        global: false,
    }
}

/// The default pool.
pub const DEFAULT: &str = "noderunners";

/// The self-hosted pool.
pub const SELF_HOSTED: &str = "local_public_pool";

/// All pools in display order.
pub const POOLS: &[PoolSpec] = &[
    PoolSpec {
        earnings: true,
        ..pool("ocean", "OCEAN")
    },
    PoolSpec {
        global: true,
        ..pool(DEFAULT, "Noderunners")
    },
    PoolSpec {
        global: true,
        ..pool("satoshi_radio", "Satoshi Radio")
    },
    PoolSpec {
        user: UserField::Token,
        earnings: true,
        ..pool("braiins", "Braiins Pool")
    },
    pool("public_pool", "Public Pool"),
    pool(SELF_HOSTED, "Public Pool (self-hosted)"),
    pool("gobrrr_pool", "goBrrr Pool"),
    pool("ckpool", "CKPool Solo"),
    pool("eu_ckpool", "CKPool Solo EU"),
    pool("nerdminers_org", "NerdMiners.org"),
    pool("nerdminer_io", "NerdMiner.io"),
    PoolSpec {
        user: UserField::ApiKey,
        earnings: true,
        ..pool("foundry_usa", "Foundry USA Pool")
    },
    PoolSpec {
        user: UserField::ApiKey,
        ..pool("viabtc", "ViaBTC")
    },
];

/// Finds a pool by its id, ignoring ASCII case.
pub fn find(id: &str) -> Option<&'static PoolSpec> {
    POOLS.iter().find(|pool| pool.id.eq_ignore_ascii_case(id))
}

/// Ids of all pools.
pub fn ids() -> Vec<&'static str> {
    POOLS.iter().map(|pool| pool.id).collect()
}

/// Names of all pools, in the same order.
pub fn names() -> Vec<&'static str> {
    POOLS.iter().map(|pool| pool.name).collect()
}
