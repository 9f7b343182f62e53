//! How many bitcoins exist at a height, and how many blocks are left until the halving.

use device::screens::issuance;

#[test]
fn issuance_follows_the_height() {
    let rows = [
        (0, 0, 210_000),
        (1, 50, 209_999),
        (209_999, 10_499_950, 1),
        (210_000, 10_500_000, 210_000),
        (222_345, 10_808_625, 197_655),
        (420_000, 15_750_000, 210_000),
        (840_000, 19_687_500, 210_000),
        (957_123, 20_053_509, 92_877),
        (33 * 210_000, 20_999_999, 210_000),
        (u32::MAX, 20_999_999, 162_705),
    ];
    for (height, mined, to_go) in rows {
        assert_eq!(issuance::mined_btc(height), mined, "at {height}");
        assert_eq!(issuance::blocks_to_halving(height), to_go, "at {height}");
    }
}
