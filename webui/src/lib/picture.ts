/** What pictures of the clock depend on besides the time, as keys to compare. */
import type { Status } from './documents.gen';

/** Key of what the panels show. */
export function panelsKey({ data, says, mode, stale, disputed, epdInverted, settingsTag }: Status): string {
  return JSON.stringify([data, says, mode, stale, disputed, epdInverted, settingsTag]);
}

/** Key of what a picture of any screen in any layout shows. Ages change by time alone. */
export function valuesKey(status: Status): string {
  const values = [panelsKey(status), status.market, status.figures];
  return JSON.stringify(values, (key, value: unknown) => (key === 'ageSec' ? undefined : value));
}
