//! The table of settings: a setting is one row, and everything else follows from it.
//!
//! `values` makes a field and a key of every row, `specs` its description; what a row names is imported there.

/// Hands all rows to a macro, in the order of the interface:
///
/// ```text
/// field: type {
///     name: its name in JSON,
///     alias: an older name; omitted if there is none,
///     default: its value on a fresh clock,
///     kind: what it can be, see `kinds`,
///     access: `ReadWrite` if omitted,
///     apply: when a change takes effect,
///     group: the section of the form,
///     title: its name in the form; omitted if it is in none,
///     help: a sentence below it in the form,
///     unit: the unit of a number,
///     needs: what must hold for it to mean anything; always if omitted,
///     search: other words by which people look for it,
///     rare: `true` if few people change it, so that a form shows it behind "More",
///     entity: `Enabled` or `Disabled`, how it first is as an entity of a smart home; omitted if it is none,
/// }
/// ```
macro_rules! rows {($make:ident) => { $make! {
    /// Font of digits and labels: an id of `availableFonts`.
    font_name: String {
        name: "fontName",
        default: fonts::FONTS[0],
        kind: &FONT,
        apply: Live(&[Panels]),
        group: Display,
        title: "Font",
        search: "typeface letters",
        entity: Enabled,
    }
    /// Height of the big digit glyphs, px.
    digit_font_px: u32 {
        name: "digitFontPx",
        default: 180u32,
        kind: &slider(80..=220),
        apply: Live(&[Panels]),
        group: Display,
        title: "Digit height",
        unit: "px",
        search: "size big small numbers",
        entity: Enabled,
    }
    /// Width of split labels, percent of the panel's.
    label_fit_pct: u32 {
        name: "labelFitPct",
        default: 100u32,
        kind: &slider(25..=100),
        apply: Live(&[Panels]),
        group: Display,
        title: "Label width",
        help: "How much of a panel a label may fill.",
        unit: "percent",
        search: "text size",
        rare: true,
    }
    /// White on black; else black on white.
    inverted_color: bool {
        name: "invertedColor",
        default: false,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Display,
        title: "White on black",
        search: "dark night mode black theme invert",
        entity: Enabled,
    }
    /// What the one panel shows; a board has the screens of `boardScreens`. Only on a clock with one panel.
    panel_layout: u32 {
        name: "panelLayout",
        default: 0u32,
        kind: &Numbered(&["one screen", "a board of screens", "seven panels"]),
        apply: Live(&[Panels]),
        group: Display,
        title: "Layout of the panel",
        needs: &[Has(BoardPart::Canvas)],
        entity: Enabled,
    }
    /// Time between mandatory full refreshes, min; 0 makes every screen change a full one.
    full_refresh_min: u32 {
        name: "fullRefreshMin",
        default: 60u32,
        kind: &uint(0..=1440),
        apply: Live(&[Panels]),
        group: Display,
        title: "Full refresh every",
        help: "Goes through black and white once, which removes ghosts. 0 does so on every screen change.",
        unit: "min",
        search: "ghosting burn-in refresh rate interval",
        rare: true,
        entity: Enabled,
    }
    /// Full refresh on every screen change.
    refr_scrn_change: bool {
        name: "refrScrnChange",
        default: false,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Display,
        title: "Full refresh on every screen",
        help: "Without ghosts, but with a flash each time.",
        rare: true,
    }
    /// Turned labels: 90 degrees counter-clockwise, so that they read along the long side of the panel.
    vertical_desc: bool {
        name: "verticalDesc",
        default: true,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Display,
        title: "Vertical labels",
        help: "Labels read along the long side of the panel.",
        search: "rotate orientation",
        rare: true,
    }
    /// Big characters for market cap and supply; without effect, because the panels always show the big form.
    mcap_big_char: bool {
        name: "mcapBigChar",
        default: true,
        kind: &Switch,
        apply: Live(&[]),
        group: Display,
    }
    /// Supply as percent of 21 million; else as an amount.
    supply_percent: bool {
        name: "supplyPercent",
        default: false,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Display,
        title: "Supply in percent",
        help: "Share of the 21 million instead of an amount.",
        rare: true,
    }
    /// Halving as a number of blocks; else as years, days, hours and minutes.
    use_blk_countdown: bool {
        name: "useBlkCountdown",
        default: true,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Display,
        title: "Halving in blocks",
        help: "Otherwise as years, days, hours and minutes.",
        entity: Enabled,
    }
    /// Labels sats per US dollar as Moscow time.
    use_mscw_time: bool {
        name: "useMscwTime",
        default: true,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Display,
        title: "Moscow time",
        help: "Sats per dollar are labelled as Moscow time.",
    }
    /// Marker before amounts of satoshis.
    price_sym_mode: u32 {
        name: "priceSymMode",
        default: 0u32,
        kind: &Numbered(&["none", "satoshi symbol", "bitcoin sign"]),
        apply: Live(&[Panels]),
        group: Display,
        title: "Sats marker",
        help: "Stands before amounts of sats.",
        entity: Enabled,
    }
    /// Drawing of the satoshi symbol: one of 16.
    sats_variant: u32 {
        name: "satsVariant",
        default: 7u32,
        kind: &slider(0..=15),
        apply: Live(&[Panels]),
        group: Display,
        title: "Satoshi symbol",
        help: "Sixteen drawings to choose from.",
        needs: &[Among(Key::price_sym_mode, &[1])],
    }
    /// Decimals of the fee rate: where the source gives them and they fit.
    block_fee_dec: bool {
        name: "blockFeeDec",
        default: true,
        kind: &Switch,
        apply: Live(&[Panels, Sources]),
        group: Display,
        title: "Fee with decimals",
        help: "If the source reports them and they fit.",
        rare: true,
    }
    /// Suffixes K and M on the price screen; where the digits would not fit, always.
    suffix_price: bool {
        name: "suffixPrice",
        default: false,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Display,
        title: "Short prices",
        help: "With K and M.",
        search: "thousands millions abbreviate",
        entity: Disabled,
    }
    /// The decimal dot shares the panel of the digit before it.
    decimal_share_dot: bool {
        name: "decimalShareDot",
        default: false,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Display,
        title: "Dot shares a panel",
        help: "The decimal dot stands beside the digit before it.",
        rare: true,
    }
    /// Price in millions per bitcoin; with an M.
    mow_mode: bool {
        name: "mowMode",
        default: false,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Display,
        title: "Price in millions",
        help: "With an M.",
        rare: true,
        entity: Enabled,
    }
    /// Drops the leading zero of hours on the clock.
    hide_lead_zero: bool {
        name: "hideLeadZero",
        default: false,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Time,
        title: "No leading zero",
        help: "9:05 instead of 09:05. The clock always counts 24 hours.",
        search: "12 hour 24 hour am pm",
        entity: Enabled,
    }
    /// Auto-rotate period, s; 0 stops the rotation. Written as `timePerScreen`, in minutes.
    timer_seconds: u32 {
        name: "timerSeconds",
        default: 1800u32,
        kind: &uint(0..=3600),
        access: ReadOnly,
        apply: Live(&[Rotation]),
        group: Rotation,
        unit: "s",
    }
    /// Time that a zap or a payment is shown, s.
    overlay_seconds: u32 {
        name: "overlaySeconds",
        default: 30u32,
        kind: &uint(1..=3600),
        apply: Live(&[Panels]),
        group: Rotation,
        title: "Zaps and payments stay for",
        help: "Then the screen before is shown again.",
        unit: "s",
        rare: true,
    }
    /// Persisted rotation order: ids of screens, comma-separated; empty is that of a fresh clock.
    screen_order: Vec<u16> {
        name: "screenOrder",
        default: Vec::<u16>::new(),
        kind: &ScreenIds,
        access: ReadOnly,
        apply: Live(&[Rotation]),
        group: Rotation,
    }
    /// Ids of the screens that rotation skips.
    screens_hidden: Vec<u16> {
        name: "screensHidden",
        default: catalog::hidden_at_first(),
        kind: &ScreenIds,
        access: Internal,
        apply: Live(&[Rotation]),
        group: Rotation,
    }
    /// Screens of a board, a picture for another screen: 2 to 8, the largest first. Each is an id, or for a price screen `20:EUR` in a currency of `actCurrencies`; without one it has the first of them.
    board_screens: Vec<RotationSlot> {
        name: "boardScreens",
        default: default_board(),
        kind: &BoardScreens,
        apply: Live(&[]),
        group: Rotation,
    }

    /// Start of the host name; the device adds a dash and the end of its hardware address.
    hostname_prefix: String {
        name: "hostnamePrefix",
        default: "papertick",
        kind: &TextKind(TEXT_MAX),
        apply: Live(&[Advert, Panels, Mqtt, Update]),
        group: Network,
        title: "Name on the network",
        help: "The end of the hardware address is added.",
        search: "rename hostname",
    }
    /// Announces the clock on the local network.
    mdns_enabled: bool {
        name: "mdnsEnabled",
        default: true,
        kind: &Switch,
        apply: Live(&[Advert]),
        group: Network,
        title: "Can be discovered",
        help: "Announces itself on the local network.",
        search: "bonjour discovery",
    }
    /// Time without Wi-Fi before a restart, min; 0 never restarts.
    wifi_reboot_min: u32 {
        name: "wifiRebootMin",
        default: 10u32,
        kind: &uint(0..=120),
        apply: Live(&[Wifi]),
        group: Network,
        title: "Restart without Wi-Fi after",
        help: "0 never restarts.",
        unit: "min",
        needs: WITH_RADIO,
        rare: true,
    }
    /// Time in the provisioning access point before a restart, s; 0 never restarts.
    wp_timeout: u32 {
        name: "wpTimeout",
        default: 900u32,
        kind: &uint(0..=3600),
        apply: Reboot,
        group: Network,
        title: "Set-up mode ends after",
        help: "Then the clock restarts. 0 waits for ever.",
        unit: "s",
        needs: WITH_RADIO,
        search: "wifi password ssid access point hotspot portal setup",
        rare: true,
    }
    /// Wi-Fi transmit power, quarter-dBm; 80 leaves the radio's own.
    tx_power: Option<i32> {
        name: "txPower",
        default: None::<i32>,
        kind: &TxPower,
        apply: Live(&[Wifi]),
        group: Network,
        title: "Transmit power",
        unit: "quarter-dBm",
        needs: WITH_RADIO,
        search: "wifi wlan signal",
        rare: true,
    }
    /// Wi-Fi credentials were stored by provisioning.
    wifi_configured: bool {
        name: "wifiConfigured",
        default: false,
        kind: &Switch,
        access: ReadOnly,
        apply: Live(&[Wifi]),
        group: Network,
    }

    /// Sends outbound connections through the proxy.
    proxy_enabled: bool {
        name: "proxyEnabled",
        default: false,
        kind: &Switch,
        apply: Live(&[Outbound]),
        group: Proxy,
        title: "Use a proxy",
        help: "For every connection that the clock opens.",
        search: "tor socks privacy",
    }
    /// Kind of proxy.
    proxy_type: u32 {
        name: "proxyType",
        default: 0u32,
        kind: &Numbered(&["none", "HTTP CONNECT", "SOCKS4", "SOCKS4a", "SOCKS5"]),
        apply: Live(&[Outbound]),
        group: Proxy,
        title: "Kind",
        needs: WITH_PROXY,
    }
    /// Host of the proxy.
    proxy_host: Endpoint {
        name: "proxyHost",
        default: "",
        kind: &Host(TEXT_MAX),
        apply: Live(&[Outbound]),
        group: Proxy,
        title: "Host",
        needs: WITH_PROXY,
    }
    /// Port of the proxy.
    proxy_port: u32 {
        name: "proxyPort",
        default: 1080u32,
        kind: &uint(1..=65535),
        apply: Live(&[Outbound]),
        group: Proxy,
        title: "Port",
        needs: WITH_PROXY,
    }
    /// User name for the proxy; not used for SOCKS4 and SOCKS4a.
    proxy_user: String {
        name: "proxyUser",
        default: "",
        kind: &TextKind(TEXT_MAX),
        apply: Live(&[Outbound]),
        group: Proxy,
        title: "User name",
        needs: &[On(Key::proxy_enabled), Among(Key::proxy_type, &[0, 1, 4])],
    }
    /// Password for the proxy; not used for SOCKS4 and SOCKS4a.
    proxy_pass: Secret {
        name: "proxyPass",
        default: Secret::default(),
        kind: &TextKind(TEXT_MAX),
        access: WriteOnly,
        apply: Live(&[Outbound]),
        group: Proxy,
        title: "Password",
        needs: &[On(Key::proxy_enabled), Among(Key::proxy_type, &[0, 1, 4])],
    }
    /// Hosts that are reached without the proxy: comma-separated, `*` at the start or the end.
    proxy_bypass: String {
        name: "proxyBypass",
        default: "*.local,192.168.*,10.*,127.0.0.1",
        kind: &TextKind(TEXT_MAX),
        apply: Live(&[Outbound]),
        group: Proxy,
        title: "Reached directly",
        help: "Hosts without the proxy: comma-separated, with * at the start or the end.",
        needs: WITH_PROXY,
        rare: true,
    }

    /// Connects to an MQTT broker: publishes the state of the clock and receives commands.
    mqtt_enabled: bool {
        name: "mqttEnabled",
        default: false,
        kind: &Switch,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Connect to an MQTT broker",
        help: "For Home Assistant or several clocks. Anyone who can write to the clock's topics controls it.",
        search: "home assistant smart home automation fleet",
    }
    /// Host of the broker.
    mqtt_host: Endpoint {
        name: "mqttHost",
        default: "",
        kind: &Host(TEXT_MAX),
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Host of the broker",
        needs: WITH_MQTT,
    }
    /// Port of the broker; 0 is the default: 1883, with TLS 8883.
    mqtt_port: u32 {
        name: "mqttPort",
        default: 0u32,
        kind: &uint(0..=65535),
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Port of the broker",
        help: "0 is the usual one.",
        needs: WITH_MQTT,
    }
    /// Uses TLS to the broker.
    mqtt_tls: bool {
        name: "mqttTls",
        default: false,
        kind: &Switch,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Broker over TLS",
        needs: WITH_MQTT,
    }
    /// CA certificates trusted for the broker in addition to the public ones: in PEM form, or empty.
    mqtt_ca: Secret {
        name: "mqttCa",
        default: Secret::default(),
        kind: &CERTIFICATES,
        access: WriteOnly,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Authority of the broker",
        help: "A certificate in PEM format, if the broker uses its own authority.",
        needs: WITH_MQTT_TLS,
        rare: true,
    }
    /// Client certificate for the broker, with its chain: in PEM form, or empty.
    mqtt_cert: Secret {
        name: "mqttCert",
        default: Secret::default(),
        kind: &CERTIFICATES,
        access: WriteOnly,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Certificate of the clock",
        help: "In PEM format, if the broker requires one.",
        needs: WITH_MQTT_TLS,
        rare: true,
    }
    /// Private key of the client certificate: in PEM form, without a passphrase.
    mqtt_key: Secret {
        name: "mqttKey",
        default: Secret::default(),
        kind: &PRIVATE_KEY,
        access: WriteOnly,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Key of the certificate",
        help: "In PEM form, without a passphrase.",
        needs: WITH_MQTT_TLS,
        rare: true,
    }
    /// User name at the broker; empty for none.
    mqtt_user: String {
        name: "mqttUser",
        default: "",
        kind: &TextKind(TEXT_MAX),
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "User name",
        needs: WITH_MQTT,
    }
    /// Password at the broker.
    mqtt_pass: Secret {
        name: "mqttPass",
        default: Secret::default(),
        kind: &TextKind(TEXT_MAX),
        access: WriteOnly,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Password",
        needs: WITH_MQTT,
    }
    /// Client id at the broker; empty uses the host name.
    mqtt_client_id: String {
        name: "mqttClientId",
        default: "",
        kind: &TextKind(TEXT_MAX),
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Client id",
        help: "Empty is the host name of the clock.",
        needs: WITH_MQTT,
        rare: true,
    }
    /// First level of the topics of all clocks.
    mqtt_base: String {
        name: "mqttBase",
        default: "papertick",
        kind: &TopicKind,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Topics begin with",
        needs: WITH_MQTT,
        rare: true,
    }
    /// Groups of the clock, besides the group of all clocks: at most 8 names separated by commas.
    mqtt_groups: String {
        name: "mqttGroups",
        default: "",
        kind: &GroupNames,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Groups",
        help: "Names with commas between them. Settings and commands for a group apply to all clocks in it.",
        needs: WITH_MQTT,
        rare: true,
    }
    /// Version of the protocol; automatic is 5, or 3.1.1 if the broker does not know it.
    mqtt_protocol: u32 {
        name: "mqttProtocol",
        default: 0u32,
        kind: &Numbered(&["automatic", "MQTT 5", "MQTT 3.1.1"]),
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Protocol",
        needs: WITH_MQTT,
        rare: true,
    }
    /// Keep-alive interval, s; the broker considers the clock offline after one and a half of it.
    mqtt_keep_alive: u32 {
        name: "mqttKeepAlive",
        default: 60u32,
        kind: &uint(5..=3600),
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Sign of life every",
        unit: "s",
        needs: WITH_MQTT,
        rare: true,
    }
    /// Publishes a picture when it changes, at most every five seconds.
    mqtt_panels: bool {
        name: "mqttPanels",
        default: true,
        kind: &Switch,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Picture of the panels",
        help: "Published after each refresh, a few kilobytes.",
        needs: WITH_MQTT,
        rare: true,
    }
    /// What the published picture shows.
    mqtt_picture: u32 {
        name: "mqttPicture",
        default: 0u32,
        kind: &Numbered(&["the panels", "a figure", "a board"]),
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Content of the picture",
        needs: WITH_MQTT,
        rare: true,
    }
    /// Announces the clock to Home Assistant, so that it appears there by itself.
    ha_discovery: bool {
        name: "haDiscovery",
        default: true,
        kind: &Switch,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Appear in Home Assistant",
        needs: WITH_MQTT,
    }
    /// Prefix of the discovery topics of Home Assistant.
    ha_prefix: String {
        name: "haPrefix",
        default: "homeassistant",
        kind: &TopicKind,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Discovery prefix",
        help: "As it is set in Home Assistant.",
        needs: WITH_HOME_ASSISTANT,
        rare: true,
    }
    /// Topic on which Home Assistant announces its start.
    ha_status_topic: String {
        name: "haStatusTopic",
        default: "homeassistant/status",
        kind: &TopicKind,
        apply: Live(&[Mqtt]),
        group: Mqtt,
        title: "Topic of its status",
        help: "As it is set in Home Assistant.",
        needs: WITH_HOME_ASSISTANT,
        rare: true,
    }

    /// Where block and price data come from.
    data_source: u32 {
        name: "dataSource",
        default: 0u32,
        kind: &Numbered(data_source::NAMES),
        apply: Reboot,
        group: Data,
        title: "Source",
        help: "Where blocks, fees and prices come from.",
        search: "mempool api provider node server",
        entity: Disabled,
    }
    /// Host of the block explorer.
    explorer_instance: Endpoint {
        name: "explorerInstance",
        alias: "mempoolInstance",
        default: "mempool.space",
        kind: &Host(TEXT_MAX),
        apply: Reboot,
        group: Data,
        title: "Explorer host",
        needs: &[Among(Key::data_source, &[EXPLORER])],
    }
    /// Uses TLS to the block explorer.
    explorer_secure: bool {
        name: "explorerSecure",
        alias: "mempoolSecure",
        default: true,
        kind: &Switch,
        apply: Reboot,
        group: Data,
        title: "Explorer over TLS",
        needs: &[Among(Key::data_source, &[EXPLORER])],
        rare: true,
    }
    /// Host of the custom relay.
    ce_endpoint: Endpoint {
        name: "ceEndpoint",
        default: "ws-staging.btclock.dev",
        kind: &Host(TEXT_MAX),
        apply: Reboot,
        group: Data,
        title: "Your relay",
        help: "Host, with a port if it needs one. With the explorer, prices come from it instead of the exchange; as delivered or empty, it is not asked there.",
        needs: &[Among(Key::data_source, &[EXPLORER, CUSTOM_RELAY])],
    }
    /// Connects to the custom relay without TLS.
    ce_disable_ssl: bool {
        name: "ceDisableSSL",
        default: false,
        kind: &Switch,
        apply: Reboot,
        group: Data,
        title: "Your relay without TLS",
        help: "Only on a network that you trust.",
        needs: &[Among(Key::data_source, &[EXPLORER, CUSTOM_RELAY])],
        rare: true,
    }
    /// Use of proof of work: off; mark heights whose proof is overdue; or show only proven heights.
    proof_mode: u32 {
        name: "proofMode",
        default: 1u32,
        kind: &Numbered(proof_mode::NAMES),
        apply: Live(&[Panels]),
        group: Data,
        title: "Proof of the height",
        help: "Mark shows every height at once, with a small sign where it is not proven or sources disagree. Strict shows only proven heights: something that proves them must be in use.",
        rare: true,
    }
    /// Offers a screen that shows how the height is proven.
    proof_screen: bool {
        name: "proofScreen",
        default: false,
        kind: &Switch,
        apply: Live(&[Rotation]),
        group: Data,
        title: "Screen of the proof",
        help: "Adds a screen: how good the height is, how many sources have the newest block, the end of its hash, and its age.",
        rare: true,
    }
    /// Offers a screen that shows how the price has moved in a day.
    change_screen: bool {
        name: "changeScreen",
        default: false,
        kind: &Switch,
        apply: Live(&[Rotation]),
        group: Data,
        title: "Screen of the change",
        help: "Adds a screen: by how much the price has risen or fallen since yesterday, with a graph on other screens.",
        rare: true,
    }
    /// Protocol of the owner's node: its blocks are verified, and Electrum reports fees, too.
    node_kind: u32 {
        name: "nodeKind",
        default: 0u32,
        kind: &Numbered(&["none", "Bitcoin network", "Electrum"]),
        apply: Reboot,
        group: Data,
        title: "Your node",
        help: "Blocks come from it, and the clock checks their proof.",
    }
    /// Host of the owner's node.
    node_host: Endpoint {
        name: "nodeHost",
        default: "",
        kind: &Host(NODE_TEXT_MAX),
        apply: Reboot,
        group: Data,
        title: "Host of your node",
        help: "An onion name needs a proxy.",
        needs: WITH_NODE,
    }
    /// Port of the owner's node; 0 is the default.
    node_port: u32 {
        name: "nodePort",
        default: 0u32,
        kind: &uint(0..=65535),
        apply: Reboot,
        group: Data,
        title: "Port of your node",
        help: "0 takes the usual one.",
        needs: WITH_NODE,
        rare: true,
    }
    /// Uses TLS to the owner's node; the Bitcoin network has none.
    node_tls: bool {
        name: "nodeTls",
        default: false,
        kind: &Switch,
        apply: Reboot,
        group: Data,
        title: "Your node over TLS",
        needs: &[Among(Key::node_kind, &[2])],
        rare: true,
    }
    /// Number of public peers of the Bitcoin network that are connected for the proof of the height; 0 connects to
    /// none.
    proof_peer_max: u32 {
        name: "proofPeerMax",
        default: 4u32,
        kind: &uint(0..=PEERS_MAX),
        apply: Live(&[Sources]),
        group: Data,
        title: "Peers to prove the height",
        help: "They send headers of blocks. They see the clock's address unless it uses a proxy. 0 means no peers.",
        rare: true,
    }
    /// Peers to connect to, each a host with or without a port, at most 8; empty finds some.
    proof_peers: Vec<String> {
        name: "proofPeers",
        default: Vec::<String>::new(),
        kind: &Hosts,
        apply: Live(&[Sources]),
        group: Data,
        title: "Peers to ask",
        help: "Hosts, with a port if they need one. Empty finds some.",
        rare: true,
    }
    /// Venues whose quotes are compared with the price shown; an empty list queries none.
    price_witnesses: Vec<String> {
        name: "priceWitnesses",
        default: default_witnesses(),
        kind: &Venues,
        apply: Live(&[Sources, Panels]),
        group: Data,
        title: "Price witnesses",
        help: "Venues that are asked for the price as well, and contradict one that is wrong.",
        rare: true,
    }
    /// Greatest difference from the median of a quote that agrees, per mille.
    price_band: u32 {
        name: "priceBand",
        default: 20u32,
        kind: &uint(1..=100),
        apply: Live(&[Panels]),
        group: Data,
        title: "Prices agree within",
        help: "A quote further from the median contradicts it.",
        unit: "per mille",
        rare: true,
    }
    /// Number of sources that must quote about the same price for it to count as agreed.
    price_quorum: u32 {
        name: "priceQuorum",
        default: 2u32,
        kind: &uint(1..=5),
        apply: Live(&[Panels]),
        group: Data,
        title: "Prices that must agree",
        help: "The number of sources that must quote about the same price before it counts as agreed.",
        rare: true,
    }
    /// Minimum time between price updates on the panels, s; 0 paints every update.
    min_sec_price_upd: u32 {
        name: "minSecPriceUpd",
        default: 30u32,
        kind: &uint(0..=3600),
        apply: Live(&[Panels]),
        group: Data,
        title: "Price changes at most every",
        help: "0 paints every change.",
        unit: "s",
        search: "update interval refresh rate",
    }
    /// Currencies in the rotation: ISO 4217 codes of `availableCurrencies`; others are dropped, and none at all shows USD. A chosen one that is not offered at the moment is left out and comes back.
    act_currencies: Vec<Currency> {
        name: "actCurrencies",
        default: default_currencies(),
        kind: &Currencies,
        apply: Live(&[Rotation, Sources]),
        group: Rotation,
        title: "Currencies",
        help: "Price screens go through these, in the order in which you choose them.",
        search: "currency money fiat dollar euro",
    }

    /// Brightness of the LED strip; 255 is full.
    led_brightness: u32 {
        name: "ledBrightness",
        default: 128u32,
        kind: &slider(0..=255),
        apply: Live(&[Strip]),
        group: Lights,
        title: "LED brightness",
        search: "lamp light dim",
        entity: Enabled,
    }
    /// Colour that the strip flashes on a new block.
    block_flash_color: u32 {
        name: "blockFlashColor",
        default: 0xE0_43_00u32,
        kind: &Color,
        apply: Live(&[Strip]),
        group: Lights,
        title: "Colour of a new block",
        help: "The LEDs flash in it.",
    }
    /// Mutes the LED strip.
    disable_leds: bool {
        name: "disableLeds",
        default: false,
        kind: &MuteKind,
        apply: Live(&[Strip]),
        group: Lights,
        title: "LEDs",
        help: "Off mutes them, whatever happens.",
        entity: Enabled,
    }
    /// Flashes the strip on a new block or price.
    led_flash_on_upd: bool {
        name: "ledFlashOnUpd",
        default: false,
        kind: &Switch,
        apply: Live(&[Strip]),
        group: Lights,
        title: "Flash on new data",
        help: "When a block or a price arrives.",
        entity: Enabled,
    }
    /// Flashes the strip on a zap.
    led_flash_on_zap: bool {
        name: "ledFlashOnZap",
        default: true,
        kind: &Switch,
        apply: Live(&[Strip]),
        group: Lights,
        title: "Flash on zaps",
        needs: WITH_ZAPS,
        entity: Enabled,
    }
    /// Shows a rainbow on the strip at start.
    led_test_on_power: bool {
        name: "ledTestOnPower",
        default: true,
        kind: &Switch,
        apply: Reboot,
        group: Lights,
        title: "Rainbow at start",
        rare: true,
    }
    /// Keeps the frontlight on in bright rooms.
    fl_always_on: bool {
        name: "flAlwaysOn",
        default: true,
        kind: &Switch,
        apply: Live(&[Frontlight]),
        group: Frontlight,
        title: "On in bright rooms too",
        needs: WITH_FRONTLIGHT,
    }
    /// Mutes the frontlight.
    fl_disable: bool {
        name: "flDisable",
        default: false,
        kind: &MuteKind,
        apply: Live(&[Frontlight]),
        group: Frontlight,
        title: "Frontlight",
        help: "Off mutes it, whatever happens.",
        needs: WITH_FRONTLIGHT,
        entity: Enabled,
    }
    /// Time between steps of a frontlight fade, ms.
    fl_effect_delay: u32 {
        name: "flEffectDelay",
        default: 15u32,
        kind: &uint(0..=1000),
        apply: Live(&[Frontlight]),
        group: Frontlight,
        title: "Fade step",
        help: "Time between two steps of a fade.",
        unit: "ms",
        needs: WITH_FRONTLIGHT,
        rare: true,
    }
    /// Flashes the frontlight on a new block.
    fl_flash_on_upd: bool {
        name: "flFlashOnUpd",
        default: true,
        kind: &Switch,
        apply: Live(&[Frontlight]),
        group: Frontlight,
        title: "Flash on new blocks",
        needs: WITH_FRONTLIGHT,
    }
    /// Flashes the frontlight on a zap.
    fl_flash_on_zap: bool {
        name: "flFlashOnZap",
        default: true,
        kind: &Switch,
        apply: Live(&[Frontlight]),
        group: Frontlight,
        title: "Flash on zaps",
        needs: &[Has(BoardPart::Frontlight), On(Key::nostr_zap_notify)],
    }
    /// Brightness of the frontlight at 100 percent, PWM duty; 4095 is the most that has effect.
    fl_max_brightness: u32 {
        name: "flMaxBrightness",
        default: 2048u32,
        kind: &uint(0..=65535),
        apply: Live(&[Frontlight]),
        group: Frontlight,
        title: "Full brightness",
        help: "More than 4095 has no effect.",
        unit: "PWM duty",
        needs: WITH_FRONTLIGHT,
        search: "backlight dim",
        entity: Enabled,
    }
    /// Turns the frontlight off when the room is dark: below 1.0 lux, until 2.0 lux.
    fl_off_when_dark: bool {
        name: "flOffWhenDark",
        default: true,
        kind: &Switch,
        apply: Live(&[Frontlight]),
        group: Frontlight,
        title: "Off in the dark",
        help: "Goes out below 1 lux and comes back at 2 lux.",
        needs: &[Has(BoardPart::Frontlight), Has(BoardPart::LightSensor)],
    }
    /// Turns the frontlight off while Do Not Disturb is active.
    fl_off_on_dnd: bool {
        name: "flOffOnDnd",
        default: true,
        kind: &Switch,
        apply: Live(&[Frontlight]),
        group: Frontlight,
        title: "Off while Do Not Disturb",
        needs: WITH_FRONTLIGHT,
    }
    /// Light between a dim and a bright room, lux; 0 leaves the frontlight alone.
    lux_light_toggle: u32 {
        name: "luxLightToggle",
        default: 128u32,
        kind: &uint(0..=65535),
        apply: Live(&[Frontlight]),
        group: Frontlight,
        title: "Bright room from",
        help: "0 leaves the frontlight alone.",
        unit: "lux",
        needs: &[Has(BoardPart::Frontlight), Has(BoardPart::LightSensor)],
        search: "ambient light sensor threshold",
        rare: true,
    }
    /// Reverses the order of the buttons.
    inverse_buttons: bool {
        name: "inverseButtons",
        default: false,
        kind: &Switch,
        apply: Reboot,
        group: Lights,
        title: "Reverse the buttons",
        help: "The first becomes the last.",
        search: "swap turn around",
        rare: true,
    }

    /// Do Not Disturb by hand. Written as `dnd.enabled`.
    dnd_enabled: bool {
        name: "dndEnabled",
        default: false,
        kind: &Switch,
        access: ReadOnly,
        apply: Live(&[Panels, Strip, Frontlight]),
        group: Quiet,
    }
    /// Do Not Disturb by schedule. Written as `dnd.dndTimeEnabled`.
    dnd_time_enabled: bool {
        name: "dndTimeEnabled",
        default: false,
        kind: &Switch,
        access: ReadOnly,
        apply: Live(&[Panels, Strip, Frontlight]),
        group: Quiet,
    }
    /// Start of the schedule, h. Written as `dnd.startHour`.
    dnd_start_hour: u32 {
        name: "dndStartHour",
        default: 22u32,
        kind: &uint(0..=23),
        access: ReadOnly,
        apply: Live(&[Panels, Strip, Frontlight]),
        group: Quiet,
        unit: "h",
    }
    /// Start of the schedule, min past the hour. Written as `dnd.startMinute`.
    dnd_start_min: u32 {
        name: "dndStartMin",
        default: 0u32,
        kind: &uint(0..=59),
        access: ReadOnly,
        apply: Live(&[Panels, Strip, Frontlight]),
        group: Quiet,
        unit: "min past the hour",
    }
    /// End of the schedule, h. Written as `dnd.endHour`.
    dnd_end_hour: u32 {
        name: "dndEndHour",
        default: 7u32,
        kind: &uint(0..=23),
        access: ReadOnly,
        apply: Live(&[Panels, Strip, Frontlight]),
        group: Quiet,
        unit: "h",
    }
    /// End of the schedule, min past the hour. Written as `dnd.endMinute`.
    dnd_end_min: u32 {
        name: "dndEndMin",
        default: 0u32,
        kind: &uint(0..=59),
        access: ReadOnly,
        apply: Live(&[Panels, Strip, Frontlight]),
        group: Quiet,
        unit: "min past the hour",
    }

    /// Time zone of the clock and of the schedules: an IANA name.
    tz_string: String {
        name: "tzString",
        default: "Europe/Amsterdam",
        kind: &ZoneName,
        apply: Live(&[Panels, Strip, Frontlight]),
        group: Time,
        title: "Time zone",
        help: "For the clock and the quiet hours; daylight saving is automatic.",
        search: "timezone region daylight saving dst utc summer winter clock hour",
    }
    /// Time servers, each a host with or without a port, at most 8; empty uses the default.
    time_servers: Vec<String> {
        name: "timeServers",
        default: Vec::<String>::new(),
        kind: &Hosts,
        apply: Live(&[]),
        group: Time,
        title: "Time servers",
        help: "Hosts, with a port if they need one. Empty asks pool.ntp.org.",
        rare: true,
    }

    /// Polls the mining pool and offers its screens.
    mining_pool_stats: bool {
        name: "miningPoolStats",
        default: false,
        kind: &Switch,
        apply: Live(&[Rotation, Sources]),
        group: Pool,
        title: "Follow a mining pool",
        help: "Adds its screens.",
        search: "hashrate mining earnings",
        entity: Enabled,
    }
    /// The mining pool: an id of `availablePools`.
    mining_pool_name: String {
        name: "miningPoolName",
        default: pools::DEFAULT,
        kind: &POOL,
        apply: Live(&[Sources, Panels]),
        group: Pool,
        title: "Pool",
        needs: WITH_POOL,
        entity: Enabled,
    }
    /// User at the pool: payout address, user or worker name, or API key. A key is forgotten when a pool without keys is chosen, and GET has `miningPoolUserSet` in its place.
    mining_pool_user: Secret {
        name: "miningPoolUser",
        default: Secret::default(),
        kind: &PoolUser(TEXT_MAX),
        apply: Live(&[Sources]),
        group: Pool,
        title: "User, address or key",
        help: "Your account at the pool.",
        needs: WITH_POOL,
    }
    /// The user of the pool was given as an API key and is never shown.
    pool_user_is_key: bool {
        name: "poolUserIsKey",
        default: false,
        kind: &Switch,
        access: Internal,
        apply: Live(&[]),
        group: Pool,
    }
    /// Worker at the pool: its name, or the sub-account for pools with one.
    pool_worker: String {
        name: "poolWorker",
        default: "",
        kind: &TextKind(TEXT_MAX),
        apply: Live(&[Sources]),
        group: Pool,
        title: "Worker",
        help: "Or a sub-account, if the pool has them.",
        needs: WITH_POOL,
    }
    /// Shows the figures of the whole pool: where it publishes them without a user.
    pool_global_stats: bool {
        name: "poolGlobalStats",
        default: true,
        kind: &Switch,
        apply: Live(&[Sources]),
        group: Pool,
        title: "Figures of the whole pool",
        help: "If the pool publishes them.",
        needs: WITH_POOL,
        entity: Enabled,
    }
    /// Host and port of the self-hosted pool.
    local_pool_host: Endpoint {
        name: "localPoolHost",
        default: "umbrel.local:2019",
        kind: &Host(TEXT_MAX),
        apply: Reboot,
        group: Pool,
        title: "Host of your pool",
        help: "Host and port.",
        needs: &[On(Key::mining_pool_stats), Chosen(Key::mining_pool_name, pools::SELF_HOSTED)],
    }
    /// Time between polls of the pool, s.
    pool_poll_sec: u32 {
        name: "poolPollSec",
        default: 60u32,
        kind: &uint(10..=3600),
        apply: Live(&[Sources, Panels]),
        group: Pool,
        title: "Ask every",
        unit: "s",
        needs: WITH_POOL,
        rare: true,
        entity: Enabled,
    }
    /// URL of the pool logos: an `http://` or `https://` address, or empty.
    pool_logos_url: Endpoint {
        name: "poolLogosUrl",
        default: "https://git.btclock.dev/btclock/mining-pool-logos/raw/branch/main",
        kind: &base_url(Schemes::Http),
        apply: Live(&[Sources]),
        group: Pool,
        title: "Logos from",
        needs: WITH_POOL,
        rare: true,
    }

    /// Polls a miner on the local network and offers its screens.
    miner_enabled: bool {
        name: "minerEnabled",
        alias: "bitaxeEnabled",
        default: false,
        kind: &Switch,
        apply: Live(&[Rotation, Sources]),
        group: Miner,
        title: "Follow a miner",
        help: "Adds its screens.",
        search: "hashrate mining bitaxe",
        entity: Enabled,
    }
    /// Host of the miner.
    miner_hostname: Endpoint {
        name: "minerHostname",
        alias: "bitaxeHostname",
        default: "bitaxe1",
        kind: &Host(TEXT_MAX),
        apply: Live(&[Sources]),
        group: Miner,
        title: "Host of the miner",
        needs: &[On(Key::miner_enabled)],
    }
    /// Time between polls of the miner, s.
    miner_poll_sec: u32 {
        name: "minerPollSec",
        alias: "bitaxePollSec",
        default: 10u32,
        kind: &uint(5..=300),
        apply: Live(&[Sources, Panels]),
        group: Miner,
        title: "Ask every",
        unit: "s",
        needs: &[On(Key::miner_enabled)],
        rare: true,
        entity: Enabled,
    }

    /// Nostr relay for the data feed and for zaps: a `ws://` or `wss://` address; empty with no other relay turns both off.
    nostr_relay: Endpoint {
        name: "nostrRelay",
        default: "wss://relay.primal.net",
        kind: &url(Schemes::Relay),
        apply: Reboot,
        group: Nostr,
        title: "Relay",
        help: "For data and zaps. Empty with no other relay turns both off.",
    }
    /// Additional relays: at most 8 addresses; all are connected, and events received twice count once.
    nostr_relays: Vec<Endpoint> {
        name: "nostrRelays",
        default: Vec::<Endpoint>::new(),
        kind: &Relays,
        apply: Reboot,
        group: Nostr,
        title: "More relays",
        help: "One on each line, at most 8. All are followed.",
        rare: true,
    }
    /// Key of the author whose data the clock follows: 64 lower-case hex digits or an `npub`, or empty.
    nostr_pub_key: String {
        name: "nostrPubKey",
        default: "642317135fd4c4205323b9dea8af3270657e62d51dc31a657c0ec8aab31c6288",
        kind: &HexKey::Lower,
        apply: Reboot,
        group: Nostr,
        title: "Author of the data",
        help: "Public key: 64 hexadecimal digits or an npub.",
        needs: &[Among(Key::data_source, &[NOSTR])],
    }
    /// Receives and shows zaps.
    nostr_zap_notify: bool {
        name: "nostrZapNotify",
        default: false,
        kind: &Switch,
        apply: Live(&[Sources, Panels, Strip, Frontlight]),
        group: Nostr,
        title: "Show zaps",
        search: "notification alert",
        entity: Enabled,
    }
    /// Key whose zaps are shown: 64 hex digits or an `npub`, or empty.
    nostr_zap_pubkey: String {
        name: "nostrZapPubkey",
        default: "",
        kind: &HexKey::Any,
        apply: Live(&[Sources]),
        group: Nostr,
        title: "Zaps to this key",
        help: "Public key: 64 hexadecimal digits or an npub.",
        needs: WITH_ZAPS,
    }
    /// Additional keys: at most 8, each as 64 hex digits or an `npub`.
    nostr_zap_pubkeys: Vec<String> {
        name: "nostrZapPubkeys",
        default: Vec::<String>::new(),
        kind: &Keys,
        apply: Live(&[Sources]),
        group: Nostr,
        title: "Zaps to these keys too",
        help: "One on each line, at most 8.",
        needs: WITH_ZAPS,
        rare: true,
    }
    /// Returns to the previous screen after a zap.
    scrn_restore_zap: bool {
        name: "scrnRestoreZap",
        default: true,
        kind: &Switch,
        apply: Live(&[Panels]),
        group: Nostr,
        title: "Go back after a zap",
        help: "Otherwise the zap stays until the next screen.",
        needs: WITH_ZAPS,
    }
    /// Shows the block height on a new block.
    steal_focus: bool {
        name: "stealFocus",
        default: false,
        kind: &Switch,
        apply: Live(&[Panels, Frontlight]),
        group: Rotation,
        title: "New block takes over",
        help: "Its height is shown at once.",
        entity: Enabled,
    }

    /// Connects to the wallet.
    nwc_enabled: bool {
        name: "nwcEnabled",
        default: false,
        kind: &Switch,
        apply: Reboot,
        group: Wallet,
        title: "Connect to a wallet",
        help: "Nostr Wallet Connect: balance and payments of your wallet.",
    }
    /// Pairing URI of the wallet: `nostr+walletconnect://`; one that cannot be read leaves the wallet off.
    nwc_uri: Secret {
        name: "nwcUri",
        default: Secret::default(),
        kind: &PairingKind(TEXT_MAX),
        access: WriteOnly,
        apply: Reboot,
        group: Wallet,
        title: "Pairing URI",
        help: "Anyone who has it can use the wallet.",
        needs: WITH_WALLET,
        search: "lightning balance payments",
    }
    /// Time between polls of the balance, s.
    nwc_refresh_secs: u32 {
        name: "nwcRefreshSecs",
        default: 60u32,
        kind: &uint(15..=3600),
        apply: Reboot,
        group: Wallet,
        title: "Ask for the balance every",
        unit: "s",
        needs: WITH_WALLET,
        rare: true,
    }
    /// Shows payments as they happen.
    nwc_show_notify: bool {
        name: "nwcShowNotify",
        default: true,
        kind: &Switch,
        apply: Live(&[Panels, Strip, Frontlight]),
        group: Wallet,
        title: "Show payments",
        needs: WITH_WALLET,
        search: "notification alert",
    }
    /// Flashes the lights when a payment is shown.
    nwc_flash_on_pay: bool {
        name: "nwcFlashOnPay",
        default: true,
        kind: &Switch,
        apply: Live(&[Strip, Frontlight]),
        group: Wallet,
        title: "Flash on payments",
        needs: &[On(Key::nwc_enabled), On(Key::nwc_show_notify)],
    }

    /// Requires a user name and password for every control request.
    http_auth_enabled: bool {
        name: "httpAuthEnabled",
        default: false,
        kind: &Switch,
        apply: Reboot,
        group: Access,
        title: "Ask for a password",
        help: "Required to see the panels and to use the clock; without it, the page shows only a sign-in form.",
        search: "login security sign in lock",
    }
    /// User name for control requests: without a colon.
    http_auth_user: String {
        name: "httpAuthUser",
        default: "papertick",
        kind: &UserName(TEXT_MAX),
        apply: Reboot,
        group: Access,
        title: "User name",
        needs: &[On(Key::http_auth_enabled)],
        search: "username account",
    }
    /// Password for control requests.
    http_auth_pass: PasswordHash {
        name: "httpAuthPass",
        default: PasswordHash::default(),
        kind: &PasswordKind(TEXT_MAX),
        access: WriteOnly,
        apply: Reboot,
        group: Access,
        title: "Password",
        help: "Long beats complicated: four words that have nothing to do with each other.",
        needs: &[On(Key::http_auth_enabled)],
    }
    /// Allows reading the metrics at `/metrics` without a password; they hold no secret.
    metrics_open: bool {
        name: "metricsOpen",
        default: false,
        kind: &Switch,
        apply: Live(&[]),
        group: Access,
        title: "Figures without a password",
        help: "For a monitoring system that reads /metrics; there is no secret in them.",
        needs: &[On(Key::http_auth_enabled)],
        search: "prometheus grafana",
        rare: true,
    }
    /// Approved remote displays, with the digests of their tokens.
    displays: Vec<Display> {
        name: "displays",
        default: Vec::<Display>::new(),
        kind: &DisplaysKind,
        access: Internal,
        apply: Live(&[]),
        group: Access,
    }
    /// Accepts firmware and web bundles over HTTP.
    ota_enabled: bool {
        name: "otaEnabled",
        default: true,
        kind: &Switch,
        apply: Reboot,
        group: Access,
        title: "Accept updates",
        help: "Firmware and web bundles over the network.",
        search: "firmware upgrade version",
    }
    /// Password for uploads.
    ota_pass: PasswordHash {
        name: "otaPass",
        default: PasswordHash::default(),
        kind: &PasswordKind(TEXT_MAX),
        access: WriteOnly,
        apply: Reboot,
        group: Access,
        title: "Update password",
        help: "For uploads. Empty uses the password above, if there is one.",
        needs: &[On(Key::ota_enabled)],
        rare: true,
    }
    /// Release feed of the automatic update: an `http://` or `https://` address, or empty.
    git_release_url: Endpoint {
        name: "gitReleaseUrl",
        default: "",
        kind: &url(Schemes::Http),
        apply: Live(&[Update]),
        group: Access,
        title: "Release feed",
        help: "The address where the clock checks for updates.",
        needs: &[On(Key::ota_enabled)],
        search: "firmware upgrade version",
    }
    /// Installs accepted releases of the feed automatically.
    update_auto: bool {
        name: "updateAuto",
        default: false,
        kind: &Switch,
        apply: Live(&[Update]),
        group: Access,
        title: "Install releases by itself",
        needs: &[On(Key::ota_enabled)],
        search: "automatic update",
    }
    /// Accepted releases: stable ones, or previews too.
    update_channel: u32 {
        name: "updateChannel",
        default: 0u32,
        kind: &Numbered(&["stable", "preview"]),
        apply: Live(&[Update]),
        group: Access,
        title: "Update channel",
        needs: &[On(Key::ota_enabled)],
        search: "beta stable",
        rare: true,
    }
    /// The only version of the feed that is accepted; empty for any.
    update_pin: String {
        name: "updatePin",
        default: "",
        kind: &VersionOrNone,
        apply: Live(&[Update]),
        group: Access,
        title: "Only this version",
        needs: &[On(Key::ota_enabled)],
        rare: true,
    }
    /// Share of all clocks that accept a release of the feed, percent; which ones depends on their host names.
    update_share: u32 {
        name: "updateShare",
        default: 100u32,
        kind: &slider(0..=100),
        apply: Live(&[Update]),
        group: Access,
        title: "Share of clocks that update",
        unit: "percent",
        needs: &[On(Key::ota_enabled)],
        rare: true,
    }

    /// Logs in detail.
    enable_debug_log: bool {
        name: "enableDebugLog",
        default: false,
        kind: &Switch,
        apply: Reboot,
        group: Diagnostics,
        title: "Detailed log",
    }
    /// Saved texts: at most 10, each with a text per panel.
    kept_texts: Vec<Vec<String>> {
        name: "keptTexts",
        default: Vec::<Vec<String>>::new(),
        kind: &KeptTexts,
        apply: Live(&[]),
        group: Rotation,
    }
    /// The page has shown its first-run questions; a reset clears this.
    welcomed: bool {
        name: "welcomed",
        default: false,
        kind: &Switch,
        apply: Live(&[]),
        group: Diagnostics,
    }
    /// The rotation timer runs; kept over a restart.
    timer_active: bool {
        name: "timerActive",
        default: true,
        kind: &Switch,
        apply: Live(&[Rotation, Strip]),
        group: Diagnostics,
        entity: Enabled,
    }
}};}

pub(super) use rows;
