/** Light, dark, or what the system says. */

export type Theme = 'system' | 'light' | 'dark';

const STORED = 'papertick-theme';
const ORDER: Theme[] = ['system', 'light', 'dark'];

class ThemeChoice {
  current = $state<Theme>(stored());

  /** Goes to the next choice and keeps it. */
  turn(): void {
    this.current = ORDER[(ORDER.indexOf(this.current) + 1) % ORDER.length] ?? 'system';
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
