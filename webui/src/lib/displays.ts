/** Other screens that fetch pictures from the clock. */
import type { RemoteDisplay } from './documents.gen';
import { n } from './words';

/** What an owner can change of a display. */
export type DisplayEdit = Pick<
  RemoteDisplay,
  'name' | 'width' | 'height' | 'depth' | 'rotate' | 'layout' | 'dark' | 'content' | 'screens' | 'intervalMin'
>;

export const DISPLAYS = '/api/displays';

/** The address of one of them. */
export function display(id: string): string {
  return `${DISPLAYS}/${encodeURIComponent(id)}`;
}

/** Name of a display, or its id if it has none. */
export function nameOf({ name, id }: RemoteDisplay): string {
  return name || id;
}

export const DEPTHS = [1, 2, 4, 8] as const;
export const ROTATIONS = [0, 90, 180, 270] as const;
export const LAYOUTS: Readonly<Record<string, string>> = {
  auto: n('automatic'),
  row: n('one row'),
  'two-rows': n('two rows'),
  column: n('one column'),
};
export const CONTENTS: Readonly<Record<string, string>> = {
  clock: n('the same as the clock'),
  screen: n('one screen'),
  rotation: n('screens of its own in turn'),
};

/** What of a display an owner can change. */
export function editOf(display: RemoteDisplay): DisplayEdit {
  const { name, width, height, depth, rotate, layout, dark, content, screens, intervalMin } = display;
  return { name, width, height, depth, rotate, layout, dark, content, screens: [...screens], intervalMin };
}

/** The members that the owner changed since the form was opened. */
export function changeOf(before: DisplayEdit, edit: DisplayEdit): Partial<DisplayEdit> {
  const differs = (name: string) =>
    JSON.stringify(before[name as keyof DisplayEdit]) !== JSON.stringify(edit[name as keyof DisplayEdit]);
  return Object.fromEntries(Object.entries(edit).filter(([name]) => differs(name)));
}
