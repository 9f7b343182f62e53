/** Who is signed in: the user name and password that go with every request. */
import { ofThisClock } from './root';

/** Keeps them until the tab closes, or until the person signs out. */
export type Keep = 'tab' | 'browser';

/** Storage key of the credentials. */
export const STORED = ofThisClock('papertick-sign-in');

/** Tells the clock that this page has a form for its password, so that no browser asks with one of its own. */
const OWN_FORM = { 'X-Sign-In': 'form' };

let credentials = stored();

function stored(): string {
  try {
    return sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED) ?? '';
  } catch {
    // A worker has no storage, and a browser may refuse it.
    return '';
  }
}

/** User name and password as they travel; both may hold any character. */
export function encoded(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** What goes with every request. */
export function signed(): Record<string, string> {
  return credentials ? { ...OWN_FORM, Authorization: credentials } : { ...OWN_FORM };
}

/** What is sent as `Authorization`; empty if nobody is signed in. */
export function current(): string {
  return credentials;
}

/** Uses these credentials from now on. */
export function use(authorization: string): void {
  credentials = authorization;
}

/** Remembers the credentials in use; to be called once the clock has taken them. */
export function remember(keep: Keep): void {
  forget();
  try {
    (keep === 'browser' ? localStorage : sessionStorage).setItem(STORED, credentials);
  } catch {
    // Storage may be refused; the person signs in again the next time.
  }
}

/** Forgets what is stored. */
export function forget(): void {
  try {
    sessionStorage.removeItem(STORED);
    localStorage.removeItem(STORED);
  } catch {
    // Storage may be refused; nothing is in it then.
  }
}
