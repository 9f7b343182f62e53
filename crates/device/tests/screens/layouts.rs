//! Panels of the screens. Other clocks with the same interface show the same layouts.
//!
//! Differences of this clock, and their reasons:
//!
//! - An unknown value is blank, not 0: a height, a market cap without a price, a pool.
//! - `mcapBigChar` has no effect, so there are no groups of three digits on a panel.
//! - A fee rate without decimals at its source is shown without decimals.
//! - A balance of one bitcoin or more keeps as many decimals as there are panels; an unknown balance is `?`.
//! - A miner's best difficulty is not cut if a dot that shares a panel makes room for it: `123.45M` does not become `23.45M`.
//! - A supply that rounds to `100.00%` loses decimals, not its first digit.
//! - 2 097 151 bytes are `1.9 MB`, not `1.10 MB`.
//! - Millions of `mowMode` do not need `suffixPrice`.
//! - Day and month in the label of the clock screen have two digits each.
//! - An offline miner is shown as offline on seven panels too.
//! - An update shows its progress; the splash shows the name of this product.

use super::check;

#[test]
fn block_height() {
    check(
        "
        block height=999999     7: BLOCK/HEIGHT|9|9|9|9|9|9
        block height=1000000    7: 1|0|0|0|0|0|0
                                8: BLOCK/HEIGHT|1|0|0|0|0|0|0
        block height=123456     8: BLOCK/HEIGHT|·|1|2|3|4|5|6
        block                   7: BLOCK/HEIGHT|·|·|·|·|·|·
                                8: BLOCK/HEIGHT|·|·|·|·|·|·|·
        block height=957123     7: BLOCK/HEIGHT|9|5|7|1|2|3
        block height=10000000   7: 0|0|0|0|0|0|0
                                8: 1|0|0|0|0|0|0|0
        block height=0          7: BLOCK/HEIGHT|·|·|·|·|·|0
        ",
    );
}

#[test]
fn market_cap() {
    check(
        "
        mcap USD height=831000 price=52000                      7: USD/MCAP|$|1|.|0|2|T
        mcap USD height=831000 price=52000 decimalShareDot      7: USD/MCAP|$|1.|0|2|1|T
        mcap USD height=810000 price=26000                      7: USD/MCAP|·|$|5|0|7|B
        mcap EUR height=840000 price=100000                     7: EUR/MCAP|€|1|.|9|7|T
        mcap USD height=831000                                  7: USD/MCAP|·|·|·|·|·|·
        mcap USD price=52000                                    8: USD/MCAP|·|·|·|·|·|·|·
        mcap USD height=957123 price=95432 mcapBigChar=false    8: USD/MCAP|$|1|.|9|1|4|T
                                                                7: USD/MCAP|$|1|.|9|1|T
        mcap USD height=957123 price=95432                      7: USD/MCAP|$|1|.|9|1|T
                                                                8: USD/MCAP|$|1|.|9|1|4|T
        mcap USD height=957123 price=95432 decimalShareDot      7: USD/MCAP|$|1.|9|1|4|T
                                                                8: USD/MCAP|$|1.|9|1|3|7|T
        mcap EUR height=957123 price=88001                      7: EUR/MCAP|€|1|.|7|6|T
                                                                8: EUR/MCAP|€|1|.|7|6|5|T
        mcap JPY height=957123 price=14500000                   7: JPY/MCAP|·|¥|2|9|1|T
                                                                8: JPY/MCAP|¥|2|9|0|.|8|T
        mcap JPY height=957123 price=14500000 decimalShareDot   7: JPY/MCAP|¥|2|9|0.|8|T
                                                                8: JPY/MCAP|¥|2|9|0.|7|8|T
        mcap CHF height=957123 price=75000                      7: CHF/MCAP|CHF|1|.|5|0|T
                                                                8: CHF/MCAP|CHF|1|.|5|0|4|T
        mcap USD height=957123 price=40000                      7: USD/MCAP|·|$|8|0|2|B
                                                                8: USD/MCAP|$|8|0|2|.|1|B
        mcap USD height=957123 price=0.4                        7: USD/MCAP|$|8|.|0|2|M
        mcap USD height=10000 price=2469                        8: USD/MCAP|$|1|.|2|3|5|B
        mcap USD height=957123                                  7: USD/MCAP|·|·|·|·|·|·
                                                                8: USD/MCAP|·|·|·|·|·|·|·
        ",
    );
}

