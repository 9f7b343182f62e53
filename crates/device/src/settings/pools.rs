//! The catalogue of mining pools as far as the core cares; requests and parsers live in `feeds`.

use alloc::vec::Vec;

/// What the core must know of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSpec {
    /// Id of the pool.
    pub id: &'static str,
    /// What its user field holds.
    pub user: UserField,
    /// Publishes a daily figure for the earnings screen.
    pub earnings: bool,
    /// Can show pool-wide figures, which need no user.
    pub global: bool,
}

/// What the user field of a pool holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserField {
    /// An address or a name, which is public.
    Name,
    /// A token. GET shows it, as the interface says; everywhere else it is a secret.
    Token,
    /// An API key, which is a secret.
    ApiKey,
}

const fn pool(id: &'static str) -> PoolSpec {
    PoolSpec {
        id,
        user: UserField::Name,
        earnings: false,
        global: false,
    }
}

/// The pool of a fresh clock.
pub const DEFAULT: &str = "noderunners";

/// The pool that owners run themselves.
pub const SELF_HOSTED: &str = "local_public_pool";

/// All pools, in the order in which they are offered.
pub const POOLS: &[PoolSpec] = &[
    PoolSpec {
        earnings: true,
        ..pool("ocean")
    },
    PoolSpec {
        global: true,
        ..pool(DEFAULT)
    },
    PoolSpec {
        global: true,
        ..pool("satoshi_radio")
    },
    PoolSpec {
        user: UserField::Token,
        earnings: true,
        ..pool("braiins")
    },
    pool("public_pool"),
    pool(SELF_HOSTED),
    pool("gobrrr_pool"),
    pool("ckpool"),
    pool("eu_ckpool"),
    pool("nerdminers_org"),
    pool("nerdminer_io"),
    PoolSpec {
        user: UserField::ApiKey,
        earnings: true,
        ..pool("foundry_usa")
    },
    PoolSpec {
        user: UserField::ApiKey,
        ..pool("viabtc")
    },
];

/// Looks up a pool by its id, ignoring ASCII case.
pub fn find(id: &str) -> Option<&'static PoolSpec> {
    POOLS.iter().find(|pool| pool.id.eq_ignore_ascii_case(id))
}

/// Ids of all pools.
pub fn ids() -> Vec<&'static str> {
    POOLS.iter().map(|pool| pool.id).collect()
}
