/** Light, dark, or what the system says. */
import { n } from '../lib/words';

export type Theme = 'system' | 'light' | 'dark';

/** The choices in words. */
export const THEMES: Readonly<Record<Theme, string>> = {
  system: n('as the system'),
  light: n('light'),
  dark: n('dark'),
};

const STORED = 'papertick-theme';
const ORDER: Theme[] = ['system', 'light', 'dark'];

class ThemeChoice {
  current = $state.raw<Theme>(stored());

  /** Goes to the next choice. */
  turn(): void {
    this.use(ORDER[(ORDER.indexOf(this.current) + 1) % ORDER.length] ?? 'system');
  }

  /** Uses a theme and keeps it. */
  use(theme: Theme): void {
    this.current = theme;
    const root = document.documentElement;
    if (this.current === 'system') delete root.dataset.theme;
    else root.dataset.theme = this.current;
    try {
      if (this.current === 'system') localStorage.removeItem(STORED);
      else localStorage.setItem(STORED, this.current);
    } catch {
      // Storage may be refused; the choice then lasts until the page closes.
    }
  }
}

function stored(): Theme {
  const theme = document.documentElement.dataset.theme;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export const theme = new ThemeChoice();
