//! The table of settings: a setting is one row, and everything else follows from it.
//!
//! `values` makes a field and a key of every row, `specs` what is known of it; what a row names is imported there.

/// Hands all rows to a macro, in the order of the interface:
///
/// ```text
/// field: type = default, name | older name, kind, access, apply, group,
///     title, help, unit, needs;
/// ```
macro_rules! rows {($make:ident) => { $make! {
    /// Font of digits and labels: an id of `availableFonts`.
    font_name: String = fonts::FONTS[0], "fontName", &FONT, ReadWrite, Live(&[Panels]), Display,
        "Font", "", "", ALWAYS;
    /// Height of the big digit glyphs, px.
    digit_font_px: u32 = 180u32, "digitFontPx", &slider(80..=220), ReadWrite, Live(&[Panels]), Display,
        "Digit height", "", "px", ALWAYS;
    /// Width that split labels may take of the panel's, percent.
    label_fit_pct: u32 = 100u32, "labelFitPct", &slider(25..=100), ReadWrite, Live(&[Panels]), Display,
        "Label width", "How much of a panel a label may fill.", "percent", ALWAYS;
    /// White on black; else black on white.
    inverted_color: bool = false, "invertedColor", &Switch, ReadWrite, Live(&[Panels]), Display,
        "White on black", "", "", ALWAYS;
    /// Time between mandatory full refreshes, min; 0 makes every screen change a full one.
    full_refresh_min: u32 = 60u32, "fullRefreshMin", &uint(0..=1440), ReadWrite, Live(&[Panels]), Display,
        "Full refresh every", "Goes through black and white once, which removes ghosts. 0 does so on every screen change.", "min", ALWAYS;
    /// Full refresh on every screen change.
    refr_scrn_change: bool = false, "refrScrnChange", &Switch, ReadWrite, Live(&[Panels]), Display,
        "Full refresh on every screen", "Without ghosts, but with a flash each time.", "", ALWAYS;
    /// Turned labels: 90 degrees counter-clockwise, so that they read along the long side of the panel.
    vertical_desc: bool = true, "verticalDesc", &Switch, ReadWrite, Live(&[Panels]), Display,
        "Vertical labels", "Labels read along the long side of the panel.", "", ALWAYS;
    /// Big characters for market cap and supply; without effect, because the panels always show the big form.
    mcap_big_char: bool = true, "mcapBigChar", &Switch, ReadWrite, Live(&[]), Display,
        "", "", "", ALWAYS;
    /// Supply as percent of 21 million; else as an amount.
    supply_percent: bool = false, "supplyPercent", &Switch, ReadWrite, Live(&[Panels]), Display,
        "Supply in percent", "Share of the 21 million instead of an amount.", "", ALWAYS;
    /// Halving as a number of blocks; else as years, days, hours and minutes.
    use_blk_countdown: bool = true, "useBlkCountdown", &Switch, ReadWrite, Live(&[Panels]), Display,
        "Halving in blocks", "Otherwise as years, days, hours and minutes.", "", ALWAYS;
    /// Labels sats per US dollar as Moscow time.
    use_mscw_time: bool = true, "useMscwTime", &Switch, ReadWrite, Live(&[Panels]), Display,
        "Moscow time", "Sats per dollar are labelled as Moscow time.", "", ALWAYS;
    /// Marker before amounts of satoshis.
    price_sym_mode: u32 = 0u32, "priceSymMode", &Numbered(&["none", "satoshi symbol", "bitcoin sign"]), ReadWrite, Live(&[Panels]), Display,
        "Sats marker", "Stands before amounts of sats.", "", ALWAYS;
    /// Drawing of the satoshi symbol: one of 16.
    sats_variant: u32 = 7u32, "satsVariant", &slider(0..=15), ReadWrite, Live(&[Panels]), Display,
        "Satoshi symbol", "Sixteen drawings to choose from.", "", &[Among(Key::price_sym_mode, &[1])];
    /// Decimals of the fee rate: where the source gives them and they fit.
    block_fee_dec: bool = true, "blockFeeDec", &Switch, ReadWrite, Live(&[Panels, Sources]), Display,
        "Fee with decimals", "Where the source tells them and they fit.", "", ALWAYS;
    /// Suffixes K and M on the price screen; where the digits would not fit, always.
    suffix_price: bool = false, "suffixPrice", &Switch, ReadWrite, Live(&[Panels]), Display,
        "Short prices", "With K and M.", "", ALWAYS;
    /// The decimal dot shares the panel of the digit before it.
    decimal_share_dot: bool = false, "decimalShareDot", &Switch, ReadWrite, Live(&[Panels]), Display,
        "Dot shares a panel", "The decimal dot stands beside the digit before it.", "", ALWAYS;
    /// Price in millions per bitcoin; with an M.
    mow_mode: bool = false, "mowMode", &Switch, ReadWrite, Live(&[Panels]), Display,
        "Price in millions", "With an M.", "", ALWAYS;
    /// Drops the leading zero of hours on the clock.
    hide_lead_zero: bool = false, "hideLeadZero", &Switch, ReadWrite, Live(&[Panels]), Time,
        "No leading zero", "9:05 instead of 09:05.", "", ALWAYS;
    /// Auto-rotate period, s; 0 stops the rotation. Written as `timePerScreen`, in minutes.
    timer_seconds: u32 = 1800u32, "timerSeconds", &uint(0..=3600), ReadOnly, Live(&[Rotation]), Rotation,
        "", "", "s", ALWAYS;
    /// Time that a zap or a payment is shown, s.
    overlay_seconds: u32 = 30u32, "overlaySeconds", &uint(1..=3600), ReadWrite, Live(&[Panels]), Rotation,
        "Zaps and payments stay for", "Then the screen before is shown again.", "s", ALWAYS;
    /// Persisted rotation order: ids of screens, comma-separated; empty is that of a fresh clock.
    screen_order: Vec<u16> = Vec::<u16>::new(), "screenOrder", &ScreenIds, ReadOnly, Live(&[Rotation]), Rotation,
        "", "", "", ALWAYS;
    /// Ids of the screens that rotation skips.
    screens_hidden: Vec<u16> = catalog::hidden_at_first(), "screensHidden", &ScreenIds, Internal, Live(&[Rotation]), Rotation,
        "", "", "", ALWAYS;

    /// Start of the host name; the device adds a dash and the end of its hardware address.
    hostname_prefix: String = "papertick", "hostnamePrefix", &Text(TEXT_MAX), ReadWrite, Live(&[Advert, Panels, Mqtt, Update]), Network,
        "Name on the network", "The end of the hardware address is added.", "", ALWAYS;
    /// Announces the clock on the local network.
    mdns_enabled: bool = true, "mdnsEnabled", &Switch, ReadWrite, Live(&[Advert]), Network,
        "Can be discovered", "Announces itself on the local network.", "", ALWAYS;
    /// Time without Wi-Fi before a restart, min; 0 never restarts.
    wifi_reboot_min: u32 = 10u32, "wifiRebootMin", &uint(0..=120), ReadWrite, Live(&[Wifi]), Network,
        "Restart without Wi-Fi after", "0 never restarts.", "min", WITH_RADIO;
    /// Time in the provisioning access point before a restart, s; 0 never restarts.
    wp_timeout: u32 = 900u32, "wpTimeout", &uint(0..=3600), ReadWrite, Reboot, Network,
        "Set-up mode ends after", "Then the clock restarts. 0 waits for ever.", "s", WITH_RADIO;
    /// Wi-Fi transmit power, quarter-dBm; 80 leaves the radio's own.
    tx_power: Option<i32> = None::<i32>, "txPower", &TxPower, ReadWrite, Live(&[Wifi]), Network,
        "Transmit power", "", "quarter-dBm", WITH_RADIO;
    /// Wi-Fi credentials were stored by provisioning.
    wifi_configured: bool = false, "wifiConfigured", &Switch, ReadOnly, Live(&[Wifi]), Network,
        "", "", "", ALWAYS;

    /// Sends outbound connections through the proxy.
    proxy_enabled: bool = false, "proxyEnabled", &Switch, ReadWrite, Live(&[Outbound]), Proxy,
        "Use a proxy", "For every connection that the clock opens.", "", ALWAYS;
    /// Kind of proxy.
    proxy_type: u32 = 0u32, "proxyType", &Numbered(&["none", "HTTP CONNECT", "SOCKS4", "SOCKS4a", "SOCKS5"]), ReadWrite, Live(&[Outbound]), Proxy,
        "Kind", "", "", WITH_PROXY;
    /// Host of the proxy.
    proxy_host: Endpoint = "", "proxyHost", &Host(TEXT_MAX), ReadWrite, Live(&[Outbound]), Proxy,
        "Host", "", "", WITH_PROXY;
    /// Port of the proxy.
    proxy_port: u32 = 1080u32, "proxyPort", &uint(1..=65535), ReadWrite, Live(&[Outbound]), Proxy,
        "Port", "", "", WITH_PROXY;
    /// User name for the proxy; not used for SOCKS4 and SOCKS4a.
    proxy_user: String = "", "proxyUser", &Text(TEXT_MAX), ReadWrite, Live(&[Outbound]), Proxy,
        "User name", "", "", &[On(Key::proxy_enabled), Among(Key::proxy_type, &[0, 1, 4])];
    /// Password for the proxy; not used for SOCKS4 and SOCKS4a.
    proxy_pass: Secret = Secret::default(), "proxyPass", &Text(TEXT_MAX), WriteOnly, Live(&[Outbound]), Proxy,
        "Password", "", "", &[On(Key::proxy_enabled), Among(Key::proxy_type, &[0, 1, 4])];
    /// Hosts that are reached without the proxy: comma-separated, `*` at the start or the end.
    proxy_bypass: String = "*.local,192.168.*,10.*,127.0.0.1", "proxyBypass", &Text(TEXT_MAX), ReadWrite, Live(&[Outbound]), Proxy,
        "Reached directly", "Hosts without the proxy: comma-separated, with * at the start or the end.", "", WITH_PROXY;

    /// Connects to an MQTT broker: tells it how the clock is, and does what it is told through it.
    mqtt_enabled: bool = false, "mqttEnabled", &Switch, ReadWrite, Live(&[Mqtt]), Mqtt,
        "Connect to an MQTT broker", "For Home Assistant and for many clocks. Whoever may write to the clock's topics controls it.", "", ALWAYS;
    /// Host of the broker.
    mqtt_host: Endpoint = "", "mqttHost", &Host(TEXT_MAX), ReadWrite, Live(&[Mqtt]), Mqtt,
        "Host of the broker", "", "", WITH_MQTT;
    /// Port of the broker; 0 is the usual one: 1883, with TLS 8883.
    mqtt_port: u32 = 0u32, "mqttPort", &uint(0..=65535), ReadWrite, Live(&[Mqtt]), Mqtt,
        "Port of the broker", "0 is the usual one.", "", WITH_MQTT;
    /// Speaks to the broker over TLS.
    mqtt_tls: bool = false, "mqttTls", &Switch, ReadWrite, Live(&[Mqtt]), Mqtt,
        "Broker over TLS", "", "", WITH_MQTT;
    /// Authorities that are trusted for the broker, beside the public ones: certificates in PEM form, or empty.
    mqtt_ca: Secret = Secret::default(), "mqttCa", &CERTIFICATES, WriteOnly, Live(&[Mqtt]), Mqtt,
        "Authority of the broker", "A certificate in PEM form, where the broker has its own.", "", WITH_MQTT_TLS;
    /// Certificate that the clock shows to the broker, with those between it and its authority: in PEM form, or empty.
    mqtt_cert: Secret = Secret::default(), "mqttCert", &CERTIFICATES, WriteOnly, Live(&[Mqtt]), Mqtt,
        "Certificate of the clock", "In PEM form, where the broker asks for one.", "", WITH_MQTT_TLS;
    /// Private key of that certificate: in PEM form, without a passphrase.
    mqtt_key: Secret = Secret::default(), "mqttKey", &PRIVATE_KEY, WriteOnly, Live(&[Mqtt]), Mqtt,
        "Key of the certificate", "In PEM form, without a passphrase.", "", WITH_MQTT_TLS;
    /// User name at the broker; empty for none.
    mqtt_user: String = "", "mqttUser", &Text(TEXT_MAX), ReadWrite, Live(&[Mqtt]), Mqtt,
        "User name", "", "", WITH_MQTT;
    /// Password at the broker.
    mqtt_pass: Secret = Secret::default(), "mqttPass", &Text(TEXT_MAX), WriteOnly, Live(&[Mqtt]), Mqtt,
        "Password", "", "", WITH_MQTT;
    /// Name by which the broker knows the connection; empty is the host name.
    mqtt_client_id: String = "", "mqttClientId", &Text(TEXT_MAX), ReadWrite, Live(&[Mqtt]), Mqtt,
        "Client id", "Empty is the host name of the clock.", "", WITH_MQTT;
    /// What the topics of all clocks begin with.
    mqtt_base: String = "papertick", "mqttBase", &Topic, ReadWrite, Live(&[Mqtt]), Mqtt,
        "Topics begin with", "", "", WITH_MQTT;
    /// Groups to which the clock belongs, besides all clocks: at most 8 names with commas between them.
    mqtt_groups: String = "", "mqttGroups", &GroupNames, ReadWrite, Live(&[Mqtt]), Mqtt,
        "Groups", "Names with commas between them. What is told to a group is told to all clocks in it.", "", WITH_MQTT;
    /// Version of the protocol; automatic is 5, and 3.1.1 with a broker that does not know it.
    mqtt_protocol: u32 = 0u32, "mqttProtocol", &Numbered(&["automatic", "MQTT 5", "MQTT 3.1.1"]), ReadWrite, Live(&[Mqtt]), Mqtt,
        "Protocol", "", "", WITH_MQTT;
    /// Longest silence towards the broker, s; it takes the clock for gone after one and a half of it.
    mqtt_keep_alive: u32 = 60u32, "mqttKeepAlive", &uint(5..=3600), ReadWrite, Live(&[Mqtt]), Mqtt,
        "Sign of life every", "", "s", WITH_MQTT;
    /// Publishes a picture of the panels after each refresh.
    mqtt_panels: bool = true, "mqttPanels", &Switch, ReadWrite, Live(&[Mqtt]), Mqtt,
        "Picture of the panels", "Published after each refresh, a few kilobytes.", "", WITH_MQTT;
    /// Tells Home Assistant what the clock has, so that it appears there by itself.
    ha_discovery: bool = true, "haDiscovery", &Switch, ReadWrite, Live(&[Mqtt]), Mqtt,
        "Appear in Home Assistant", "", "", WITH_MQTT;
    /// Where Home Assistant looks for devices: what the topics of its discovery begin with.
    ha_prefix: String = "homeassistant", "haPrefix", &Topic, ReadWrite, Live(&[Mqtt]), Mqtt,
        "Discovery prefix", "As it is set in Home Assistant.", "", WITH_HOME_ASSISTANT;
    /// Topic on which Home Assistant says that it has started.
    ha_status_topic: String = "homeassistant/status", "haStatusTopic", &Topic, ReadWrite, Live(&[Mqtt]), Mqtt,
        "Topic of its status", "As it is set in Home Assistant.", "", WITH_HOME_ASSISTANT;

    /// Where block and price data come from.
    data_source: u32 = 0u32, "dataSource", &Numbered(data_source::NAMES), ReadWrite, Reboot, Data,
        "Source", "Where blocks, fees and prices come from.", "", ALWAYS;
    /// Host of the block explorer.
    explorer_instance: Endpoint = "mempool.space", "explorerInstance" | "mempoolInstance", &Host(TEXT_MAX), ReadWrite, Reboot, Data,
        "Explorer host", "", "", &[Among(Key::data_source, &[EXPLORER])];
    /// Uses TLS to the block explorer.
    explorer_secure: bool = true, "explorerSecure" | "mempoolSecure", &Switch, ReadWrite, Reboot, Data,
        "Explorer over TLS", "", "", &[Among(Key::data_source, &[EXPLORER])];
    /// Host of the custom relay.
    ce_endpoint: Endpoint = "ws-staging.btclock.dev", "ceEndpoint", &Host(TEXT_MAX), ReadWrite, Reboot, Data,
        "Your relay", "Host, with a port if it needs one. With the explorer, prices come from it instead of the exchange; as delivered or empty, it is not asked there.", "", &[Among(Key::data_source, &[EXPLORER, CUSTOM_RELAY])];
    /// Speaks to the custom relay without TLS.
    ce_disable_ssl: bool = false, "ceDisableSSL", &Switch, ReadWrite, Reboot, Data,
        "Your relay without TLS", "Only on a network that you trust.", "", &[Among(Key::data_source, &[EXPLORER, CUSTOM_RELAY])];
    /// What is made of proof of work: nothing; a mark on what should be proven and is not; or only proven heights on the glass.
    proof_mode: u32 = 1u32, "proofMode", &Numbered(proof_mode::NAMES), ReadWrite, Live(&[Panels]), Data,
        "Proof of the height", "Mark shows every height at once, with a small sign where it is not proven or sources disagree. Strict shows only proven heights: something that proves them must be in use.", "", ALWAYS;
    /// Offers a screen that says how the height is proven.
    proof_screen: bool = false, "proofScreen", &Switch, ReadWrite, Live(&[Rotation]), Data,
        "Screen of the proof", "Adds a screen: how good the height is, how many sources have the newest block, the end of its hash, and its age.", "", ALWAYS;
    /// What the owner's node speaks: blocks come from it and are checked, fees too where it tells them.
    node_kind: u32 = 0u32, "nodeKind", &Numbered(&["none", "Bitcoin network", "Electrum", "Bitcoin Core REST", "Bitcoin Core RPC"]), ReadWrite, Reboot, Data,
        "Your node", "Blocks come from it, and the clock checks their proof.", "", ALWAYS;
    /// Host of the owner's node.
    node_host: Endpoint = "", "nodeHost", &Host(NODE_TEXT_MAX), ReadWrite, Reboot, Data,
        "Host of your node", "An onion name needs a proxy.", "", WITH_NODE;
    /// Port of the owner's node; 0 is the usual one.
    node_port: u32 = 0u32, "nodePort", &uint(0..=65535), ReadWrite, Reboot, Data,
        "Port of your node", "0 takes the usual one.", "", WITH_NODE;
    /// Uses TLS to the owner's node; the Bitcoin network has none.
    node_tls: bool = false, "nodeTls", &Switch, ReadWrite, Reboot, Data,
        "Your node over TLS", "", "", &[Among(Key::node_kind, &[2, 3, 4])];
    /// User name at the owner's node; for RPC alone.
    node_user: String = "", "nodeUser", &UserName(NODE_TEXT_MAX), ReadWrite, Reboot, Data,
        "User name at your node", "", "", &[Among(Key::node_kind, &[4])];
    /// Password at the owner's node; for RPC alone.
    node_pass: Secret = Secret::default(), "nodePass", &Text(TEXT_MAX), WriteOnly, Reboot, Data,
        "Password at your node", "", "", &[Among(Key::node_kind, &[4])];
    /// Public peers of the Bitcoin network that are asked for the proof of the height at the same time; 0 asks none.
    proof_peer_max: u32 = 4u32, "proofPeerMax", &uint(0..=PEERS_MAX), ReadWrite, Live(&[Sources]), Data,
        "Peers to prove the height", "Asked for headers of blocks. They see the clock's address unless it uses a proxy. 0 asks nobody.", "", ALWAYS;
    /// Peers to ask, each a host with or without a port, at most 8; empty finds some.
    proof_peers: Vec<String> = Vec::<String>::new(), "proofPeers", &Hosts, ReadWrite, Live(&[Sources]), Data,
        "Peers to ask", "Hosts, with a port if they need one. Empty finds some.", "", ALWAYS;
    /// Venues whose quotes are held against the price that is shown; none asks nobody.
    price_witnesses: Vec<String> = default_witnesses(), "priceWitnesses", &Venues, ReadWrite, Live(&[Sources, Panels]), Data,
        "Price witnesses", "Venues that are asked for the price as well, and contradict one that is wrong.", "", ALWAYS;
    /// How far quotes may be apart and still agree, per mille.
    price_band: u32 = 20u32, "priceBand", &uint(1..=100), ReadWrite, Live(&[Panels]), Data,
        "Prices agree within", "Quotes that are further apart contradict each other.", "per mille", ALWAYS;
    /// How many sources must quote about the same for a price to count as agreed.
    price_quorum: u32 = 2u32, "priceQuorum", &uint(1..=5), ReadWrite, Live(&[Panels]), Data,
        "Prices that must agree", "A price that fewer sources confirm is marked; 1 needs nobody else.", "", ALWAYS;
    /// Least time between price updates on the panels, s; 0 paints every update.
    min_sec_price_upd: u32 = 30u32, "minSecPriceUpd", &uint(0..=3600), ReadWrite, Live(&[Panels]), Data,
        "Price changes at most every", "0 paints every change.", "s", ALWAYS;
    /// Currencies in the rotation: ISO 4217 codes of `availableCurrencies`; others are dropped, and none at all shows USD. A chosen one that is not offered at the moment is left out and comes back.
    act_currencies: Vec<Currency> = default_currencies(), "actCurrencies", &Currencies, ReadWrite, Live(&[Rotation, Sources]), Rotation,
        "Currencies", "Price screens go through these, in the order in which you choose them.", "", ALWAYS;

    /// Brightness of the LED strip; 255 is full.
    led_brightness: u32 = 128u32, "ledBrightness", &slider(0..=255), ReadWrite, Live(&[Strip]), Lights,
        "LED brightness", "", "", ALWAYS;
    /// Colour that the strip flashes on a new block.
    block_flash_color: u32 = 0xE0_43_00u32, "blockFlashColor", &Color, ReadWrite, Live(&[Strip]), Lights,
        "Colour of a new block", "The LEDs flash in it.", "", ALWAYS;
    /// Mutes the LED strip.
    disable_leds: bool = false, "disableLeds", &Mute, ReadWrite, Live(&[Strip]), Lights,
        "LEDs", "Off mutes them, whatever happens.", "", ALWAYS;
    /// Flashes the strip on a new block or price.
    led_flash_on_upd: bool = false, "ledFlashOnUpd", &Switch, ReadWrite, Live(&[Strip]), Lights,
        "Flash on new data", "When a block or a price arrives.", "", ALWAYS;
    /// Flashes the strip on a zap.
    led_flash_on_zap: bool = true, "ledFlashOnZap", &Switch, ReadWrite, Live(&[Strip]), Lights,
        "Flash on zaps", "", "", WITH_ZAPS;
    /// Shows a rainbow on the strip at start.
    led_test_on_power: bool = true, "ledTestOnPower", &Switch, ReadWrite, Reboot, Lights,
        "Rainbow at start", "", "", ALWAYS;
    /// Keeps the frontlight on in bright rooms.
    fl_always_on: bool = true, "flAlwaysOn", &Switch, ReadWrite, Live(&[Frontlight]), Frontlight,
        "On in bright rooms too", "", "", WITH_FRONTLIGHT;
    /// Mutes the frontlight.
    fl_disable: bool = false, "flDisable", &Mute, ReadWrite, Live(&[Frontlight]), Frontlight,
        "Frontlight", "Off mutes it, whatever happens.", "", WITH_FRONTLIGHT;
    /// Time between steps of a frontlight fade, ms.
    fl_effect_delay: u32 = 15u32, "flEffectDelay", &uint(0..=1000), ReadWrite, Live(&[Frontlight]), Frontlight,
        "Fade step", "Time between two steps of a fade.", "ms", WITH_FRONTLIGHT;
    /// Flashes the frontlight on a new block.
    fl_flash_on_upd: bool = true, "flFlashOnUpd", &Switch, ReadWrite, Live(&[Frontlight]), Frontlight,
        "Flash on new blocks", "", "", WITH_FRONTLIGHT;
    /// Flashes the frontlight on a zap.
    fl_flash_on_zap: bool = true, "flFlashOnZap", &Switch, ReadWrite, Live(&[Frontlight]), Frontlight,
        "Flash on zaps", "", "", &[Has(Part::Frontlight), On(Key::nostr_zap_notify)];
    /// Brightness of the frontlight at 100 percent, PWM duty; 4095 is the most that has effect.
    fl_max_brightness: u32 = 2048u32, "flMaxBrightness", &uint(0..=65535), ReadWrite, Live(&[Frontlight]), Frontlight,
        "Full brightness", "More than 4095 has no effect.", "PWM duty", WITH_FRONTLIGHT;
    /// Turns the frontlight off when the room is dark: below 1.0 lux, until 2.0 lux.
    fl_off_when_dark: bool = true, "flOffWhenDark", &Switch, ReadWrite, Live(&[Frontlight]), Frontlight,
        "Off in the dark", "Below 1 lux, until there are 2.", "", &[Has(Part::Frontlight), Has(Part::LightSensor)];
    /// Turns the frontlight off while Do Not Disturb is active.
    fl_off_on_dnd: bool = true, "flOffOnDnd", &Switch, ReadWrite, Live(&[Frontlight]), Frontlight,
        "Off while Do Not Disturb", "", "", WITH_FRONTLIGHT;
    /// Light between a dim and a bright room, lux; 0 leaves the frontlight alone.
    lux_light_toggle: u32 = 128u32, "luxLightToggle", &uint(0..=65535), ReadWrite, Live(&[Frontlight]), Frontlight,
        "Bright room from", "0 leaves the frontlight alone.", "lux", &[Has(Part::Frontlight), Has(Part::LightSensor)];
    /// Reverses the order of the buttons.
    inverse_buttons: bool = false, "inverseButtons", &Switch, ReadWrite, Reboot, Lights,
        "Reverse the buttons", "The first becomes the last.", "", ALWAYS;

    /// Do Not Disturb by hand. Written as `dnd.enabled`.
    dnd_enabled: bool = false, "dndEnabled", &Switch, ReadOnly, Live(&[Strip, Frontlight]), Quiet,
        "", "", "", ALWAYS;
    /// Do Not Disturb by schedule. Written as `dnd.dndTimeEnabled`.
    dnd_time_enabled: bool = false, "dndTimeEnabled", &Switch, ReadOnly, Live(&[Strip, Frontlight]), Quiet,
        "", "", "", ALWAYS;
    /// Start of the schedule, h. Written as `dnd.startHour`.
    dnd_start_hour: u32 = 22u32, "dndStartHour", &uint(0..=23), ReadOnly, Live(&[Strip, Frontlight]), Quiet,
        "", "", "h", ALWAYS;
    /// Start of the schedule, min past the hour. Written as `dnd.startMinute`.
    dnd_start_min: u32 = 0u32, "dndStartMin", &uint(0..=59), ReadOnly, Live(&[Strip, Frontlight]), Quiet,
        "", "", "min past the hour", ALWAYS;
    /// End of the schedule, h. Written as `dnd.endHour`.
    dnd_end_hour: u32 = 7u32, "dndEndHour", &uint(0..=23), ReadOnly, Live(&[Strip, Frontlight]), Quiet,
        "", "", "h", ALWAYS;
    /// End of the schedule, min past the hour. Written as `dnd.endMinute`.
    dnd_end_min: u32 = 0u32, "dndEndMin", &uint(0..=59), ReadOnly, Live(&[Strip, Frontlight]), Quiet,
        "", "", "min past the hour", ALWAYS;

    /// Time zone of the clock and of the schedules: an IANA name.
    tz_string: String = "Europe/Amsterdam", "tzString", &ZoneName, ReadWrite, Live(&[Panels, Strip, Frontlight]), Time,
        "Time zone", "For the clock and the quiet hours; daylight saving is automatic.", "", ALWAYS;
    /// Servers that tell the time, each a host with or without a port, at most 8; empty asks the usual one.
    time_servers: Vec<String> = Vec::<String>::new(), "timeServers", &Hosts, ReadWrite, Live(&[]), Time,
        "Time servers", "Hosts, with a port if they need one. Empty asks pool.ntp.org.", "", ALWAYS;

    /// Polls the mining pool and offers its screens.
    mining_pool_stats: bool = false, "miningPoolStats", &Switch, ReadWrite, Live(&[Rotation, Sources]), Pool,
        "Follow a mining pool", "Adds its screens.", "", ALWAYS;
    /// The mining pool: an id of `availablePools`.
    mining_pool_name: String = pools::DEFAULT, "miningPoolName", &POOL, ReadWrite, Live(&[Sources, Panels]), Pool,
        "Pool", "", "", WITH_POOL;
    /// User at the pool: payout address, user or worker name, or API key. A key is forgotten when a pool without keys is chosen, and GET has `miningPoolUserSet` in its place.
    mining_pool_user: Secret = Secret::default(), "miningPoolUser", &PoolUser(TEXT_MAX), ReadWrite, Live(&[Sources]), Pool,
        "User, address or key", "What the pool knows you by.", "", WITH_POOL;
    /// The user of the pool was given as an API key and is never shown.
    pool_user_is_key: bool = false, "poolUserIsKey", &Switch, Internal, Live(&[]), Pool,
        "", "", "", ALWAYS;
    /// Worker at the pool: its name, or the sub-account for pools with one.
    pool_worker: String = "", "poolWorker", &Text(TEXT_MAX), ReadWrite, Live(&[Sources]), Pool,
        "Worker", "Or the sub-account, where a pool has them.", "", WITH_POOL;
    /// Shows the figures of the whole pool: where it publishes them without a user.
    pool_global_stats: bool = true, "poolGlobalStats", &Switch, ReadWrite, Live(&[Sources]), Pool,
        "Figures of the whole pool", "Where the pool publishes them.", "", WITH_POOL;
    /// Host and port of the self-hosted pool.
    local_pool_host: Endpoint = "umbrel.local:2019", "localPoolHost", &Host(TEXT_MAX), ReadWrite, Reboot, Pool,
        "Host of your pool", "Host and port.", "", &[On(Key::mining_pool_stats), Chosen(Key::mining_pool_name, pools::SELF_HOSTED)];
    /// Time between polls of the pool, s.
    pool_poll_sec: u32 = 60u32, "poolPollSec", &uint(10..=3600), ReadWrite, Live(&[Sources, Panels]), Pool,
        "Ask every", "", "s", WITH_POOL;
    /// Where logos of pools are fetched: an `http://` or `https://` address, or empty.
    pool_logos_url: Endpoint = "https://git.btclock.dev/btclock/mining-pool-logos/raw/branch/main", "poolLogosUrl", &base_url(Schemes::Http), ReadWrite, Live(&[Sources]), Pool,
        "Logos from", "", "", WITH_POOL;

    /// Polls a miner on the local network and offers its screens.
    miner_enabled: bool = false, "minerEnabled" | "bitaxeEnabled", &Switch, ReadWrite, Live(&[Rotation, Sources]), Miner,
        "Follow a miner", "Adds its screens.", "", ALWAYS;
    /// Host of the miner.
    miner_hostname: Endpoint = "bitaxe1", "minerHostname" | "bitaxeHostname", &Host(TEXT_MAX), ReadWrite, Live(&[Sources]), Miner,
        "Host of the miner", "", "", &[On(Key::miner_enabled)];
    /// Time between polls of the miner, s.
    miner_poll_sec: u32 = 10u32, "minerPollSec" | "bitaxePollSec", &uint(5..=300), ReadWrite, Live(&[Sources, Panels]), Miner,
        "Ask every", "", "s", &[On(Key::miner_enabled)];

    /// Nostr relay for the data feed and for zaps: a `ws://` or `wss://` address; empty with no other relay turns both off.
    nostr_relay: Endpoint = "wss://relay.primal.net", "nostrRelay", &url(Schemes::Relay), ReadWrite, Reboot, Nostr,
        "Relay", "For data and zaps. Empty with no other relay turns both off.", "", ALWAYS;
    /// Relays beside that one: at most 8 addresses; all are followed, and what two of them tell counts once.
    nostr_relays: Vec<Endpoint> = Vec::<Endpoint>::new(), "nostrRelays", &Relays, ReadWrite, Reboot, Nostr,
        "More relays", "One on each line, at most 8. All are followed.", "", ALWAYS;
    /// Key of the author whose data the clock follows: 64 lower-case hex digits or an `npub`, or empty.
    nostr_pub_key: String = "642317135fd4c4205323b9dea8af3270657e62d51dc31a657c0ec8aab31c6288", "nostrPubKey", &HexKey::Lower, ReadWrite, Reboot, Nostr,
        "Author of the data", "Public key: 64 hexadecimal digits or an npub.", "", &[Among(Key::data_source, &[NOSTR])];
    /// Listens for zaps and shows them.
    nostr_zap_notify: bool = false, "nostrZapNotify", &Switch, ReadWrite, Live(&[Sources, Panels, Strip, Frontlight]), Nostr,
        "Show zaps", "", "", ALWAYS;
    /// Key whose zaps are shown: 64 hex digits or an `npub`, or empty.
    nostr_zap_pubkey: String = "", "nostrZapPubkey", &HexKey::Any, ReadWrite, Live(&[Sources]), Nostr,
        "Zaps to this key", "Public key: 64 hexadecimal digits or an npub.", "", WITH_ZAPS;
    /// Keys beside that one: at most 8, each as 64 hex digits or an `npub`.
    nostr_zap_pubkeys: Vec<String> = Vec::<String>::new(), "nostrZapPubkeys", &Keys, ReadWrite, Live(&[Sources]), Nostr,
        "Zaps to these keys too", "One on each line, at most 8.", "", WITH_ZAPS;
    /// Goes back to the screen before, once a zap was shown.
    scrn_restore_zap: bool = true, "scrnRestoreZap", &Switch, ReadWrite, Live(&[Panels]), Nostr,
        "Go back after a zap", "Otherwise the zap stays until the next screen.", "", WITH_ZAPS;
    /// Shows the block height on a new block.
    steal_focus: bool = false, "stealFocus", &Switch, ReadWrite, Live(&[Panels, Frontlight]), Rotation,
        "New block takes over", "Its height is shown at once.", "", ALWAYS;

    /// Connects to the wallet.
    nwc_enabled: bool = false, "nwcEnabled", &Switch, ReadWrite, Reboot, Wallet,
        "Connect to a wallet", "Nostr Wallet Connect: balance and payments of your wallet.", "", ALWAYS;
    /// Pairing URI of the wallet: `nostr+walletconnect://`; one that cannot be read leaves the wallet off.
    nwc_uri: Secret = Secret::default(), "nwcUri", &Pairing(TEXT_MAX), WriteOnly, Reboot, Wallet,
        "Pairing URI", "Whoever has it may use the wallet.", "", WITH_WALLET;
    /// Time between polls of the balance, s.
    nwc_refresh_secs: u32 = 60u32, "nwcRefreshSecs", &uint(15..=3600), ReadWrite, Reboot, Wallet,
        "Ask for the balance every", "", "s", WITH_WALLET;
    /// Shows payments as they happen.
    nwc_show_notify: bool = true, "nwcShowNotify", &Switch, ReadWrite, Live(&[Panels, Strip, Frontlight]), Wallet,
        "Show payments", "", "", WITH_WALLET;
    /// Flashes the lights when a payment is shown.
    nwc_flash_on_pay: bool = true, "nwcFlashOnPay", &Switch, ReadWrite, Live(&[Strip, Frontlight]), Wallet,
        "Flash on payments", "", "", &[On(Key::nwc_enabled), On(Key::nwc_show_notify)];

    /// Asks for a user name and password on every control request.
    http_auth_enabled: bool = false, "httpAuthEnabled", &Switch, ReadWrite, Reboot, Access,
        "Ask for a password", "For everything the clock shows and does; who does not know it sees a form to sign in, and no panels.", "", ALWAYS;
    /// User name for control requests: without a colon.
    http_auth_user: String = "papertick", "httpAuthUser", &UserName(TEXT_MAX), ReadWrite, Reboot, Access,
        "User name", "", "", &[On(Key::http_auth_enabled)];
    /// Password for control requests.
    http_auth_pass: PasswordHash = PasswordHash::default(), "httpAuthPass", &Password(TEXT_MAX), WriteOnly, Reboot, Access,
        "Password", "Long beats complicated: four words that have nothing to do with each other.", "", &[On(Key::http_auth_enabled)];
    /// Lets everybody read the figures for a monitoring system, `/metrics`; they hold no secret.
    metrics_open: bool = false, "metricsOpen", &Switch, ReadWrite, Live(&[]), Access,
        "Figures without a password", "For a monitoring system that reads /metrics; there is no secret in them.", "", &[On(Key::http_auth_enabled)];
    /// Secrets that were entered by somebody who had signed in: names of settings, comma-separated.
    guarded_secrets: String = "", "guardedSecrets", &Text(TEXT_MAX), Internal, Live(&[]), Access,
        "", "", "", ALWAYS;
    /// Versions of the wishes at the broker that were fulfilled, by whom they are meant for: a JSON object.
    fulfilled_revs: String = "", "fulfilledRevs", &Text(REVS_MAX), Internal, Live(&[]), Mqtt,
        "", "", "", ALWAYS;
    /// Accepts firmware and web bundles over HTTP.
    ota_enabled: bool = true, "otaEnabled", &Switch, ReadWrite, Reboot, Access,
        "Accept updates", "Firmware and web bundles over the network.", "", ALWAYS;
    /// Password for uploads.
    ota_pass: PasswordHash = PasswordHash::default(), "otaPass", &Password(TEXT_MAX), WriteOnly, Reboot, Access,
        "Update password", "For uploads. Empty uses the password above, if there is one.", "", &[On(Key::ota_enabled)];
    /// Release feed of the automatic update: an `http://` or `https://` address, or empty.
    git_release_url: Endpoint = "", "gitReleaseUrl", &url(Schemes::Http), ReadWrite, Live(&[Update]), Access,
        "Release feed", "Where the clock looks for updates by itself.", "", &[On(Key::ota_enabled)];
    /// Installs by itself what it takes of the release feed.
    update_auto: bool = false, "updateAuto", &Switch, ReadWrite, Live(&[Update]), Access,
        "Install releases by itself", "", "", &[On(Key::ota_enabled)];
    /// Which releases are taken: those for everybody, or versions before them too.
    update_channel: u32 = 0u32, "updateChannel", &Numbered(&["stable", "preview"]), ReadWrite, Live(&[Update]), Access,
        "Update channel", "", "", &[On(Key::ota_enabled)];
    /// The only version that is taken of the release feed; empty for any.
    update_pin: String = "", "updatePin", &VersionOrNone, ReadWrite, Live(&[Update]), Access,
        "Only this version", "", "", &[On(Key::ota_enabled)];
    /// Share of all clocks that take a release of the feed, percent; which of them follows from their host names.
    update_share: u32 = 100u32, "updateShare", &slider(0..=100), ReadWrite, Live(&[Update]), Access,
        "Share of clocks that update", "", "percent", &[On(Key::ota_enabled)];

    /// Logs in detail.
    enable_debug_log: bool = false, "enableDebugLog", &Switch, ReadWrite, Reboot, Diagnostics,
        "Detailed log", "", "", ALWAYS;
    /// Texts to be shown again: at most 10, each with a text per panel.
    kept_texts: Vec<Vec<String>> = Vec::<Vec<String>>::new(), "keptTexts", &KeptTexts, ReadWrite, Live(&[]), Rotation,
        "", "", "", ALWAYS;
    /// The page has asked its owner once what to set first; a clock that was reset asks again.
    welcomed: bool = false, "welcomed", &Switch, ReadWrite, Live(&[]), Diagnostics,
        "", "", "", ALWAYS;
    /// The rotation timer runs; kept for the next start.
    timer_active: bool = true, "timerActive", &Switch, ReadWrite, Live(&[Rotation, Strip]), Diagnostics,
        "", "", "", ALWAYS;
}};}

