/** Where the clock is: a proxy may serve it below a path, so every address is made from the root of the page. */

/** Path of the root, with a slash at the end. */
export const ROOT = rootPath();

function rootPath(): string {
  if (typeof document !== 'undefined') return new URL('./', document.baseURI).pathname;
  // The script of a worker is in a folder of the root.
  return typeof location === 'undefined' ? '/' : new URL('../', location.href).pathname;
}

/** The address of a path of the clock, such as `/api/status`. */
export function at(path: string): string {
  return ROOT + path.slice(1);
}

/** The path of the clock that an address is for. */
export function pathOf(address: string): string {
  return address.startsWith(ROOT) ? address.slice(ROOT.length - 1) : '/';
}

/** A name in the storage of the browser, which all clocks behind one host share. */
export function ofThisClock(name: string): string {
  return ROOT === '/' ? name : name + ROOT;
}
