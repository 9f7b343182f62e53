//! The networks and the rules that differ between them.

use bitcoin::{Target, consensus::Params};

/// Blocks between two changes of the difficulty.
pub const PERIOD: u32 = 2016;

/// Seconds without a block after which a test network allows one of minimum difficulty.
const EASY_AFTER_SECS: u32 = 2 * 10 * 60;

/// Version of the first blocks.
const VERSION_FIRST: i32 = 1;

/// A network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// The main network.
    #[default]
    Main,
    /// Test network 4.
    Testnet4,
    /// The public test network with signed blocks; the signature is not part of the header.
    Signet,
    /// A private network for tests.
    Regtest,
}

impl Network {
    /// All networks.
    pub const ALL: [Network; 4] = [
        Network::Main,
        Network::Testnet4,
        Network::Signet,
        Network::Regtest,
    ];

    /// Its name in settings and texts.
    pub fn name(self) -> &'static str {
        match self {
            Network::Main => "main",
            Network::Testnet4 => "testnet4",
            Network::Signet => "signet",
            Network::Regtest => "regtest",
        }
    }

    /// Finds a network by name.
    pub fn named(name: &str) -> Option<Network> {
        Network::ALL
            .into_iter()
            .find(|network| network.name() == name)
    }

    /// The easiest target that it allows.
    pub fn limit(self) -> Target {
        self.params().max_attainable_target
    }

    /// Oldest block version that it allows at a height.
    pub(crate) fn version_min(self, height: u32) -> i32 {
        let params = self.params();
        // Each of three soft forks made the versions before it invalid (BIPs 34, 66 and 65).
        let changes = match self {
            Network::Main => [
                (params.bip34_height, 2),
                (params.bip66_height, 3),
                (params.bip65_height, 4),
            ],
            // The crate's regtest heights are obsolete: current nodes use these.
            Network::Testnet4 | Network::Signet | Network::Regtest => [(1, 2), (1, 3), (1, 4)],
        };
        let passed = changes.into_iter().filter(|(since, _)| height >= *since);
        passed.fold(VERSION_FIRST, |oldest, (_, version)| version.max(oldest))
    }

    /// Whether the difficulty changes with each period.
    pub(crate) fn retargets(self) -> bool {
        !self.params().no_pow_retargeting
    }

    /// Seconds without a block after which it allows one of minimum difficulty. `None` if never.
    pub(crate) fn easy_after(self) -> Option<u32> {
        self.params()
            .allow_min_difficulty_blocks
            .then_some(EASY_AFTER_SECS)
    }

    /// Whether BIP 94 applies: retargets use a period's first block, and a period cannot start long before the last one
    /// ended.
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