pub(super) use rows;

/// Settings that are entities of a smart home; what kind of entity follows from the kind of setting.
pub(super) const ENTITIES: &[&str] = &[
    "timerActive",
    "invertedColor",
    "disableLeds",
    "ledFlashOnUpd",
    "ledFlashOnZap",
    "nostrZapNotify",
    "stealFocus",
    "minerEnabled",
    "miningPoolStats",
    "poolGlobalStats",
    "mowMode",
    "useBlkCountdown",
    "hideLeadZero",
    "flDisable",
    "fontName",
    "miningPoolName",
    "priceSymMode",
    "ledBrightness",
    "fullRefreshMin",
    "minerPollSec",
    "poolPollSec",
    "digitFontPx",
    "flMaxBrightness",
];

/// Those that are entities once somebody asks for them.
pub(super) const ENTITIES_IF_WANTED: &[&str] = &["suffixPrice", "dataSource"];

/// Settings that few people change: a form shows them behind "More".
pub(super) const MORE: &[&str] = &[
    "overlaySeconds",
    "labelFitPct",
    "fullRefreshMin",
    "refrScrnChange",
    "verticalDesc",
    "supplyPercent",
    "blockFeeDec",
    "decimalShareDot",
    "mowMode",
    "timeServers",
    "explorerSecure",
    "ceDisableSSL",
    "proofMode",
    "proofScreen",
    "nodePort",
    "nodeTls",
    "proofPeerMax",
    "proofPeers",
    "priceWitnesses",
    "priceBand",
    "priceQuorum",
    "ledTestOnPower",
    "inverseButtons",
    "flEffectDelay",
    "luxLightToggle",
    "poolPollSec",
    "poolLogosUrl",
    "minerPollSec",
    "nostrRelays",
    "nostrZapPubkeys",
    "nwcRefreshSecs",
    "wifiRebootMin",
    "wpTimeout",
    "txPower",
    "proxyBypass",
    "mqttCa",
    "mqttCert",
    "mqttKey",
    "mqttClientId",
    "mqttBase",
    "mqttGroups",
    "mqttProtocol",
    "mqttKeepAlive",
    "mqttPanels",
    "haPrefix",
    "haStatusTopic",
    "metricsOpen",
    "otaPass",
    "updateChannel",
    "updatePin",
    "updateShare",
];

