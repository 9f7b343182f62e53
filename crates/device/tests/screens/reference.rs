//! Layouts that other clocks of the same interface show too.

use super::check;

#[test]
fn block_height() {
    check(
        "
        block height=999999     7: BLOCK/HEIGHT|9|9|9|9|9|9
        block height=1000000    7: 1|0|0|0|0|0|0
        block height=123456     8: BLOCK/HEIGHT|·|1|2|3|4|5|6
        block                   7: BLOCK/HEIGHT|·|·|·|·|·|·
                                8: BLOCK/HEIGHT|·|·|·|·|·|·|·
        ",
    );
}

#[test]
fn market_cap() {
    check(
        "
        mcap USD height=831000 price=52000                    7: USD/MCAP|$|1|.|0|2|T
        mcap USD height=831000 price=52000 decimalShareDot    7: USD/MCAP|$|1.|0|2|1|T
        mcap USD height=810000 price=26000                    7: USD/MCAP|·|$|5|0|7|B
        mcap EUR height=840000 price=100000                   7: EUR/MCAP|€|1|.|9|7|T
        mcap USD height=831000                                7: USD/MCAP|·|·|·|·|·|·
        mcap USD price=52000                                  8: USD/MCAP|·|·|·|·|·|·|·
        ",
    );
}

#[test]
fn sats_per_currency() {
    check(
        "
        sats USD price=2684 priceSymMode=1                             7: MSCW/TIME|STS|3|7|2|5|8
                                                                       8: MSCW/TIME|·|STS|3|7|2|5|8
        sats USD price=2684                                            7: MSCW/TIME|·|3|7|2|5|8
        sats USD price=2684 useMscwTime=false                          7: SATS/USD|·|3|7|2|5|8
        sats EUR price=2684                                            7: SATS/EUR|·|3|7|2|5|8
        sats USD price=50                                              8: SATS/USD|2|0|0|0|0|0|0
        sats USD price=99950 priceSymMode=1                            7: MSCW/TIME|·|STS|1|0|0|1
        sats USD price=10000 priceSymMode=1                            7: MSCW/TIME|STS|1|0|0|0|0
        sats VND price=2550000000 priceSymMode=1                       7: SATS/VND|STS|0|.|0|3|9
        sats VND price=2550000000                                      7: SATS/VND|0|.|0|3|9|2
        sats VND price=2550000000 priceSymMode=1 decimalShareDot       7: SATS/VND|STS|0.|0|3|9|2
        sats VND price=2550000000 decimalShareDot                      7: SATS/VND|0.|0|3|9|2|2
                                                                       8: SATS/VND|0.|0|3|9|2|1|6
        sats VND price=2550000000                                      8: SATS/VND|0|.|0|3|9|2|2
        sats USD price=37253                                           7: MSCW/TIME|·|·|2|6|8|4
        sats GBP price=37253                                           7: SATS/GBP|·|·|2|6|8|4
        sats EUR price=60000 priceSymMode=1                            7: SATS/EUR|·|STS|1|6|6|7
        sats EUR price=60000                                           7: SATS/EUR|·|·|1|6|6|7
        sats EUR price=200000000                                       7: SATS/EUR|0|.|5|0|0|0
        sats EUR price=100004000 priceSymMode=1                        7: SATS/EUR|·|·|·|·|STS|1
        sats EUR                                                       7: SATS/EUR|·|·|·|·|·|·
        sats EUR price=0                                               7: SATS/EUR|·|·|·|·|·|·
        sats EUR price=0.01                                            7: SATS/EUR|·|·|·|·|·|·
        ",
    );
}

