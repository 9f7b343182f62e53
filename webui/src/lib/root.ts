/** Addresses of the clock. A proxy may serve it below a path, so all addresses are relative to the root of the page. */

/** Path of the root, with a trailing slash. */
export const ROOT = rootPath();

function rootPath(): string {
  // Unit tests have no document.
  return typeof document === 'undefined' ? '/' : new URL('./', document.baseURI).pathname;
}

/** The address of a path of the clock, such as `/api/status`. */
export function at(path: string): string {
  return ROOT + path.slice(1);
}

/** The address for a request to a path. It lacks the user name and password in the address of the page, which `fetch` refuses. */
export function requestAddress(path: string): string {
  // Unit tests have no location.
  return (typeof location === 'undefined' ? '' : location.origin) + at(path);
}

/** The path of the clock in an address; `/` for an address outside the root. */
export function pathOf(address: string): string {
  return address.startsWith(ROOT) ? address.slice(ROOT.length - 1) : '/';
}

/** A storage key for this clock: all clocks behind one host share the storage of the browser. */
export function ofThisClock(name: string): string {
  return ROOT === '/' ? name : name + ROOT;
}
