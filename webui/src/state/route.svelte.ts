/** Which view is shown; kept in the fragment, so that the clock needs to know nothing of it. */

export type View = 'clock' | 'settings';

class Route {
  view = $state<View>('clock');
  part = $state('');
  /** Asked before leaving a view; false keeps it. */
  mayLeave: () => boolean = () => true;
  #hash = '';

  start(): void {
    this.#read();
    addEventListener('hashchange', () => this.#changed());
  }

  #changed(): void {
    const leavesView = this.#viewOf(location.hash) !== this.view;
    if (leavesView && !this.mayLeave()) {
      history.replaceState(null, '', this.#hash || '#/');
      return;
    }
    this.#read();
    if (leavesView) scrollTo(0, 0);
  }

  #viewOf(hash: string): View {
    return hash.startsWith('#/settings') ? 'settings' : 'clock';
  }

  #read(): void {
    this.#hash = location.hash;
    this.view = this.#viewOf(this.#hash);
    this.part = this.#hash.split('/')[2] ?? '';
  }
}

export const route = new Route();
