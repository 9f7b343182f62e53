/** The colour theme: light, dark, or the setting of the system. */
import { n } from '../lib/words';

export type Theme = 'system' | 'light' | 'dark';

/** Labels of the themes. */
export const THEMES: Readonly<Record<Theme, string>> = {
  system: n('as the system'),
  light: n('light'),
  dark: n('dark'),
};

const STORED = 'papertick-theme';
const ORDER: Theme[] = ['system', 'light', 'dark'];

class ThemeChoice {
  current = $state.raw<Theme>(stored());

  /** Switches to the next theme. */
  next(): void {
    this.use(ORDER[(ORDER.indexOf(this.current) + 1) % ORDER.length] ?? 'system');
  }

  /** Uses and stores a theme. */
  use(theme: Theme): void {
    this.current = theme;
    const root = document.documentElement;
    if (this.current === 'system') delete root.dataset.theme;
    else root.dataset.theme = this.current;
    try {
      if (this.current === 'system') localStorage.removeItem(STORED);
      else localStorage.setItem(STORED, this.current);
    } catch {
      // Storage may be disabled; the choice then lasts until the page is closed.
    }
  }
}

function stored(): Theme {
  const theme = document.documentElement.dataset.theme;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export const theme = new ThemeChoice();
