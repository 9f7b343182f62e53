//! What the allocator of the program says of itself.

use tikv_jemalloc_ctl::{Access, AsName, Mib, Result, epoch, stats};

/// The index that stands for all arenas together.
const ALL: &str = "4096";

/// What was given out, and what is ready to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Figures {
    /// Bytes of all that was given out.
    pub(crate) given_bytes: u64,
    /// Pieces that were given out.
    pub(crate) given: u64,
    /// Pieces that can be given out without asking the host for more.
    pub(crate) ready: u64,
}

/// Asks the allocator; zeros where it does not say.
pub(crate) fn figures() -> Figures {
    read().unwrap_or_default()
}

fn read() -> Result<Figures> {
    // What is told are the figures of the last epoch.
    epoch::advance()?;
    let (mut given, mut places) = (0, 0);
    // Small pieces share slabs, one size each.
    let mut pieces: Mib<[usize; 6]> = key(&["bins", "0", "curregs"])?;
    let mut slabs: Mib<[usize; 6]> = key(&["bins", "0", "curslabs"])?;
    let mut per_slab: Mib<[usize; 4]> = "arenas.bin.0.nregs\0".name().mib()?;
    let bins: u32 = "arenas.nbins\0".name().read()?;
    for bin in 0..bins as usize {
        (pieces[4], slabs[4], per_slab[2]) = (bin, bin, bin);
        let (pieces, slabs): (usize, usize) = (pieces.read()?, slabs.read()?);
        let per_slab: u32 = per_slab.read()?;
        given += pieces as u64;
        places += slabs as u64 * u64::from(per_slab);
    }
    let ready = places.saturating_sub(given);
    // Large ones have pages of their own.
    let mut large: Mib<[usize; 6]> = key(&["lextents", "0", "curlextents"])?;
    let sizes: u32 = "arenas.nlextents\0".name().read()?;
    for size in 0..sizes as usize {
        large[4] = size;
        let pieces: usize = large.read()?;
        given += pieces as u64;
    }
    Ok(Figures {
        given_bytes: stats::allocated::read()? as u64,
        given,
        ready,
    })
}

/// The key of a figure of all arenas together.
fn key(path: &[&str]) -> Result<Mib<[usize; 6]>> {
    let name = format!("stats.arenas.{ALL}.{}\0", path.join("."));
    name.name().mib()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests have another allocator, so there is little to count; but every key is there.
    #[test]
    fn every_figure_is_told() {
        assert!(read().is_ok(), "{:?}", read());
    }
}
