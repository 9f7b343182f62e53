/** The user name and password that are sent with every request. */
import { ofThisClock } from './root';

/** How long credentials are stored: until the tab closes, or until sign-out. */
export type Persistence = 'tab' | 'browser';

/** Storage key of the credentials. */
export const STORED = ofThisClock('papertick-sign-in');

/** Tells the clock that this page has a sign-in form, so that the response does not open the dialog of the browser. */
const OWN_FORM = { 'X-Sign-In': 'form' };

let authorization = stored();

function stored(): string {
  try {
    return sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED) ?? '';
  } catch {
    // A browser may disable storage.
    return '';
  }
}

/** User name and password as the value of `Authorization`; both may contain any character. */
export function encoded(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** Headers for every request. */
export function authHeaders(): Record<string, string> {
  return authorization ? { ...OWN_FORM, Authorization: authorization } : { ...OWN_FORM };
}

/** Value of `Authorization`; empty if the page is signed out. */
export function currentAuthorization(): string {
  return authorization;
}

/** Uses another value of `Authorization` from now on. */
export function useAuthorization(value: string): void {
  authorization = value;
}

/** Stores the credentials in use; to be called after the clock has accepted them. */
export function storeCredentials(persistence: Persistence): void {
  try {
    sessionStorage.removeItem(STORED);
    (persistence === 'browser' ? localStorage : sessionStorage).setItem(STORED, authorization);
    if (persistence === 'tab') localStorage.removeItem(STORED);
  } catch {
    // Storage may be disabled; the next visit needs a new sign-in.
  }
}

/** Where credentials are stored now; the browser if there are none. */
export function storedPersistence(): Persistence {
  try {
    return sessionStorage.getItem(STORED) === null ? 'browser' : 'tab';
  } catch {
    return 'tab';
  }
}

/** Removes stored credentials; other tabs get a storage event, also if none were stored for the browser. */
export function removeStoredCredentials(): void {
  try {
    sessionStorage.removeItem(STORED);
    localStorage.setItem(STORED, '');
    localStorage.removeItem(STORED);
  } catch {
    // Storage may be disabled; it is empty then.
  }
}
