//! A relay on loopback with the real protocol and its own market.
//!
//! `market` is the random market, which is repeatable by its seed; `serve` is the protocol.

pub mod market;

mod serve;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use runtime::tasks::Tasks;
use tokio::{net::TcpListener, sync::watch, time};

use self::market::{DemoMarket, RelayQuotes};

/// Grace period for the relay's tasks.
const STOP_GRACE: Duration = Duration::from_millis(100);

/// How the demo market changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarketPace {
    /// By itself: prices every other second, a block about every half minute.
    Lively {
        /// Seed of the random numbers.
        seed: u64,
    },
    /// Only by calls.
    Still,
}

/// Controls a demo: moves its market and takes its relay down, so that a user can see the clock's reaction.
#[derive(Debug, Clone)]
pub struct DemoHand {
    quotes: watch::Sender<RelayQuotes>,
    gone: watch::Sender<bool>,
}

impl DemoHand {
    pub fn find_block(&self) {
        self.quotes
            .send_modify(|quotes| quotes.height = quotes.height.saturating_add(1));
    }

    /// Moves all prices.
    pub fn jump(&self) {
        self.quotes.send_modify(RelayQuotes::jump);
    }

    /// Takes the relay down with all its connections, or brings it up again.
    pub fn set_gone(&self, gone: bool) {
        self.gone.send_replace(gone);
    }

    /// Whether the relay is down.
    pub fn is_gone(&self) -> bool {
        *self.gone.borrow()
    }
}

/// A relay on loopback; dropping it stops it.
#[derive(Debug)]
pub struct DemoRelay {
    address: SocketAddr,
    quotes: watch::Sender<RelayQuotes>,
    gone: watch::Sender<bool>,
    tasks: Tasks,
}

impl DemoRelay {
    /// Starts a relay on a free port of loopback.
    ///
    /// # Errors
    /// There is no free port.
    pub async fn start(first: RelayQuotes, pace: MarketPace) -> io::Result<DemoRelay> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let quotes = watch::Sender::new(first);
        let gone = watch::Sender::new(false);
        let mut tasks = Tasks::new();
        tasks.spawn(
            "demo relay",
            serve::serve_all(listener, quotes.clone(), gone.subscribe()),
        );
        if let MarketPace::Lively { seed } = pace {
            tasks.spawn("demo market", live(quotes.clone(), seed));
        }
        Ok(DemoRelay {
            address,
            quotes,
            gone,
            tasks,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The value of `--upstream` that selects this relay.
    pub fn upstream(&self) -> String {
        format!("relay=ws://{}", self.address)
    }

    pub fn hand(&self) -> DemoHand {
        DemoHand {
            quotes: self.quotes.clone(),
            gone: self.gone.clone(),
        }
    }

    pub fn quotes(&self) -> RelayQuotes {
        self.quotes.borrow().clone()
    }

    /// Changes the market; subscribers receive the difference.
    pub fn change(&self, change: impl FnOnce(&mut RelayQuotes)) {
        self.quotes.send_modify(change);
    }

    pub async fn stop(self) {
        self.tasks.stop(STOP_GRACE).await;
    }
}

async fn live(quotes: watch::Sender<RelayQuotes>, seed: u64) {
    let mut market = DemoMarket::new(seed);
    loop {
        time::sleep(market.pause()).await;
        quotes.send_modify(|quotes| market.step(quotes));
    }
}
