//! The texts of the portal in the languages of the page.

use device::input::LinkFailure;

/// The texts in one language. `{host}`, `{port}` and `{why}` are placeholders.
pub(super) struct PortalTexts {
    /// Code of the language, such as `de`.
    pub(super) code: &'static str,
    /// Name of the language in the language itself.
    pub(super) language: &'static str,
    pub(super) choose: &'static str,
    pub(super) in_reach: &'static str,
    pub(super) another: &'static str,
    pub(super) password: &'static str,
    pub(super) panel: &'static str,
    pub(super) no_panel: &'static str,
    pub(super) panel_hint: &'static str,
    /// The access point has no password.
    pub(super) no_password: &'static str,
    pub(super) show: &'static str,
    pub(super) connect: &'static str,
    pub(super) again: &'static str,
    pub(super) afterwards: &'static str,
    pub(super) router: &'static str,
    pub(super) connected: &'static str,
    pub(super) joins: &'static str,
    pub(super) secured: &'static str,
    pub(super) open: &'static str,
    /// Signal strength, the best first.
    pub(super) bars: [&'static str; 4],
    pub(super) trying: &'static str,
    pub(super) choose_first: &'static str,
    pub(super) no_answer: &'static str,
    pub(super) failed: &'static str,
    pub(super) failed_before: &'static str,
    /// Why an attempt failed: lost, not found, password, refused, handshake, connection, timeout.
    failures: [&'static str; 7],
    pub(super) not_stored: &'static str,
    pub(super) busy: &'static str,
    pub(super) restarting: &'static str,
}

impl PortalTexts {
    /// Why an attempt failed.
    pub(super) fn failure(&self, failure: LinkFailure) -> &'static str {
        let index = match failure {
            LinkFailure::Lost => 0,
            LinkFailure::NotFound => 1,
            LinkFailure::Auth => 2,
            LinkFailure::Association => 3,
            LinkFailure::Handshake => 4,
            LinkFailure::Connection => 5,
            LinkFailure::Timeout => 6,
        };
        self.failures[index]
    }
}

/// The texts in the language of the query (`?lang=de`), else in the first supported language of `Accept-Language`
/// (`de-AT,en;q=0.8`), else in English.
pub(super) fn texts_for(query: Option<&str>, accepted: Option<&str>) -> &'static PortalTexts {
    let in_query =
        query.and_then(|query| query.split('&').find_map(|part| part.strip_prefix("lang=")));
    let languages = in_query
        .into_iter()
        .chain(accepted.unwrap_or_default().split(','));
    let supported = |language: &str| {
        let code = language.trim().get(..2)?;
        LANGUAGES
            .iter()
            .find(|texts| texts.code.eq_ignore_ascii_case(code))
    };
    let mut supported = languages.filter_map(supported);
    supported.next().unwrap_or(&LANGUAGES[0])
}