#[test]
fn sats_per_currency() {
    check(
        "
        sats USD price=2684 priceSymMode=1                         7: MSCW/TIME|STS|3|7|2|5|8
                                                                   8: MSCW/TIME|·|STS|3|7|2|5|8
        sats USD price=2684                                        7: MSCW/TIME|·|3|7|2|5|8
        sats USD price=2684 useMscwTime=false                      7: SATS/USD|·|3|7|2|5|8
        sats EUR price=2684                                        7: SATS/EUR|·|3|7|2|5|8
        sats USD price=50                                          8: SATS/USD|2|0|0|0|0|0|0
        sats USD price=99950 priceSymMode=1                        7: MSCW/TIME|·|STS|1|0|0|1
        sats USD price=10000 priceSymMode=1                        7: MSCW/TIME|STS|1|0|0|0|0
        sats VND price=2550000000 priceSymMode=1                   7: SATS/VND|STS|0|.|0|3|9
        sats VND price=2550000000                                  7: SATS/VND|0|.|0|3|9|2
                                                                   8: SATS/VND|0|.|0|3|9|2|2
        sats VND price=2550000000 priceSymMode=1 decimalShareDot   7: SATS/VND|STS|0.|0|3|9|2
        sats VND price=2550000000 decimalShareDot                  7: SATS/VND|0.|0|3|9|2|2
                                                                   8: SATS/VND|0.|0|3|9|2|1|6
        sats USD price=37253                                       7: MSCW/TIME|·|·|2|6|8|4
        sats EUR price=60000 priceSymMode=1                        7: SATS/EUR|·|STS|1|6|6|7
        sats EUR price=200000000                                   7: SATS/EUR|0|.|5|0|0|0
        sats EUR price=100004000 priceSymMode=1                    7: SATS/EUR|·|·|·|·|STS|1
        sats EUR                                                   7: SATS/EUR|·|·|·|·|·|·
        sats EUR price=0                                           7: SATS/EUR|·|·|·|·|·|·
        sats EUR price=0.01                                        7: SATS/EUR|·|·|·|·|·|·
        sats USD price=95432                                       7: MSCW/TIME|·|·|1|0|4|8
        sats USD price=95432 priceSymMode=2                        7: MSCW/TIME|·|₿|1|0|4|8
        sats USD price=95432 priceSymMode=1 useMscwTime=false      7: SATS/USD|·|STS|1|0|4|8
        sats JPY price=14500000 priceSymMode=1                     7: SATS/JPY|·|·|·|·|STS|7
        sats USD price=1000 priceSymMode=1                         7: SATS/USD|1|0|0|0|0|0
                                                                   8: SATS/USD|STS|1|0|0|0|0|0
        sats USD price=1000.01                                     7: MSCW/TIME|·|9|9|9|9|9
        sats XAU price=15.97 priceSymMode=1                        7: SATS/XAU|STS|6|.|2|6|M
                                                                   8: SATS/XAU|6|2|6|1|7|4|1
        sats XAU price=15.97                                       7: SATS/XAU|6|.|2|6|2|M
                                                                   8: SATS/XAU|6|2|6|1|7|4|1
        sats USD price=0.5 priceSymMode=1                          7: SATS/USD|·|STS|2|0|0|M
                                                                   8: SATS/USD|STS|2|0|0|.|0|M
        sats USD price=100004000                                   7: MSCW/TIME|·|·|·|·|·|1
                                                                   8: SATS/USD|0|.|9|9|9|9|6
        ",
    );
}

