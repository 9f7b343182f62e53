/** The sections of the page without settings, which the search of the settings finds too. */
import { contains } from './fields';
import { at } from './root';
import { n, t } from './words';

export interface Section {
  id: string;
  title: string;
  /** Additional search words. */
  search: string;
}

/** The sections of the care view. */
export const CARE: readonly Section[] = [
  { id: 'help', title: n('Help'), search: n('handbook manual problem report version about api') },
  {
    id: 'screens',
    title: n('Other screens'),
    search: n(
      'tablet television kiosk obs kindle kobo e-reader trmnl display picture qr code full screen board layout',
    ),
  },
  { id: 'file', title: n('Settings as a file'), search: n('backup export import restore copy json') },
  { id: 'update', title: n('Update'), search: n('firmware upgrade version release install') },
  { id: 'log', title: n('Log and crash dump'), search: n('error debug diagnostics trouble coredump') },
  { id: 'page', title: n('This page'), search: n('language translation colours theme dark light') },
  { id: 'restart', title: n('Restart and logos'), search: n('reboot power logo picture cache') },
  { id: 'reset', title: n('Factory reset'), search: n('erase wipe delete reset default new owner') },
];

/** Cards of the clock view that the search of the settings finds. */
const CARDS: readonly Section[] = [
  { id: 'system', title: n('This clock'), search: n('ip address wi-fi network hardware board uptime about') },
  { id: 'message', title: n('Your text'), search: n('custom message write show') },
  { id: 'sources', title: n('Sources'), search: n('connection error offline') },
];

/** Sections outside the settings that match a search, with their addresses. */
export function elsewhere(search: string): { title: string; address: string }[] {
  const found = (sections: readonly Section[], before: string) =>
    sections
      .filter((section) => contains(`${t(section.title)} ${t(section.search)} ${section.search}`, search))
      .map(({ id, title }) => ({ title: t(title), address: at(before + id) }));
  return [...found(CARE, '/care/'), ...found(CARDS, '/#')];
}
