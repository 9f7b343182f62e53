//! More lines, on boards with 7 and with 8 panels.

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
        clock time=07:05-9/5                   7: 09/05|·|0|7|:|0|5
                                               8: 09/05|·|·|0|7|:|0|5
        clock time=07:05-9/5 hideLeadZero      7: 09/05|·|·|7|:|0|5
                                               8: 09/05|·|·|·|7|:|0|5
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
        ticker USD price=95432.50                                     7: BTC/USD|$|9|5|4|3|3
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
        ticker USD price=0.005                                        7: BTC/USD|$|<|0|.|0|1
                                                                      8: BTC/USD|·|$|<|0|.|0|1
        ticker USD price=0.4 suffixPrice                              7: BTC/USD|·|$|0|.|4|0
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
        ticker USD price=95432 mowMode                                7: $|0|.|0|9|5|M
                                                                      8: $|0|.|0|9|5|4|M
        ticker USD price=95432 mowMode decimalShareDot                7: BTC/USD|$|0.|0|9|5|M
                                                                      8: BTC/USD|$|0.|0|9|5|4|M
        ticker USD price=109876 suffixPrice                           7: BTC/USD|·|$|1|1|0|K
                                                                      8: BTC/USD|$|1|0|9|.|9|K
        ticker USD price=99999 suffixPrice                            7: BTC/USD|·|$|1|0|0|K
                                                                      8: BTC/USD|$|1|0|0|.|0|K
        ticker USD price=999999 suffixPrice                           7: BTC/USD|$|1|.|0|0|M
                                                                      8: BTC/USD|$|1|.|0|0|0|M
        ticker USD price=95450 suffixPrice                            7: BTC/USD|$|9|5|.|5|K
        ticker USD price=9425 suffixPrice decimalShareDot             7: BTC/USD|$|9.|4|2|5|K
        ticker USD price=9425 suffixPrice                             7: BTC/USD|$|9|.|4|3|K
        ticker USD price=617250 suffixPrice                           8: BTC/USD|$|6|1|7|.|3|K
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
        mcap USD height=957123 price=0.4                         7: USD/MCAP|$|8|.|0|2|M
        mcap USD height=10000 price=2469                         8: USD/MCAP|$|1|.|2|3|5|B
        mcap USD height=957123                                   7: USD/MCAP|·|·|·|·|·|·
                                                                 8: USD/MCAP|·|·|·|·|·|·|·
        mcap USD height=957123 price=95432 mcapBigChar=false     7: USD/MCAP|$|1|.|9|1|T
        ",
    );
}

#[test]
fn chain_age() {
    check(
        "
        halving height=957123                           7: HAL/VING|·|9|2|8|7|7
                                                        8: HAL/VING|·|·|9|2|8|7|7
        halving height=1049999                          7: HAL/VING|·|·|·|·|·|1
                                                        8: HAL/VING|·|·|·|·|·|·|1
        halving height=1050000                          7: HAL/VING|2|1|0|0|0|0
                                                        8: HAL/VING|·|2|1|0|0|0|0
        halving height=957123 useBlkCountdown=false     7: BIT/COIN|HAL/VING|1/YRS|279/DAYS|23/HRS|30/MINS|TO/GO
                                                        8: ·|BIT/COIN|HAL/VING|1/YRS|279/DAYS|23/HRS|30/MINS|TO/GO
        halving height=1049999 useBlkCountdown=false    7: BIT/COIN|HAL/VING|0/YRS|0/DAYS|0/HRS|10/MINS|TO/GO
                                                        8: ·|BIT/COIN|HAL/VING|0/YRS|0/DAYS|0/HRS|10/MINS|TO/GO
        supply height=957123                            7: BTC/SUPPLY|2|0|.|0|5|M
                                                        8: BTC/SUPPLY|2|0|.|0|5|4|M
        supply height=957123 supplyPercent              7: BTC/SUPPLY|9|5|.|4|9|%
                                                        8: BTC/SUPPLY|·|9|5|.|4|9|%
        supply height=1                                 7: BTC/SUPPLY|·|·|·|·|5|0
                                                        8: BTC/SUPPLY|·|·|·|·|·|5|0
        supply height=12345                             7: BTC/SUPPLY|6|1|7|.|3|K
        supply height=0 supplyPercent                   7: BTC/SUPPLY|·|0|.|0|0|%
                                                        8: BTC/SUPPLY|·|·|0|.|0|0|%
        ",
    );
}