#[test]
fn ticker() {
    check(
        "
        ticker USD price=64211.53                                    7: BTC/USD|$|6|4|2|1|2
        ticker USD price=999999                                      7: BTC/USD|9|9|9|9|9|9
                                                                     8: BTC/USD|$|9|9|9|9|9|9
        ticker USD price=0.123                                       7: BTC/USD|$|0|.|1|2|3
        ticker USD price=45.67                                       7: BTC/USD|$|4|5|.|6|7
        ticker USD price=7858                                        8: BTC/USD|·|·|$|7|8|5|8
        ticker USD price=16.01                                       8: BTC/USD|·|$|1|6|.|0|1
        ticker USD price=123456                                      8: BTC/USD|$|1|2|3|4|5|6
        ticker USD price=7858.3                                      7: BTC/USD|7|8|5|8|.|3
        ticker USD price=123.4                                       7: BTC/USD|$|1|2|3|.|4
        ticker USD price=99999.99                                    7: BTC/USD|1|0|0|0|0|0
        ticker USD price=100                                         7: BTC/USD|$|1|0|0|.|0
        ticker USD price=99.99                                       7: BTC/USD|$|9|9|.|9|9
        ticker USD price=1                                           7: BTC/USD|·|$|1|.|0|0
        ticker USD price=0.99                                        7: BTC/USD|·|$|0|.|9|9
        ticker USD price=0.01                                        7: BTC/USD|·|$|0|.|0|1
        ticker USD price=0.001                                       7: BTC/USD|$|<|0|.|0|1
        ticker USD price=10000000 suffixPrice                        7: BTC/USD|$|1|0|.|0|M
        ticker USD price=999 suffixPrice                             7: BTC/USD|·|·|$|9|9|9
        ticker USD price=1000 suffixPrice                            7: BTC/USD|$|1|.|0|0|K
        ticker USD price=1000000000 suffixPrice                      7: BTC/USD|$|1|.|0|0|B
        ticker USD price=1000000 suffixPrice mowMode                 7: $|1|.|0|0|0|M
        ticker USD price=99999 suffixPrice mowMode                   7: $|0|.|0|9|9|M
        ticker USD price=0 suffixPrice mowMode                       7: BTC/USD|·|·|·|$|0|M
                                                                     8: BTC/USD|·|·|·|·|$|0|M
        ticker USD price=9999999                                     7: BTC/USD|$|1|0|.|0|M
        ticker EUR price=99999999                                    7: BTC/EUR|·|€|1|0|0|M
        ticker USD price=1000000                                     7: BTC/USD|$|1|.|0|0|M
                                                                     8: BTC/USD|1|0|0|0|0|0|0
        ticker EUR price=78280 suffixPrice mowMode                   7: €|0|.|0|7|8|M
        ticker GBP price=78280 suffixPrice mowMode                   7: £|0|.|0|7|8|M
        ticker JPY price=78280 suffixPrice mowMode                   7: ¥|0|.|0|7|8|M
        ticker CHF price=78280 suffixPrice mowMode                   7: CHF|0|.|0|7|8|M
        ticker BRL price=78280 suffixPrice mowMode                   7: BRL|0|.|0|7|8|M
        ticker EUR price=99000000 suffixPrice mowMode                8: €|9|9|.|0|0|0|M
        ticker USD price=78080 suffixPrice decimalShareDot           7: BTC/USD|$|7|8.|0|8|K
        ticker USD price=1000000 suffixPrice decimalShareDot         7: BTC/USD|$|1.|0|0|0|M
        ticker USD price=95432.50                                    7: BTC/USD|$|9|5|4|3|3
                                                                     8: BTC/USD|9|5|4|3|2|.|5
        ticker USD price=109876                                      7: BTC/USD|1|0|9|8|7|6
                                                                     8: BTC/USD|$|1|0|9|8|7|6
        ticker USD price=9999                                        7: BTC/USD|9|9|9|9|.|0
                                                                     8: BTC/USD|·|·|$|9|9|9|9
        ticker USD price=9876.54                                     7: BTC/USD|9|8|7|6|.|5
                                                                     8: BTC/USD|$|9|8|7|6|.|5
        ticker USD price=0                                           7: BTC/USD|·|·|·|·|$|0
        ticker USD                                                   7: BTC/USD|·|·|·|·|·|·
        ticker USD price=-1                                          7: BTC/USD|·|·|·|·|·|·
        ticker USD price=3000000000                                  7: BTC/USD|·|·|·|·|·|·
        ticker USD price=0.005                                       7: BTC/USD|$|<|0|.|0|1
        ticker USD price=0.4 suffixPrice                             7: BTC/USD|·|$|0|.|4|0
        ticker JPY price=4500000                                     7: BTC/JPY|¥|4|.|5|0|M
                                                                     8: BTC/JPY|4|5|0|0|0|0|0
        ticker JPY price=14500000                                    7: BTC/JPY|¥|1|4|.|5|M
                                                                     8: BTC/JPY|¥|1|4|.|5|0|M
        ticker JPY price=14500000 decimalShareDot                    7: BTC/JPY|¥|1|4.|5|0|M
                                                                     8: BTC/JPY|¥|1|4.|5|0|0|M
        ticker CHF price=75000                                       7: BTC/CHF|CHF|7|5|0|0|0
        ticker USD price=95432 suffixPrice                           7: BTC/USD|$|9|5|.|4|K
                                                                     8: BTC/USD|$|9|5|.|4|3|K
        ticker USD price=95432 suffixPrice decimalShareDot           7: BTC/USD|$|9|5.|4|3|K
                                                                     8: BTC/USD|$|9|5.|4|3|2|K
        ticker USD price=95432 suffixPrice mowMode                   7: $|0|.|0|9|5|M
                                                                     8: $|0|.|0|9|5|4|M
        ticker USD price=95432 suffixPrice mowMode decimalShareDot   7: BTC/USD|$|0.|0|9|5|M
                                                                     8: BTC/USD|$|0.|0|9|5|4|M
        ticker USD price=95432 mowMode                               7: $|0|.|0|9|5|M
                                                                     8: $|0|.|0|9|5|4|M
        ticker USD price=95432 mowMode decimalShareDot               7: BTC/USD|$|0.|0|9|5|M
                                                                     8: BTC/USD|$|0.|0|9|5|4|M
        ticker USD price=109876 suffixPrice                          7: BTC/USD|·|$|1|1|0|K
                                                                     8: BTC/USD|$|1|0|9|.|9|K
        ticker USD price=99999 suffixPrice                           7: BTC/USD|·|$|1|0|0|K
                                                                     8: BTC/USD|$|1|0|0|.|0|K
        ticker USD price=999999 suffixPrice                          7: BTC/USD|$|1|.|0|0|M
                                                                     8: BTC/USD|$|1|.|0|0|0|M
        ticker USD price=95450 suffixPrice                           7: BTC/USD|$|9|5|.|5|K
        ticker USD price=9425 suffixPrice decimalShareDot            7: BTC/USD|$|9.|4|2|5|K
        ticker USD price=9425 suffixPrice                            7: BTC/USD|$|9|.|4|3|K
        ticker USD price=617250 suffixPrice                          8: BTC/USD|$|6|1|7|.|3|K
        ticker USD price=999 suffixPrice mowMode                     7: $|0|.|0|0|0|M
                                                                     8: $|0|.|0|0|0|9|M
        ticker USD price=0 suffixPrice                               7: BTC/USD|·|·|·|·|$|0
        ",
    );
}

