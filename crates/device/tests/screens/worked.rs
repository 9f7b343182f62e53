//! More lines, on both sizes of board.

use super::check;

#[test]
fn block_height() {
    check(
        "
        block height=957123      7: BLOCK/HEIGHT|9|5|7|1|2|3
                                 8: BLOCK/HEIGHT|·|9|5|7|1|2|3
        block height=1000000     7: 1|0|0|0|0|0|0
                                 8: BLOCK/HEIGHT|1|0|0|0|0|0|0
        block height=10000000    7: 0|0|0|0|0|0|0
                                 8: 1|0|0|0|0|0|0|0
        block height=0           7: BLOCK/HEIGHT|·|·|·|·|·|0
        ",
    );
}

#[test]
fn clock() {
    check(
        "
        clock time=07:05-9/5                   7: 9/5|·|0|7|:|0|5
                                               8: 9/5|·|·|0|7|:|0|5
        clock time=07:05-9/5 hideLeadZero      7: 9/5|·|·|7|:|0|5
                                               8: 9/5|·|·|·|7|:|0|5
        clock time=00:05-31/12 hideLeadZero    7: 31/12|·|·|0|:|0|5
                                               8: 31/12|·|·|·|0|:|0|5
        clock                                  7: -/-|·|·|·|·|·|·
                                               8: -/-|·|·|·|·|·|·|·
        ",
    );
}

#[test]
fn ticker() {
    check(
        "
        ticker USD price=95432                                        7: BTC/USD|$|9|5|4|3|2
                                                                      8: BTC/USD|·|$|9|5|4|3|2
        ticker USD price=95432.50                                     7: BTC/USD|$|9|5|4|3|2
                                                                      8: BTC/USD|9|5|4|3|2|.|5
        ticker USD price=109876                                       7: BTC/USD|1|0|9|8|7|6
                                                                      8: BTC/USD|$|1|0|9|8|7|6
        ticker USD price=1000000                                      7: BTC/USD|$|1|.|0|0|M
                                                                      8: BTC/USD|1|0|0|0|0|0|0
        ticker USD price=9999                                         7: BTC/USD|9|9|9|9|.|0
                                                                      8: BTC/USD|·|·|$|9|9|9|9
        ticker USD price=9876.54                                      7: BTC/USD|9|8|7|6|.|5
                                                                      8: BTC/USD|$|9|8|7|6|.|5
        ticker USD price=950.5                                        7: BTC/USD|$|9|5|0|.|5
                                                                      8: BTC/USD|·|$|9|5|0|.|5
        ticker USD price=0                                            7: BTC/USD|·|·|·|·|$|0
                                                                      8: BTC/USD|·|·|·|·|·|$|0
        ticker USD                                                    7: BTC/USD|·|·|·|·|·|·
                                                                      8: BTC/USD|·|·|·|·|·|·|·
        ticker USD price=-1                                           7: BTC/USD|·|·|·|·|·|·
                                                                      8: BTC/USD|·|·|·|·|·|·|·
        ticker USD price=3000000000                                   7: BTC/USD|·|·|·|·|·|·
                                                                      8: BTC/USD|·|·|·|·|·|·|·
        ticker USD price=0.005                                        7: BTC/USD|·|·|·|·|$|0
                                                                      8: BTC/USD|·|·|·|·|·|$|0
        ticker EUR price=88001                                        7: BTC/EUR|€|8|8|0|0|1
                                                                      8: BTC/EUR|·|€|8|8|0|0|1
        ticker JPY price=4500000                                      7: BTC/JPY|¥|4|.|5|0|M
                                                                      8: BTC/JPY|4|5|0|0|0|0|0
        ticker JPY price=14500000                                     7: BTC/JPY|¥|1|4|.|5|M
                                                                      8: BTC/JPY|¥|1|4|.|5|0|M
        ticker JPY price=14500000 decimalShareDot                     7: BTC/JPY|¥|1|4.|5|0|M
                                                                      8: BTC/JPY|¥|1|4.|5|0|0|M
        ticker CHF price=75000                                        7: BTC/CHF|CHF|7|5|0|0|0
                                                                      8: BTC/CHF|·|CHF|7|5|0|0|0
        ticker USD price=95432 suffixPrice                            7: BTC/USD|$|9|5|.|4|K
                                                                      8: BTC/USD|$|9|5|.|4|3|K
        ticker USD price=95432 suffixPrice decimalShareDot            7: BTC/USD|$|9|5.|4|3|K
                                                                      8: BTC/USD|$|9|5.|4|3|2|K
        ticker USD price=95432 suffixPrice mowMode                    7: $|0|.|0|9|5|M
                                                                      8: $|0|.|0|9|5|4|M
        ticker USD price=95432 suffixPrice mowMode decimalShareDot    7: BTC/USD|$|0.|0|9|5|M
                                                                      8: BTC/USD|$|0.|0|9|5|4|M
        ticker USD price=95432 mowMode                                7: BTC/USD|$|9|5|4|3|2
                                                                      8: BTC/USD|·|$|9|5|4|3|2
        ticker USD price=109876 suffixPrice                           7: BTC/USD|·|$|1|1|0|K
                                                                      8: BTC/USD|$|1|0|9|.|9|K
        ticker USD price=99999 suffixPrice                            7: BTC/USD|·|$|1|0|0|K
                                                                      8: BTC/USD|$|1|0|0|.|0|K
        ticker USD price=999999 suffixPrice                           7: BTC/USD|$|1|0|0|0|K
                                                                      8: BTC/USD|·|$|1|0|0|0|K
        ticker USD price=999 suffixPrice mowMode                      7: $|0|.|0|0|0|M
                                                                      8: $|0|.|0|0|0|9|M
        ticker USD price=0 suffixPrice                                7: BTC/USD|·|·|·|·|$|0
                                                                      8: BTC/USD|·|·|·|·|·|$|0
        ticker USD price=0 suffixPrice mowMode                        7: BTC/USD|·|·|·|$|0|M
                                                                      8: BTC/USD|·|·|·|·|$|0|M
        ",
    );
}