#[test]
fn fee_rate() {
    check(
        "
        fee fee=4.7                       7: FEE/RATE|·|4|.|7|0|sat/vB
                                          8: FEE/RATE|·|·|4|.|7|0|sat/vB
        fee fee=4.7 decimalShareDot       7: FEE/RATE|·|·|4.|7|0|sat/vB
                                          8: FEE/RATE|·|·|·|4.|7|0|sat/vB
        fee fee=0.99                      7: FEE/RATE|·|0|.|9|9|sat/vB
                                          8: FEE/RATE|·|·|0|.|9|9|sat/vB
        fee fee=0.001                     7: FEE/RATE|<|0|.|0|1|sat/vB
        fee fee=0.005 decimalShareDot     7: FEE/RATE|·|·|0.|0|1|sat/vB
        fee fee=0.004 decimalShareDot     7: FEE/RATE|·|·|<0.|0|1|sat/vB
        fee fee=0.4 blockFeeDec=false     7: FEE/RATE|·|·|·|<|1|sat/vB
        fee fee=9.994                     7: FEE/RATE|·|9|.|9|9|sat/vB
                                          8: FEE/RATE|·|·|9|.|9|9|sat/vB
        fee fee=9.999                     7: FEE/RATE|·|·|·|1|0|sat/vB
                                          8: FEE/RATE|·|·|·|·|1|0|sat/vB
        fee fee=12                        7: FEE/RATE|·|·|·|1|2|sat/vB
                                          8: FEE/RATE|·|·|·|·|1|2|sat/vB
        fee fee=12.345                    7: FEE/RATE|1|2|.|3|5|sat/vB
                                          8: FEE/RATE|·|1|2|.|3|5|sat/vB
        fee fee=150.25                    7: FEE/RATE|·|·|1|5|0|sat/vB
                                          8: FEE/RATE|1|5|0|.|2|5|sat/vB
        fee fee=150.25 decimalShareDot    7: FEE/RATE|·|·|1|5|0|sat/vB
                                          8: FEE/RATE|·|·|·|150.|2|5|sat/vB
        fee                               7: FEE/RATE|·|·|·|·|·|sat/vB
                                          8: FEE/RATE|·|·|·|·|·|·|sat/vB
        ",
    );
}

#[test]
fn pool_hashrate() {
    check(
        "
        pool-hash logo=noderunners hashrate=742500000000000             7: <noderunners>|7|4|2|.|5|TH/S
                                                                        8: <noderunners>|·|7|4|2|.|5|TH/S
        pool-hash logo=noderunners hashrate=998765432100000             7: <noderunners>|9|9|8|.|8|TH/S
                                                                        8: <noderunners>|9|9|8|.|7|7|TH/S
        pool-hash logo=noderunners hashrate=1000                        7: <noderunners>|·|·|·|·|1|KH/S
                                                                        8: <noderunners>|·|·|·|·|·|1|KH/S
        pool-hash logo=noderunners hashrate=999                         7: <noderunners>|·|·|9|9|9|H/S
                                                                        8: <noderunners>|·|·|·|9|9|9|H/S
        pool-hash logo=noderunners hashrate=999999                      7: <noderunners>|·|·|·|·|1|MH/S
                                                                        8: <noderunners>|·|·|·|·|·|1|MH/S
        pool-hash logo=noderunners hashrate=12500000000000000000        7: <noderunners>|·|1|2|.|5|EH/S
                                                                        8: <noderunners>|·|·|1|2|.|5|EH/S
        pool-hash logo=noderunners hashrate=123456789012345678901234    7: <noderunners>|1|2|3|.|5|ZH/S
                                                                        8: <noderunners>|1|2|3|.|4|6|ZH/S
        pool-hash logo=noderunners hashrate=0                           7: <noderunners>|·|·|·|·|0|H/S
                                                                        8: <noderunners>|·|·|·|·|·|0|H/S
        ",
    );
}

#[test]
fn pool_earnings() {
    check(
        "
        pool-earn miningPoolName=ocean logo=ocean daily=0            7: <ocean>|·|·|·|·|0|SATS
                                                                     8: <ocean>|·|·|·|·|·|0|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=9999         7: <ocean>|·|9|9|9|9|SATS
                                                                     8: <ocean>|·|·|9|9|9|9|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=10000        7: <ocean>|1|0|.|0|K|SATS
                                                                     8: <ocean>|·|1|0|.|0|K|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=99999        7: <ocean>|9|9|.|9|K|SATS
                                                                     8: <ocean>|·|9|9|.|9|K|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=100000       7: <ocean>|·|1|0|0|K|SATS
                                                                     8: <ocean>|·|·|1|0|0|K|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=999999       7: <ocean>|·|9|9|9|K|SATS
                                                                     8: <ocean>|·|·|9|9|9|K|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=1000000      7: <ocean>|1|.|0|0|M|SATS
                                                                     8: <ocean>|·|1|.|0|0|M|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=9999999      7: <ocean>|9|.|9|9|M|SATS
                                                                     8: <ocean>|·|9|.|9|9|M|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=10000000     7: <ocean>|1|0|.|0|M|SATS
                                                                     8: <ocean>|·|1|0|.|0|M|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=99999999     7: <ocean>|9|9|.|9|M|SATS
                                                                     8: <ocean>|·|9|9|.|9|M|SATS
        pool-earn miningPoolName=ocean logo=ocean daily=100000000    7: <ocean>|·|·|·|·|1|BTC
                                                                     8: <ocean>|·|·|·|·|·|1|BTC
        pool-earn miningPoolName=ocean logo=ocean hashrate=0         7: <ocean>|·|·|·|·|·|SATS
                                                                     8: <ocean>|·|·|·|·|·|·|SATS
        ",
    );
}