#[test]
fn clock() {
    check(
        "
        clock time=13:37-9/5                  7: 09/05|·|1|3|:|3|7
        clock time=07:05-9/5 hideLeadZero     7: 09/05|·|·|7|:|0|5
                                              8: 09/05|·|·|·|7|:|0|5
        clock time=14:07-9/5                  7: 09/05|·|1|4|:|0|7
        clock time=03:09-9/5                  7: 09/05|·|0|3|:|0|9
        clock time=00:00-1/1                  7: 01/01|·|0|0|:|0|0
        clock time=23:59-31/12                7: 31/12|·|2|3|:|5|9
        clock                                 7: -/-|·|·|·|·|·|·
        clock time=07:05-9/5                  7: 09/05|·|0|7|:|0|5
        clock time=00:05-31/12 hideLeadZero   7: 31/12|·|·|0|:|0|5
        ",
    );
}

#[test]
fn halving() {
    check(
        "
        halving height=0                               7: HAL/VING|2|1|0|0|0|0
        halving height=209999                          7: HAL/VING|·|·|·|·|·|1
        halving height=420000                          7: HAL/VING|2|1|0|0|0|0
        halving height=222345                          7: HAL/VING|1|9|7|6|5|5
        halving height=0 useBlkCountdown=false         7: BIT/COIN|HAL/VING|3/YRS|363/DAYS|8/HRS|0/MINS|TO/GO
        halving                                        7: HAL/VING|·|·|·|·|·|·
        halving useBlkCountdown=false                  7: BIT/COIN|HAL/VING|·|·|·|·|TO/GO
                                                       8: ·|BIT/COIN|HAL/VING|·|·|·|·|TO/GO
        halving height=957123                          7: HAL/VING|·|9|2|8|7|7
        halving height=1049999                         7: HAL/VING|·|·|·|·|·|1
        halving height=957123 useBlkCountdown=false    7: BIT/COIN|HAL/VING|1/YRS|279/DAYS|23/HRS|30/MINS|TO/GO
        halving height=1049999 useBlkCountdown=false   7: BIT/COIN|HAL/VING|0/YRS|0/DAYS|0/HRS|10/MINS|TO/GO
        ",
    );
}

