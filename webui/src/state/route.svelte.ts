/** The current view. Every view has an address, and Back restores its scroll position. */
import { at } from '../lib/root';
import { tick } from 'svelte';
import { addressOf, placeOf, type Place, type View } from '../lib/places';

/** Time without scrolling after which the position is stored, ms. */
const SETTLED_MS = 150;
/** Longest time to wait until a view is high enough to be scrolled to its stored position, ms. */
const RESTORE_MAX_MS = 3_000;

/** Events of scrolling by the user. */
const SCROLL_EVENTS = ['wheel', 'touchmove', 'keydown'] as const;

/** State of a history entry. */
interface Stored {
  /** Scroll position, px. */
  y?: number;
}

class Route {
  #place = $state.raw<Place>({ view: 'clock', part: '' });
  /** The section to scroll to; the view clears it after scrolling. */
  wanted = $state.raw('');
  /** Stops waiting for a view that is still too short to scroll; undefined if there is none. */
  #stopRestoring: (() => void) | undefined;
  #settled = 0;

  get view(): View {
    return this.#place.view;
  }

  start(): void {
    history.scrollRestoration = 'manual';
    // Older versions of the page had addresses in the hash.
    if (location.hash.startsWith('#/')) history.replaceState(null, '', at(location.hash.slice(1)));
    this.#return();
    addEventListener('popstate', () => this.#return());
    addEventListener('click', (event) => this.#clicked(event));
    addEventListener('scroll', () => this.#scrolled(), { passive: true });
  }

  /** Shows a view and scrolls to a section of it. */
  go(view: View, part = ''): void {
    const address = addressOf({ view, part });
    const moved = view !== this.view;
    this.#stopRestoring?.();
    if (address !== location.pathname) {
      this.#store();
      history.pushState(null, '', address);
    }
    this.#read();
    this.wanted = part;
    if (moved && !part) void tick().then(() => scrollTo(0, 0));
  }

  /** Shows the current entry of the history: at its stored position, or at the section of its address. */
  #return(): void {
    clearTimeout(this.#settled);
    this.#stopRestoring?.();
    this.#read();
    const { y } = (history.state ?? {}) as Stored;
    this.wanted = y === undefined ? this.#place.part : '';
    if (y !== undefined) this.#restore(y);
  }

  #read(): void {
    this.#place = placeOf(location.pathname);
  }

  #scrolled(): void {
    clearTimeout(this.#settled);
    if (!this.#stopRestoring) this.#settled = setTimeout(() => this.#store(), SETTLED_MS);
  }

  #store(): void {
    clearTimeout(this.#settled);
    history.replaceState({ y: scrollY } satisfies Stored, '');
  }

  /** Scrolls to a position as soon as the view is high enough, unless the user scrolls first. */
  #restore(y: number): void {
    const stop = () => {
      observer.disconnect();
      clearTimeout(timer);
      for (const name of SCROLL_EVENTS) removeEventListener(name, stop);
      this.#stopRestoring = undefined;
    };
    const observer = new ResizeObserver(() => {
      scrollTo(0, y);
      if (Math.abs(scrollY - y) < 1) stop();
    });
    const timer = setTimeout(stop, RESTORE_MAX_MS);
    for (const name of SCROLL_EVENTS) addEventListener(name, stop, { passive: true });
    this.#stopRestoring = stop;
    void tick().then(() => observer.observe(document.body));
  }

  /** Handles a click on a link to a view without loading a document. */
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
