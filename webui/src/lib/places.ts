/** The views of the page and their addresses, which the clock answers with the page. */

export type View = 'clock' | 'settings';

export interface Place {
  view: View;
  /** Section of the view; empty for its beginning. */
  part: string;
}

export const TITLES: Record<View, string> = { clock: 'papertick', settings: 'Settings · papertick' };

/** What an address shows; one that is not known shows the clock. */
export function placeOf(path: string): Place {
  const [, first, part = ''] = path.split('/');
  return first === 'settings' ? { view: 'settings', part } : { view: 'clock', part: '' };
}

/** The address of a place. */
export function addressOf({ view, part }: Place): string {
  if (view === 'clock') return '/';
  return part ? `/settings/${part}` : '/settings';
}
