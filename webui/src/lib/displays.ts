/** Remote displays, which fetch pictures from the clock. */
import { LAYOUTS } from './board';
import type { RemoteDisplay } from './documents.gen';
import { n } from './words';

/** The members of a display that an owner can edit. */
export type DisplayEdit = Pick<
  RemoteDisplay,
  'name' | 'width' | 'height' | 'depth' | 'rotate' | 'layout' | 'dark' | 'content' | 'screens' | 'intervalMin'
>;

export const DISPLAYS = '/api/displays';

/** Path of one display. */
export function display(id: string): string {
  return `${DISPLAYS}/${encodeURIComponent(id)}`;
}

/** Name of a display, or its id if it has none. */
export function nameOf({ name, id }: RemoteDisplay): string {
  return name || id;
}

export const DEPTHS = [1, 2, 4, 8] as const;
export const ROTATIONS = [0, 90, 180, 270] as const;
export const DISPLAY_LAYOUTS: Readonly<Record<string, string>> = {
  auto: n('automatic'),
  ...LAYOUTS,
};
/** Forms of the layout with cells. */
export const FORMS: Readonly<Record<string, string>> = {
  row: n('one row'),
  'two-rows': n('two rows'),
  column: n('one column'),
};
export const CONTENTS: Readonly<Record<string, string>> = {
  clock: n('the same as the clock'),
  screen: n('one screen'),
  rotation: n('screens of its own in turn'),
};

/** The editable members of a display. */
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
