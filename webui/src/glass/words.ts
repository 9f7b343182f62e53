/** The texts of the full screen page in all languages; they are too few for separate files. */

interface Words {
  away: string;
  age: string;
  signIn: string;
  refused: string;
  unreachable: string;
  menu: string;
  next: string;
  figure: string;
  board: string;
  cells: string;
  full: string;
}

const TEXTS: Readonly<Record<'en' | 'de' | 'es' | 'nl', Words>> = {
  en: {
    away: 'No connection to the clock.',
    age: 'Picture {age} old.',
    signIn: 'The clock requires a password. Sign in',
    refused: 'The clock refused: {why}',
    unreachable: 'The clock does not answer.',
    menu: 'Menu',
    next: 'Next screen',
    figure: 'One figure',
    board: 'Board',
    cells: 'Cells',
    full: 'Full screen',
  },
  de: {
    away: 'Keine Verbindung zur Uhr.',
    age: 'Das Bild ist {age} alt.',
    signIn: 'Die Uhr verlangt ein Passwort. Anmelden',
    refused: 'Die Uhr lehnt ab: {why}',
    unreachable: 'Die Uhr antwortet nicht.',
    menu: 'Menü',
    next: 'Nächster Bildschirm',
    figure: 'Eine Zahl',
    board: 'Tafel',
    cells: 'Zellen',
    full: 'Vollbild',
  },
  es: {
    away: 'Sin conexión con el reloj.',
    age: 'La imagen tiene {age}.',
    signIn: 'El reloj pide una contraseña. Iniciar sesión',
    refused: 'El reloj lo rechaza: {why}',
    unreachable: 'El reloj no responde.',
    menu: 'Menú',
    next: 'Pantalla siguiente',
    figure: 'Una cifra',
    board: 'Tablero',
    cells: 'Celdas',
    full: 'Pantalla completa',
  },
  nl: {
    away: 'Geen verbinding met de klok.',
    age: 'Het beeld is {age} oud.',
    signIn: 'De klok vraagt een wachtwoord. Inloggen',
    refused: 'De klok weigert: {why}',
    unreachable: 'De klok antwoordt niet.',
    menu: 'Menu',
    next: 'Volgend scherm',
    figure: 'Eén getal',
    board: 'Bord',
    cells: 'Vakjes',
    full: 'Volledig scherm',
  },
};

const isKnown = (code: string): code is keyof typeof TEXTS => code in TEXTS;

/** Code of the first language of the browser that has texts. */
export const language = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isKnown) ?? 'en';

/** The texts in that language. */
export const words = TEXTS[language];

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A span of time as its largest unit, such as `3 min`. */
export function aged(ms: number): string {
  const [unit, length] = UNITS.find(([, length]) => ms >= length) ?? (['second', 1_000] as const);
  return new Intl.NumberFormat(language, { style: 'unit', unit }).format(Math.floor(ms / length));
}