#[test]
fn supply() {
    check(
        "
        supply height=0                          7: BTC/SUPPLY|·|·|·|·|·|0
        supply height=880000                     7: BTC/SUPPLY|1|9|.|8|1|M
        supply height=831000 supplyPercent       7: BTC/SUPPLY|9|3|.|4|8|%
        supply height=210000                     8: BTC/SUPPLY|1|0|.|5|0|0|M
        supply height=6930000                    8: BTC/SUPPLY|2|1|.|0|0|0|M
        supply height=4294967295                 8: BTC/SUPPLY|2|1|.|0|0|0|M
        supply height=6930000 supplyPercent      7: BTC/SUPPLY|1|0|0|.|0|%
                                                 8: BTC/SUPPLY|1|0|0|.|0|0|%
        supply                                   7: BTC/SUPPLY|·|·|·|·|·|·
        supply height=957123 mcapBigChar=false   7: BTC/SUPPLY|2|0|.|0|5|M
        supply height=957123                     7: BTC/SUPPLY|2|0|.|0|5|M
                                                 8: BTC/SUPPLY|2|0|.|0|5|4|M
        supply height=957123 supplyPercent       7: BTC/SUPPLY|9|5|.|4|9|%
                                                 8: BTC/SUPPLY|·|9|5|.|4|9|%
        supply height=1                          7: BTC/SUPPLY|·|·|·|·|5|0
        supply height=12345                      7: BTC/SUPPLY|6|1|7|.|3|K
        supply height=0 supplyPercent            7: BTC/SUPPLY|·|0|.|0|0|%
        ",
    );
}

#[test]
fn fee_rate() {
    check(
        "
        fee fee=1.0                                 7: FEE/RATE|·|1|.|0|0|sat/vB
        fee fee=4.02 decimalShareDot                7: FEE/RATE|·|·|4.|0|2|sat/vB
        fee                                         7: FEE/RATE|·|·|·|·|·|sat/vB
                                                    8: FEE/RATE|·|·|·|·|·|·|sat/vB
        fee fee=10.0                                7: FEE/RATE|·|·|·|1|0|sat/vB
        fee fee=0.0                                 7: FEE/RATE|<|0|.|0|1|sat/vB
        fee fee=-1                                  7: FEE/RATE|·|·|·|·|·|sat/vB
        fee fee=1234.0                              7: FEE/RATE|·|1|2|3|4|sat/vB
        fee fee=12.75                               7: FEE/RATE|1|2|.|7|5|sat/vB
        fee fee=100.5                               7: FEE/RATE|·|·|1|0|1|sat/vB
                                                    8: FEE/RATE|1|0|0|.|5|0|sat/vB
        fee fee=999.99                              7: FEE/RATE|·|1|0|0|0|sat/vB
                                                    8: FEE/RATE|9|9|9|.|9|9|sat/vB
        fee fee=41.999999                           7: FEE/RATE|·|·|·|4|2|sat/vB
        fee fee=12345678                            8: FEE/RATE|3|4|5|6|7|8|sat/vB
        fee fee=12.75 decimalShareDot               7: FEE/RATE|·|·|12.|7|5|sat/vB
        fee whole-fee=4                             7: FEE/RATE|·|·|·|·|4|sat/vB
        fee whole-fee=4 blockFeeDec=false           7: FEE/RATE|·|·|·|·|4|sat/vB
        fee fee=4.7 blockFeeDec=false               7: FEE/RATE|·|·|·|·|5|sat/vB
        fee whole-fee=4 fee=4.7                     7: FEE/RATE|·|4|.|7|0|sat/vB
        fee whole-fee=4 fee=4.7 blockFeeDec=false   7: FEE/RATE|·|·|·|·|4|sat/vB
        fee fee=4.7                                 7: FEE/RATE|·|4|.|7|0|sat/vB
        fee fee=0.99                                7: FEE/RATE|·|0|.|9|9|sat/vB
        fee fee=0.001                               7: FEE/RATE|<|0|.|0|1|sat/vB
        fee fee=0.005 decimalShareDot               7: FEE/RATE|·|·|0.|0|1|sat/vB
        fee fee=0.004 decimalShareDot               7: FEE/RATE|·|·|<0.|0|1|sat/vB
        fee fee=0.4 blockFeeDec=false               7: FEE/RATE|·|·|·|<|1|sat/vB
        fee fee=9.994                               7: FEE/RATE|·|9|.|9|9|sat/vB
        fee fee=9.999                               7: FEE/RATE|·|·|·|1|0|sat/vB
        fee fee=12.345                              7: FEE/RATE|1|2|.|3|5|sat/vB
        fee fee=150.25                              7: FEE/RATE|·|·|1|5|0|sat/vB
                                                    8: FEE/RATE|1|5|0|.|2|5|sat/vB
        fee fee=150.25 decimalShareDot              7: FEE/RATE|·|·|1|5|0|sat/vB
                                                    8: FEE/RATE|·|·|·|150.|2|5|sat/vB
        ",
    );
}

