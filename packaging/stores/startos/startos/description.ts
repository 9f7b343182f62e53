// Written by packaging/stores/generate from description.toml.
export const description = {
  "id": "papertick",
  "title": "papertick",
  "license": "MIT OR Apache-2.0",
  "repository": "https://github.com/papertick/papertick",
  "website": "https://papertick.example",
  "version": "4.0.0:0",
  "image": "ghcr.io/papertick/papertick:4.0.0",
  "port": 8080,
  "environment": {
    "PAPERTICK_LISTEN": "0.0.0.0:8080",
    "PAPERTICK_DATA_DIR": "/data",
    "PAPERTICK_MANAGED_BY": "StartOS"
  },
  "short": {
    "en_US": "A Bitcoin clock for e-paper panels",
    "de_DE": "Eine Bitcoin-Uhr für E-Paper-Anzeigen"
  },
  "long": {
    "en_US": "Block height, price, fees, halving, mining pool, miner and wallet on seven or eight e-paper panels, one screen at a time. Without panels the whole clock runs on its page, pixel for pixel.\n\nIt checks what it shows: it verifies the proof of work of each block, compares the prices of several exchanges, and marks values that are stale, disputed or not proven. It can use your own node.\n\nUntil you set a password on the page, everyone who can open the page can change the clock.",
    "de_DE": "Blockhöhe, Preis, Gebühren, Halving, Mining-Pool, Miner und Wallet auf sieben oder acht E-Paper-Anzeigen, ein Bild nach dem anderen. Ohne Anzeigen läuft die ganze Uhr auf ihrer Seite, Pixel für Pixel.\n\nSie prüft, was sie zeigt: den Arbeitsnachweis jedes Blocks und die Preise mehrerer Börsen; veraltete, umstrittene und unbewiesene Werte markiert sie. Sie kann deinen eigenen Node verwenden.\n\nSolange du auf der Seite kein Passwort setzt, kann jeder die Uhr ändern, der die Seite öffnen kann."
  }
} as const