pub(super) static LANGUAGES: [PortalTexts; 4] = [
    PortalTexts {
        code: "en",
        language: "English",
        choose: "Choose a network",
        in_reach: "Networks in reach",
        another: "Another network",
        password: "Password",
        panel: "Panel on the header",
        no_panel: "None, or another one",
        panel_hint: "Choose exactly the name and version that stand on the panel: what is sent for another one can damage it.",
        no_password: "This Wi-Fi has no password: others nearby can read the password of your network while you send it.",
        show: "Show the password",
        connect: "Connect",
        again: "Look again",
        afterwards: "Afterwards you find the clock in that network at",
        router: "If that name does not work, your router lists its IP address under the name {host}: open <i>IP address</i>{port}/.",
        connected: "Connected",
        joins: "The clock restarts and joins the network by itself. Go back to your own network and find it at",
        secured: "password",
        open: "open",
        bars: ["strong", "good", "fair", "weak"],
        trying: "Trying…",
        choose_first: "Choose a network first.",
        no_answer: "The clock does not answer. Join its network again if your phone has left it, and look again.",
        failed: "That did not work: {why}.",
        failed_before: "The last attempt failed: {why}.",
        failures: [
            "the network was lost",
            "no network of that name is in reach",
            "the password is wrong",
            "the network refused the clock",
            "the network broke the handshake off, most often over a wrong password",
            "the connection was lost",
            "the network did not answer in time",
        ],
        not_stored: "the clock could not store it",
        busy: "another attempt is under way",
        restarting: "the clock is restarting",
    },
    PortalTexts {
        code: "de",
        language: "Deutsch",
        choose: "Netzwerk wählen",
        in_reach: "Netzwerke in Reichweite",
        another: "Anderes Netzwerk",
        password: "Passwort",
        panel: "Panel an der Stiftleiste",
        no_panel: "Keines oder ein anderes",
        panel_hint: "Wähle genau den Namen und die Version, die auf dem Panel stehen: Was für ein anderes gesendet wird, kann es beschädigen.",
        no_password: "Dieses WLAN hat kein Passwort: Andere in der Nähe können das Passwort deines Netzes mitlesen, während du es sendest.",
        show: "Passwort zeigen",
        connect: "Verbinden",
        again: "Nochmals suchen",
        afterwards: "Danach findest du die Uhr in jenem Netzwerk unter",
        router: "Falls dieser Name nicht geht: Dein Router führt ihre IP-Adresse unter dem Namen {host}; öffne <i>IP-Adresse</i>{port}/.",
        connected: "Verbunden",
        joins: "Die Uhr startet neu und tritt dem Netzwerk von selbst bei. Geh zurück in dein eigenes Netzwerk; dort findest du sie unter",
        secured: "Passwort",
        open: "offen",
        bars: ["stark", "gut", "mittel", "schwach"],
        trying: "Versucht…",
        choose_first: "Wähle zuerst ein Netzwerk.",
        no_answer: "Die Uhr antwortet nicht. Tritt ihrem Netzwerk wieder bei, falls dein Telefon es verlassen hat, und suche nochmals.",
        failed: "Das ging nicht: {why}.",
        failed_before: "Der letzte Versuch schlug fehl: {why}.",
        failures: [
            "das Netzwerk ging verloren",
            "kein Netzwerk dieses Namens ist in Reichweite",
            "das Passwort ist falsch",
            "das Netzwerk hat die Uhr abgelehnt",
            "das Netzwerk hat die Anmeldung abgebrochen, meist wegen eines falschen Passworts",
            "die Verbindung brach ab",
            "das Netzwerk hat nicht rechtzeitig geantwortet",
        ],
        not_stored: "die Uhr konnte es nicht speichern",
        busy: "ein anderer Versuch läuft noch",
        restarting: "die Uhr startet gerade neu",
    },
    PortalTexts {
        code: "nl",
        language: "Nederlands",
        choose: "Kies een netwerk",
        in_reach: "Netwerken in bereik",
        another: "Ander netwerk",
        password: "Wachtwoord",
        panel: "Paneel op de header",
        no_panel: "Geen of een ander",
        panel_hint: "Kies precies de naam en de versie die op het paneel staan: wat voor een ander wordt gestuurd, kan het beschadigen.",
        no_password: "Dit wifi-netwerk heeft geen wachtwoord: anderen in de buurt kunnen het wachtwoord van je netwerk meelezen terwijl je het verstuurt.",
        show: "Wachtwoord tonen",
        connect: "Verbinden",
        again: "Opnieuw zoeken",
        afterwards: "Daarna vind je de klok in dat netwerk op",
        router: "Werkt die naam niet, dan toont je router haar IP-adres onder de naam {host}; open <i>IP-adres</i>{port}/.",
        connected: "Verbonden",
        joins: "De klok herstart en verbindt zelf met het netwerk. Ga terug naar je eigen netwerk; daar vind je haar op",
        secured: "wachtwoord",
        open: "open",
        bars: ["sterk", "goed", "matig", "zwak"],
        trying: "Proberen…",
        choose_first: "Kies eerst een netwerk.",
        no_answer: "De klok antwoordt niet. Verbind weer met haar netwerk als je telefoon het heeft verlaten, en zoek opnieuw.",
        failed: "Dat lukte niet: {why}.",
        failed_before: "De laatste poging mislukte: {why}.",
        failures: [
            "het netwerk ging verloren",
            "er is geen netwerk met die naam in bereik",
            "het wachtwoord is onjuist",
            "het netwerk weigerde de klok",
            "het netwerk brak de aanmelding af, meestal door een onjuist wachtwoord",
            "de verbinding werd verbroken",
            "het netwerk antwoordde niet op tijd",
        ],
        not_stored: "de klok kon het niet opslaan",
        busy: "er loopt al een andere poging",
        restarting: "de klok herstart",
    },
    PortalTexts {
        code: "es",
        language: "Español",
        choose: "Elige una red",
        in_reach: "Redes al alcance",
        another: "Otra red",
        password: "Contraseña",
        panel: "Panel en el conector",
        no_panel: "Ninguno u otro",
        panel_hint: "Elige exactamente el nombre y la versión que figuran en el panel: lo que se envía para otro puede dañarlo.",
        no_password: "Esta Wi-Fi no tiene contraseña: otros cerca pueden leer la contraseña de tu red mientras la envías.",
        show: "Mostrar la contraseña",
        connect: "Conectar",
        again: "Buscar de nuevo",
        afterwards: "Después encontrarás el reloj en esa red en",
        router: "Si ese nombre no funciona, tu router muestra su dirección IP con el nombre {host}; abre <i>dirección IP</i>{port}/.",
        connected: "Conectado",
        joins: "El reloj se reinicia y se une solo a la red. Vuelve a tu propia red; allí lo encontrarás en",
        secured: "contraseña",
        open: "abierta",
        bars: ["fuerte", "buena", "regular", "débil"],
        trying: "Probando…",
        choose_first: "Elige primero una red.",
        no_answer: "El reloj no responde. Vuelve a unirte a su red si tu teléfono la ha dejado y busca de nuevo.",
        failed: "No ha funcionado: {why}.",
        failed_before: "El último intento falló: {why}.",
        failures: [
            "se perdió la red",
            "no hay ninguna red con ese nombre al alcance",
            "la contraseña es incorrecta",
            "la red rechazó el reloj",
            "la red interrumpió la autenticación, casi siempre por una contraseña incorrecta",
            "se cortó la conexión",
            "la red no respondió a tiempo",
        ],
        not_stored: "el reloj no pudo guardarlo",
        busy: "hay otro intento en curso",
        restarting: "el reloj se está reiniciando",
    },
];