#[test]
fn sats_per_currency() {
    check(
        "
        sats USD price=95432                                     7: MSCW/TIME|·|·|1|0|4|8
                                                                 8: MSCW/TIME|·|·|·|1|0|4|8
        sats USD price=95432 priceSymMode=1                      7: MSCW/TIME|·|STS|1|0|4|8
                                                                 8: MSCW/TIME|·|·|STS|1|0|4|8
        sats USD price=95432 priceSymMode=2                      7: MSCW/TIME|·|₿|1|0|4|8
                                                                 8: MSCW/TIME|·|·|₿|1|0|4|8
        sats USD price=95432 priceSymMode=1 useMscwTime=false    7: SATS/USD|·|STS|1|0|4|8
                                                                 8: SATS/USD|·|·|STS|1|0|4|8
        sats EUR price=88001 priceSymMode=1                      7: SATS/EUR|·|STS|1|1|3|6
                                                                 8: SATS/EUR|·|·|STS|1|1|3|6
        sats JPY price=14500000 priceSymMode=1                   7: SATS/JPY|·|·|·|·|STS|7
                                                                 8: SATS/JPY|·|·|·|·|·|STS|7
        sats USD price=1000 priceSymMode=1                       7: SATS/USD|1|0|0|0|0|0
                                                                 8: SATS/USD|STS|1|0|0|0|0|0
        sats USD price=1000.01                                   7: MSCW/TIME|·|9|9|9|9|9
                                                                 8: MSCW/TIME|·|·|9|9|9|9|9
        sats XAU price=15.97 priceSymMode=1                      7: SATS/XAU|STS|6|.|2|6|M
                                                                 8: SATS/XAU|6|2|6|1|7|4|1
        sats XAU price=15.97                                     7: SATS/XAU|6|.|2|6|2|M
                                                                 8: SATS/XAU|6|2|6|1|7|4|1
        sats USD price=0.5 priceSymMode=1                        7: SATS/USD|·|STS|2|0|0|M
                                                                 8: SATS/USD|STS|2|0|0|.|0|M
        sats USD price=100004000                                 7: MSCW/TIME|·|·|·|·|·|1
                                                                 8: SATS/USD|0|.|9|9|9|9|6
        sats USD price=0                                         7: SATS/USD|·|·|·|·|·|·
                                                                 8: SATS/USD|·|·|·|·|·|·|·
        sats USD price=0.01                                      7: SATS/USD|·|·|·|·|·|·
                                                                 8: SATS/USD|·|·|·|·|·|·|·
        ",
    );
}

#[test]
fn market_cap() {
    check(
        "
        mcap USD height=957123 price=95432                       7: USD/MCAP|$|1|.|9|1|T
                                                                 8: USD/MCAP|$|1|.|9|1|4|T
        mcap USD height=957123 price=95432 decimalShareDot       7: USD/MCAP|$|1.|9|1|4|T
                                                                 8: USD/MCAP|$|1.|9|1|3|7|T
        mcap EUR height=957123 price=88001                       7: EUR/MCAP|€|1|.|7|6|T
                                                                 8: EUR/MCAP|€|1|.|7|6|5|T
        mcap JPY height=957123 price=14500000                    7: JPY/MCAP|·|¥|2|9|1|T
                                                                 8: JPY/MCAP|¥|2|9|0|.|8|T
        mcap JPY height=957123 price=14500000 decimalShareDot    7: JPY/MCAP|¥|2|9|0.|8|T
                                                                 8: JPY/MCAP|¥|2|9|0.|7|8|T
        mcap CHF height=957123 price=75000                       7: CHF/MCAP|CHF|1|.|5|0|T
                                                                 8: CHF/MCAP|CHF|1|.|5|0|4|T
        mcap USD height=957123 price=40000                       7: USD/MCAP|·|$|8|0|2|B
                                                                 8: USD/MCAP|$|8|0|2|.|1|B
        mcap USD height=957123                                   7: USD/MCAP|·|·|·|·|·|·
                                                                 8: USD/MCAP|·|·|·|·|·|·|·
        mcap USD height=957123 price=95432 mcapBigChar=false     7: USD/MCAP|$|1|.|9|1|T
        ",
    );
}