#[test]
fn pool_hashrate() {
    check(
        "
        pool-hash logo=noderunners hashrate=1300000000000000           7: <noderunners>|·|·|1|.|3|PH/S
        pool-hash logo=noderunners hashrate=1234000000000000000        7: <noderunners>|1|.|2|3|4|EH/S
        pool-hash logo=noderunners hashrate=0                          7: <noderunners>|·|·|·|·|0|H/S
                                                                       8: <noderunners>|·|·|·|·|·|0|H/S
        pool-hash logo=noderunners hashrate=645000000000               8: <noderunners>|·|·|·|6|4|5|GH/S
        pool-hash miningPoolName=satoshiradio hashrate=1               7: satoshiradio|·|·|·|·|1|H/S
        pool-hash miningPoolName=Braiins logo=ocean hashrate=1         7: Braiins|·|·|·|·|1|H/S
        pool-hash miningPoolName=satoshi_radio hashrate=1              7: satoshi/radio|·|·|·|·|1|H/S
        pool-hash miningPoolName=local_public_pool hashrate=1          7: local/public_pool|·|·|·|·|1|H/S
        pool-hash hashrate=1500                                        7: noderunners|·|·|1|.|5|KH/S
        pool-hash hashrate=50000000                                    7: noderunners|·|·|·|5|0|MH/S
        pool-hash hashrate=98765432100                                 7: noderunners|9|8|.|7|7|GH/S
                                                                       8: noderunners|9|8|.|7|6|5|GH/S
        pool-hash hashrate=123456000000000                             7: noderunners|1|2|3|.|5|TH/S
                                                                       8: noderunners|1|2|3|.|4|6|TH/S
        pool-hash hashrate=999960000000000                             7: noderunners|·|·|·|·|1|PH/S
                                                                       8: noderunners|9|9|9|.|9|6|TH/S
        pool-hash hashrate=7901351912194065                            7: noderunners|7|.|9|0|1|PH/S
                                                                       8: noderunners|7|.|9|0|1|4|PH/S
        pool-hash hashrate=45700000000000000000                        7: noderunners|·|4|5|.|7|EH/S
        pool-hash hashrate=1300000000000000000000                      7: noderunners|·|·|1|.|3|ZH/S
        pool-hash                                                      7: noderunners|·|·|·|·|·|OFF/LINE
        pool-hash miningPoolName=gone_pool logo=ocean                  8: gone/pool|O|F|F|L|I|N|E
        pool-hash hashrate=?                                           7: noderunners|·|·|·|·|?|H/S
        pool-hash refusal=no                                           8: noderunners|·|·|·|·|·|·|NO/USER
        pool-hash logo=noderunners hashrate=998765432100000            7: <noderunners>|9|9|8|.|8|TH/S
                                                                       8: <noderunners>|9|9|8|.|7|7|TH/S
        pool-hash logo=noderunners hashrate=999                        7: <noderunners>|·|·|9|9|9|H/S
        pool-hash logo=noderunners hashrate=999999                     7: <noderunners>|·|·|·|·|1|MH/S
        pool-hash logo=noderunners hashrate=123456789012345678901234   7: <noderunners>|1|2|3|.|5|ZH/S
                                                                       8: <noderunners>|1|2|3|.|4|6|ZH/S
        ",
    );
}

