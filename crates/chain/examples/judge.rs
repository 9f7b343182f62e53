//! Validates headers line by line, so that the results can be compared with those of another implementation.
//!
//!     judge NETWORK
//!
//! An input line has the time in Unix seconds and the headers of one message in hexadecimal; an empty line starts a new
//! chain. The output line has the number of valid headers, the name of the rule that the next one breaks or `-`, the
//! height and the hash of the newest block.

use std::{
    env,
    io::{self, BufRead, Write},
    process::ExitCode,
};

use chain::{HEADER_BYTES, Header, anchor::Anchor, chain::Chain, header, network::Network};

fn main() -> ExitCode {
    let network = env::args().nth(1);
    let Some(network) = network.as_deref().and_then(Network::named) else {
        eprintln!("judge NETWORK");
        return ExitCode::from(2);
    };
    match judge(network) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn judge(network: Network) -> io::Result<()> {
    let empty = Chain::new(network, Anchor::before_genesis(network));
    let mut chain = empty.clone();
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.is_empty() {
            chain = empty.clone();
            continue;
        }
        let (now, headers) = message(&line).ok_or_else(|| {
            let kind = io::ErrorKind::InvalidInput;
            io::Error::new(kind, "a line is the time and headers")
        })?;
        let (valid, broken) = match chain.accept(&headers, Some(now)) {
            Ok(_) => (headers.len(), "-"),
            Err(refused) => (refused.index, refused.rule.name()),
        };
        let height = chain.height().unwrap_or_default();
        writeln!(output, "{valid} {broken} {height} {}", chain.tip())?;
        output.flush()?;
    }
    Ok(())
}

fn message(line: &str) -> Option<(u32, Vec<Header>)> {
    let (now, digits) = line.split_once(' ')?;
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
    let headers: Vec<Header> = bytes
        .chunks(HEADER_BYTES)
        .map(header)
        .collect::<Option<_>>()?;
    rest.is_empty().then_some((now.parse().ok()?, headers))
}
