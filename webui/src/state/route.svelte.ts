/** Which view is shown: every one has an address, and the browser's way back leads to it. */
import { tick } from 'svelte';
import { addressOf, placeOf, type Place, type View } from '../lib/places';

class Route {
  #place = $state.raw<Place>({ view: 'clock', part: '' });
  /** Grows with every way that a person goes. */
  steps = $state(0);

  get view(): View {
    return this.#place.view;
  }

  /** Section of the settings that was asked for. */
  get part(): string {
    return this.#place.part;
  }

  start(): void {
    // Addresses of older pages stood behind a hash.
    if (location.hash.startsWith('#/')) history.replaceState(null, '', location.hash.slice(1));
    this.#read();
    addEventListener('popstate', () => this.#read());
    addEventListener('click', (event) => this.#clicked(event));
  }

  /** Goes to a view, and to a section of it. */
  go(view: View, part = ''): void {
    const address = addressOf({ view, part });
    const moved = view !== this.view;
    if (address !== location.pathname) history.pushState(null, '', address);
    this.#read();
    if (moved && !part) void tick().then(() => scrollTo(0, 0));
  }

  #read(): void {
    this.#place = placeOf(location.pathname);
    this.steps += 1;
  }

  /** A link to another view changes what is shown, and loads nothing. */
  #clicked(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.('a[href]');
    if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin || link.target) return;
    if (link.dataset.view === undefined) return;
    event.preventDefault();
    const { view, part } = placeOf(link.pathname);
    this.go(view, part);
    if (link.hash) void tick().then(() => document.querySelector(link.hash)?.scrollIntoView());
  }
}

export const route = new Route();
