//! The networks, and what differs between their rules.

use bitcoin::{Target, consensus::Params};

/// Blocks from one change of difficulty to the next.
pub const PERIOD: u32 = 2016;

/// Seconds without a block after which a test network takes an easy one.
const EASY_AFTER_SECS: u32 = 2 * 10 * 60;

/// Version of the first blocks.
const VERSION_FIRST: i32 = 1;

/// A network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// The one whose coins are worth something.
    #[default]
    Main,
    /// The public network for tests, fourth try.
    Testnet4,
    /// The public network for tests whose blocks are signed; the signature is in no header.
    Signet,
    /// A network of one's own, for tests.
    Regtest,
}

impl Network {
    /// All of them.
    pub const ALL: [Network; 4] = [
        Network::Main,
        Network::Testnet4,
        Network::Signet,
        Network::Regtest,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Network::Main => "main",
            Network::Testnet4 => "testnet4",
            Network::Signet => "signet",
            Network::Regtest => "regtest",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Network> {
        Network::ALL
            .into_iter()
            .find(|network| network.name() == name)
    }

    /// The easiest target it takes.
    pub fn limit(self) -> Target {
        self.params().max_attainable_target
    }

    /// Oldest version of a block that it takes at a height.
    pub(crate) fn version_min(self, height: u32) -> i32 {
        let params = self.params();
        // Each of three changes of the rules made the versions before it invalid (BIPs 34, 66 and 65).
        let changes = match self {
            Network::Main => [
                (params.bip34_height, 2),
                (params.bip66_height, 3),
                (params.bip65_height, 4),
            ],
            // The crate's heights of Regtest are those that nodes had given up years before.
            Network::Testnet4 | Network::Signet | Network::Regtest => [(1, 2), (1, 3), (1, 4)],
        };
        let passed = changes.into_iter().filter(|(since, _)| height >= *since);
        passed.fold(VERSION_FIRST, |oldest, (_, version)| version.max(oldest))
    }

    /// Whether its difficulty changes with each period.
    pub(crate) fn retargets(self) -> bool {
        !self.params().no_pow_retargeting
    }

    /// Seconds without a block after which it takes an easy one; none if it never does.
    pub(crate) fn easy_after(self) -> Option<u32> {
        self.params()
            .allow_min_difficulty_blocks
            .then_some(EASY_AFTER_SECS)
    }

    /// Whether difficulty changes from that of a period's first block, and no period begins long before the one before
    /// has ended (BIP 94).
    pub(crate) fn guards_timewarp(self) -> bool {
        self == Network::Testnet4
    }

    pub(crate) fn params(self) -> &'static Params {
        match self {
            Network::Main => &Params::MAINNET,
            Network::Testnet4 => &Params::TESTNET4,
            Network::Signet => &Params::SIGNET,
            Network::Regtest => &Params::REGTEST,
        }
    }
}
