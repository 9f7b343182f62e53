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
    "en_US": "papertick shows block height, price, fees, halving, mining pool, miner and wallet on seven or eight e-paper panels, one screen at a time. Without panels, its page shows the same pictures, pixel for pixel.\n\nThe clock verifies the proof of work of each block, compares the prices of several exchanges, and marks values that are stale, disputed or not proven. It can use your own node.\n\nSet a password on the page: without one, everyone with access to the page can change the clock.",
    "de_DE": "papertick zeigt Blockhöhe, Preis, Gebühren, Halving, Mining-Pool, Miner und Wallet auf sieben oder acht E-Paper-Anzeigen, ein Bild nach dem anderen. Ohne Anzeigen zeigt die Seite der Uhr dieselben Bilder, Pixel für Pixel.\n\nDie Uhr prüft den Arbeitsnachweis jedes Blocks, vergleicht die Preise mehrerer Börsen und markiert veraltete, umstrittene und unbewiesene Werte. Sie kann deinen eigenen Node verwenden.\n\nSetze auf der Seite ein Passwort: Ohne Passwort kann jeder mit Zugang zur Seite die Uhr ändern."
  }
} as const