#[test]
fn pool_earnings() {
    check(
        "
        pool-earn miningPoolName=ocean refusal=no                   7: ocean|·|·|·|·|·|NO/USER
        pool-earn logo=noderunners daily=8421                       7: <noderunners>|·|8|4|2|1|SATS
        pool-earn logo=noderunners daily=50000                      7: <noderunners>|5|0|.|0|K|SATS
        pool-earn logo=noderunners daily=12300                      8: <noderunners>|·|1|2|.|3|K|SATS
        pool-earn miningPoolName=BigPool daily=250000000            7: BigPool|·|·|·|·|2|BTC
        pool-earn miningPoolName=ocean hashrate=0                   7: ocean|·|·|·|·|·|SATS
        pool-earn miningPoolName=ocean daily=250                    7: ocean|·|·|2|5|0|SATS
        pool-earn miningPoolName=ocean daily=123456                 7: ocean|·|1|2|3|K|SATS
        pool-earn miningPoolName=ocean daily=12345678               7: ocean|1|2|.|3|M|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=0           7: <ocean>|·|·|·|·|0|SATS
                                                                    8: <ocean>|·|·|·|·|·|0|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=9999        7: <ocean>|·|9|9|9|9|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=10000       7: <ocean>|1|0|.|0|K|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=99999       7: <ocean>|9|9|.|9|K|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=100000      7: <ocean>|·|1|0|0|K|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=999999      7: <ocean>|·|9|9|9|K|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=1000000     7: <ocean>|1|.|0|0|M|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=9999999     7: <ocean>|9|.|9|9|M|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=10000000    7: <ocean>|1|0|.|0|M|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=99999999    7: <ocean>|9|9|.|9|M|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=100000000   7: <ocean>|·|·|·|·|1|BTC
        ",
    );
}

#[test]
fn miner_hashrate() {
    check(
        "
        miner-hash miner=527000000000       7: (pickaxe)|·|·|5|2|7|GH/S
        miner-hash miner=1500000000000000   7: (pickaxe)|·|·|1|.|5|PH/S
                                            8: (pickaxe)|·|·|·|1|.|5|PH/S
        miner-hash best=15.6M               8: (pickaxe)|·|·|·|·|·|?|GH/S
        miner-hash miner=0                  7: (pickaxe)|·|·|·|·|0|GH/S
        miner-hash miner=999400000000       7: (pickaxe)|·|·|9|9|9|GH/S
        miner-hash miner=999500000000       7: (pickaxe)|·|·|1|.|0|TH/S
        miner-hash miner=1234000000000      7: (pickaxe)|·|·|1|.|2|TH/S
        miner-hash miner=9949000000000      7: (pickaxe)|·|·|9|.|9|TH/S
        miner-hash miner=9960000000000      7: (pickaxe)|·|1|0|.|0|TH/S
        miner-hash miner=12345000000000     7: (pickaxe)|·|·|·|1|2|TH/S
        miner-hash miner=1000000000000000   7: (pickaxe)|·|·|1|.|0|PH/S
        miner-hash                          7: (pickaxe)|·|·|·|·|·|OFF/LINE
                                            8: (pickaxe)|O|F|F|L|I|N|E
        ",
    );
}

#[test]
fn miner_best_difficulty() {
    check(
        "
        miner-best best=15.6M     7: (pickaxe)|·|1|5|.|6|M
        miner-best miner=1        7: (pickaxe)|·|·|·|·|·|?
        miner-best best=4.29G     7: (pickaxe)|·|4|.|2|9|G
                                  8: (pickaxe)|·|·|4|.|2|9|G
        miner-best best=123.45M   7: (pickaxe)|1|2|3.|4|5|M
                                  8: (pickaxe)|1|2|3|.|4|5|M
        miner-best                7: (pickaxe)|·|·|·|·|·|OFF/LINE
                                  8: (pickaxe)|O|F|F|L|I|N|E
        ",
    );
}