#[test]
fn miner() {
    check(
        "
        miner-hash miner=0                   7: (pickaxe)|·|·|·|·|0|GH/S
                                             8: (pickaxe)|·|·|·|·|·|0|GH/S
        miner-hash miner=999400000000        7: (pickaxe)|·|·|9|9|9|GH/S
                                             8: (pickaxe)|·|·|·|9|9|9|GH/S
        miner-hash miner=999500000000        7: (pickaxe)|·|·|1|.|0|TH/S
                                             8: (pickaxe)|·|·|·|1|.|0|TH/S
        miner-hash miner=1234000000000       7: (pickaxe)|·|·|1|.|2|TH/S
                                             8: (pickaxe)|·|·|·|1|.|2|TH/S
        miner-hash miner=9949000000000       7: (pickaxe)|·|·|9|.|9|TH/S
                                             8: (pickaxe)|·|·|·|9|.|9|TH/S
        miner-hash miner=9960000000000       7: (pickaxe)|·|1|0|.|0|TH/S
                                             8: (pickaxe)|·|·|1|0|.|0|TH/S
        miner-hash miner=12345000000000      7: (pickaxe)|·|·|·|1|2|TH/S
                                             8: (pickaxe)|·|·|·|·|1|2|TH/S
        miner-hash miner=1000000000000000    7: (pickaxe)|·|·|1|.|0|PH/S
                                             8: (pickaxe)|·|·|·|1|.|0|PH/S
        miner-hash                           7: (pickaxe)|·|·|·|·|·|OFF/LINE
                                             8: (pickaxe)|O|F|F|L|I|N|E
        miner-best best=4.29G                7: (pickaxe)|·|4|.|2|9|G
                                             8: (pickaxe)|·|·|4|.|2|9|G
        miner-best best=123.45M              7: (pickaxe)|1|2|3.|4|5|M
                                             8: (pickaxe)|1|2|3|.|4|5|M
        miner-best                           7: (pickaxe)|·|·|·|·|·|OFF/LINE
                                             8: (pickaxe)|O|F|F|L|I|N|E
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
                                                        8: BLOCK/PROVEN|·|4/AGREE|a|3|f|0|7/MINS
        proof state=alone agreeing=1 hash=000f age=0    7: BLOCK/ALONE|1/AGREE|0|0|0|f|0/MINS
        proof state=disputed agreeing=2 hash=1 age=99   7: BLOCK/DISPUTED|2/AGREE|0|0|0|1|99/MINS
        proof state=stale agreeing=2 hash=1 age=100     7: BLOCK/STALE|2/AGREE|0|0|0|1|1/HRS
        proof state=stale agreeing=2 hash=1 age=5999    7: BLOCK/STALE|2/AGREE|0|0|0|1|99/HRS
        proof state=stale agreeing=2 hash=1 age=6000    7: BLOCK/STALE|2/AGREE|0|0|0|1|4/DAYS
        proof state=alone agreeing=2 hash=1             7: BLOCK/ALONE|2/AGREE|0|0|0|1|·
        ",
    );
}

#[test]
fn wallet_balance() {
    check(
        "
        balance sats=0 priceSymMode=1            7: BAL|(lightning-bolt)|·|·|·|STS|0
                                                 8: BAL|(lightning-bolt)|·|·|·|·|STS|0
        balance sats=420 priceSymMode=1          7: BAL|(lightning-bolt)|·|STS|4|2|0
                                                 8: BAL|(lightning-bolt)|·|·|STS|4|2|0
        balance sats=50000 priceSymMode=1        7: BAL|(lightning-bolt)|5|0|0|0|0
                                                 8: BAL|(lightning-bolt)|STS|5|0|0|0|0
        balance sats=123456 priceSymMode=1       7: BAL|(lightning-bolt)|STS|1|2|3|K
                                                 8: BAL|(lightning-bolt)|1|2|3|4|5|6
        balance sats=12345678 priceSymMode=1     7: BAL|(lightning-bolt)|·|STS|1|2|M
                                                 8: BAL|(lightning-bolt)|·|·|STS|1|2|M
        balance sats=99999999 priceSymMode=1     7: BAL|(lightning-bolt)|STS|1|0|0|M
                                                 8: BAL|(lightning-bolt)|·|STS|1|0|0|M
        balance priceSymMode=1                   7: BAL|(lightning-bolt)|·|·|·|STS|?
                                                 8: BAL|(lightning-bolt)|·|·|·|·|STS|?
        balance sats=100000000 priceSymMode=1    7: BAL|(lightning-bolt)|1.|0|0|0|0
                                                 8: BAL|(lightning-bolt)|1|.|0|0|0|0
        balance sats=123456789 priceSymMode=1    7: BAL|(lightning-bolt)|1.|2|3|4|6
                                                 8: BAL|(lightning-bolt)|1|.|2|3|4|6
        balance sats=1000000000                  7: BAL|1|0.|0|0|0|0
                                                 8: BAL|(lightning-bolt)|1|0.|0|0|0|0
        balance sats=12345678900                 7: BAL|1|2|3.|4|5|7
                                                 8: BAL|1|2|3.|4|5|6|8
        ",
    );
}
