/** Which view is shown; kept in the fragment, so that the clock needs to know nothing of it. */

export type View = 'clock' | 'settings';

class Route {
  view = $state<View>('clock');
  /** Section of the settings that was asked for. */
  part = $state('');

  start(): void {
    this.#read();
    addEventListener('hashchange', () => {
      const before = this.view;
      this.#read();
      if (this.view !== before) scrollTo(0, 0);
    });
  }

  #read(): void {
    const [, view, part] = location.hash.split('/');
    this.view = view === 'settings' ? 'settings' : 'clock';
    this.part = part ?? '';
  }
}

export const route = new Route();
