/** The views of the page and their addresses; the clock serves the page at each. */
import { at, pathOf } from './root';
import { n, t } from './words';

export type View = 'clock' | 'settings' | 'care';

export interface Place {
  view: View;
  /** Section of the view; empty for the top. */
  part: string;
}

/** Titles of the views. */
export const VIEWS: Record<View, string> = { clock: n('Clock'), settings: n('Settings'), care: n('Care') };

/** The document title of a view; the title of the clock view begins with `value` unless it is empty. */
export function titleOf(view: View, value: string): string {
  const first = view === 'clock' ? value : t(VIEWS[view]);
  return [first, 'papertick'].filter(Boolean).join(' · ');
}

/** The place that a path shows; the clock view for an unknown path. */
export function placeOf(path: string): Place {
  const [, first, part = ''] = pathOf(path).split('/');
  return first === 'settings' || first === 'care' ? { view: first, part } : { view: 'clock', part: '' };
}

/** The address of a place. */
export function addressOf({ view, part }: Place): string {
  if (view === 'clock') return at('/');
  return at(part ? `/${view}/${part}` : `/${view}`);
}