/// Other words by which people look for a setting.
pub(super) const SEARCHED: &[(&str, &str)] = &[
    (
        "tzString",
        "timezone region daylight saving dst utc summer winter clock hour",
    ),
    ("timePerScreen", "interval speed rotation carousel"),
    ("screens", "pages order hide show"),
    ("actCurrencies", "currency money fiat dollar euro"),
    ("invertedColor", "dark night mode black theme invert"),
    ("fontName", "typeface letters"),
    ("dnd", "night mode sleep mute silent schedule"),
    ("httpAuthEnabled", "login security sign in lock"),
    ("gitReleaseUrl", "firmware upgrade version"),
    ("otaEnabled", "firmware upgrade version"),
    ("dataSource", "mempool api provider node server"),
    ("proxyEnabled", "tor socks privacy"),
    ("txPower", "wifi wlan signal"),
    ("ledBrightness", "lamp light dim"),
    ("mqttEnabled", "home assistant smart home automation fleet"),
    ("nwcUri", "lightning balance payments"),
    ("digitFontPx", "size big small numbers"),
    ("labelFitPct", "text size"),
    ("fullRefreshMin", "ghosting burn-in refresh rate interval"),
    ("verticalDesc", "rotate orientation"),
    ("suffixPrice", "thousands millions abbreviate"),
    ("minSecPriceUpd", "update interval refresh rate"),
    ("inverseButtons", "swap turn around"),
    ("flMaxBrightness", "backlight dim"),
    ("luxLightToggle", "ambient light sensor threshold"),
    ("miningPoolStats", "hashrate mining earnings"),
    ("minerEnabled", "hashrate mining"),
    ("nostrZapNotify", "notification alert"),
    ("nwcShowNotify", "notification alert"),
    ("hostnamePrefix", "rename hostname"),
    ("mdnsEnabled", "bonjour discovery"),
    (
        "wpTimeout",
        "wifi password ssid access point hotspot portal setup",
    ),
    ("httpAuthUser", "username account"),
    ("metricsOpen", "prometheus grafana"),
    ("updateAuto", "automatic update"),
    ("updateChannel", "beta stable"),
];