#[test]
fn wallet_balance() {
    check(
        "
        balance sats=10000                      7: BAL|(lightning-bolt)|1|0|0|0|0
        balance sats=10000 priceSymMode=1       7: BAL|(lightning-bolt)|1|0|0|0|0
        balance sats=1000 priceSymMode=2        7: BAL|(lightning-bolt)|₿|1|0|0|0
        balance                                 7: BAL|(lightning-bolt)|·|·|·|·|?
        balance sats=500                        8: BAL|(lightning-bolt)|·|·|·|5|0|0
        balance sats=150000000                  7: BAL|(lightning-bolt)|1.|5|0|0|0
        balance sats=10000000000                7: BAL|1|0|0.|0|0|0
                                                8: BAL|1|0|0.|0|0|0|0
        balance sats=210000000000000            7: BAL|·|2.|1|0|0|M
                                                8: BAL|2|1|0|0|0|0|0
        balance sats=2100000000000000           7: BAL|·|2|1.|0|0|M
                                                8: BAL|·|2|1.|0|0|0|M
        balance sats=0 priceSymMode=1           7: BAL|(lightning-bolt)|·|·|·|STS|0
                                                8: BAL|(lightning-bolt)|·|·|·|·|STS|0
        balance sats=420 priceSymMode=1         7: BAL|(lightning-bolt)|·|STS|4|2|0
        balance sats=50000 priceSymMode=1       7: BAL|(lightning-bolt)|5|0|0|0|0
                                                8: BAL|(lightning-bolt)|STS|5|0|0|0|0
        balance sats=123456 priceSymMode=1      7: BAL|(lightning-bolt)|STS|1|2|3|K
                                                8: BAL|(lightning-bolt)|1|2|3|4|5|6
        balance sats=12345678 priceSymMode=1    7: BAL|(lightning-bolt)|·|STS|1|2|M
        balance sats=99999999 priceSymMode=1    7: BAL|(lightning-bolt)|STS|1|0|0|M
        balance priceSymMode=1                  7: BAL|(lightning-bolt)|·|·|·|STS|?
        balance sats=100000000 priceSymMode=1   7: BAL|(lightning-bolt)|1.|0|0|0|0
                                                8: BAL|(lightning-bolt)|1|.|0|0|0|0
        balance sats=123456789 priceSymMode=1   7: BAL|(lightning-bolt)|1.|2|3|4|6
                                                8: BAL|(lightning-bolt)|1|.|2|3|4|6
        balance sats=1000000000                 7: BAL|1|0.|0|0|0|0
                                                8: BAL|(lightning-bolt)|1|0.|0|0|0|0
        balance sats=12345678900                7: BAL|1|2|3.|4|5|7
                                                8: BAL|1|2|3.|4|5|6|8
        ",
    );
}

#[test]
fn price_change() {
    check(
        "
        change USD price=108681 yesterday=107390                   7: BTC USD/24 H|·|(arrow-up-bold)|1|.|2|%
        change EUR price=54340 yesterday=108681                    7: BTC EUR/24 H|·|·|(arrow-down-bold)|5|0|%
        change USD price=108681 yesterday=107390 decimalShareDot   7: BTC USD/24 H|·|·|(arrow-up-bold)|1.|2|%
        change USD price=108681                                    7: BTC USD/24 H|·|·|·|·|·|·
        ",
    );
}

#[test]
fn proof() {
    check(
        "
        proof                                           7: BLOCK/UNKNOWN|·|·|·|·|·|·
        proof state=claimed                             7: BLOCK/CLAIMED|·|·|·|·|·|·
                                                        8: BLOCK/CLAIMED|·|·|·|·|·|·|·
        proof state=proven agreeing=4 hash=a3f0 age=7   7: BLOCK/PROVEN|4/AGREE|a|3|f|0|7/MINS
        proof state=alone agreeing=1 hash=000f age=0    7: BLOCK/ALONE|1/AGREE|0|0|0|f|0/MINS
        proof state=disputed agreeing=2 hash=1 age=99   7: BLOCK/DISPUTED|2/AGREE|0|0|0|1|99/MINS
        proof state=stale agreeing=2 hash=1 age=100     7: BLOCK/STALE|2/AGREE|0|0|0|1|1/HRS
        proof state=stale agreeing=2 hash=1 age=5999    7: BLOCK/STALE|2/AGREE|0|0|0|1|99/HRS
        proof state=stale agreeing=2 hash=1 age=6000    7: BLOCK/STALE|2/AGREE|0|0|0|1|4/DAYS
        proof state=alone agreeing=2 hash=1             7: BLOCK/ALONE|2/AGREE|0|0|0|1|·
        ",
    );
}