#[test]
fn ticker_in_full() {
    check(
        "
        ticker USD price=64211.53    7: BTC/USD|$|6|4|2|1|2
        ticker USD price=999999      7: BTC/USD|9|9|9|9|9|9
                                     8: BTC/USD|$|9|9|9|9|9|9
        ticker USD price=0.123       7: BTC/USD|$|0|.|1|2|3
        ticker USD price=45.67       7: BTC/USD|$|4|5|.|6|7
        ticker USD price=7858        8: BTC/USD|·|·|$|7|8|5|8
        ticker USD price=16.01       8: BTC/USD|·|$|1|6|.|0|1
        ticker USD price=123456      8: BTC/USD|$|1|2|3|4|5|6
        ticker USD price=78280       7: BTC/USD|$|7|8|2|8|0
        ticker USD price=102345      7: BTC/USD|1|0|2|3|4|5
        ticker USD price=78583.0     7: BTC/USD|$|7|8|5|8|3
        ticker USD price=7858.3      7: BTC/USD|7|8|5|8|.|3
        ticker USD price=123.4       7: BTC/USD|$|1|2|3|.|4
        ticker USD price=100000      7: BTC/USD|1|0|0|0|0|0
        ticker USD price=99999.99    7: BTC/USD|1|0|0|0|0|0
        ticker USD price=100         7: BTC/USD|$|1|0|0|.|0
        ticker USD price=99.99       7: BTC/USD|$|9|9|.|9|9
        ticker USD price=1           7: BTC/USD|·|$|1|.|0|0
        ticker USD price=0.99        7: BTC/USD|$|0|.|9|9|0
        ticker USD price=0.01        7: BTC/USD|$|0|.|0|1|0
        ticker USD price=0.001       7: BTC/USD|·|·|·|·|$|0
        ",
    );
}

#[test]
fn ticker_with_a_letter() {
    check(
        "
        ticker USD price=78280 suffixPrice                        7: BTC/USD|$|7|8|.|3|K
        ticker USD price=1234 suffixPrice                         7: BTC/USD|$|1|.|2|3|K
        ticker USD price=10000000 suffixPrice                     7: BTC/USD|$|1|0|.|0|M
        ticker USD price=999 suffixPrice                          7: BTC/USD|·|·|$|9|9|9
        ticker USD price=1000 suffixPrice                         7: BTC/USD|$|1|.|0|0|K
        ticker USD price=1000000000 suffixPrice                   7: BTC/USD|$|1|.|0|0|B
        ticker USD price=78280 suffixPrice mowMode                7: $|0|.|0|7|8|M
        ticker USD price=1000000 suffixPrice mowMode              7: $|1|.|0|0|0|M
        ticker USD price=99999 suffixPrice mowMode                7: $|0|.|0|9|9|M
        ticker USD price=78280 mowMode                            7: BTC/USD|$|7|8|2|8|0
        ticker USD price=0 suffixPrice mowMode                    7: BTC/USD|·|·|·|$|0|M
        ticker USD price=78280 suffixPrice                        8: BTC/USD|$|7|8|.|2|8|K
        ticker USD price=9999999                                  7: BTC/USD|$|1|0|.|0|M
        ticker EUR price=99999999                                 7: BTC/EUR|·|€|1|0|0|M
        ticker USD price=1000000                                  7: BTC/USD|$|1|.|0|0|M
        ticker EUR price=78280 suffixPrice mowMode                7: €|0|.|0|7|8|M
        ticker GBP price=78280 suffixPrice mowMode                7: £|0|.|0|7|8|M
        ticker JPY price=78280 suffixPrice mowMode                7: ¥|0|.|0|7|8|M
        ticker CAD price=78280 suffixPrice mowMode                7: $|0|.|0|7|8|M
        ticker AUD price=78280 suffixPrice mowMode                7: $|0|.|0|7|8|M
        ticker CHF price=78280 suffixPrice mowMode                7: CHF|0|.|0|7|8|M
        ticker BRL price=78280 suffixPrice mowMode                7: BRL|0|.|0|7|8|M
        ticker EUR price=99000000 suffixPrice mowMode             8: €|9|9|.|0|0|0|M
        ticker USD price=78080 suffixPrice decimalShareDot        7: BTC/USD|$|7|8.|0|8|K
        ticker USD price=100000 suffixPrice decimalShareDot       7: BTC/USD|$|1|0|0.|0|K
        ticker USD price=1000000 suffixPrice decimalShareDot      7: BTC/USD|$|1.|0|0|0|M
        ticker USD price=93600 suffixPrice mowMode decimalShareDot    7: BTC/USD|$|0.|0|9|3|M
        ",
    );
}

#[test]
fn clock() {
    check(
        "
        clock time=13:37-9/5                 7: 9/5|·|1|3|:|3|7
        clock time=07:05-9/5 hideLeadZero    7: 9/5|·|·|7|:|0|5
        clock time=14:07-9/5                 7: 9/5|·|1|4|:|0|7
        clock time=03:09-9/5                 7: 9/5|·|0|3|:|0|9
        clock time=00:00-1/1                 7: 1/1|·|0|0|:|0|0
        clock time=23:59-31/12               7: 31/12|·|2|3|:|5|9
        clock                                7: -/-|·|·|·|·|·|·
        ",
    );
}
