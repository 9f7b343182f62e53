/** Settings as a file, and images for updates: how they leave the browser, and what the clock says of them. */
import type { ChangedSetting, ErrorBody } from './documents.gen';
import { at } from './root';
import { signed } from './sign';
import type { Settings } from './types';
import { nameOf, QUIET_HOURS, quietHours, wordedAs } from './values';
import { t } from './words';

/** A difference in words. */
export interface Row {
  /** The stored settings that it consists of. */
  names: readonly string[];
  title: string;
  old: string;
  fresh: string;
}

/** The differences that a file makes; those of the quiet hours are one. */
export function rowsOf(changes: readonly ChangedSetting[], settings: Settings): Row[] {
  const quiet = changes.filter(({ name }) => name in QUIET_HOURS);
  const first = quiet[0];
  return changes
    .filter((change) => change === first || !quiet.includes(change))
    .map((change) => (change === first ? quietRow(quiet, settings) : rowOf(change, settings)));
}

function rowOf({ name, old, new: fresh, secret }: ChangedSetting, settings: Settings): Row {
  const title = nameOf(name);
  if (secret) return { names: [name], title, old: '', fresh: t('another secret') };
  return { names: [name], title, old: wordedAs(name, old, settings), fresh: wordedAs(name, fresh, settings) };
}

function quietRow(changes: readonly ChangedSetting[], { dnd }: Settings): Row {
  const changed = Object.fromEntries(changes.map(({ name, new: fresh }) => [QUIET_HOURS[name], fresh]));
  return {
    names: changes.map(({ name }) => name),
    title: nameOf('dnd'),
    old: quietHours(dnd),
    fresh: quietHours({ ...dnd, ...changed }),
  };
}

/** Gives a person a file. */
export function handOut(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export interface Sent {
  status: number;
  error: string;
  msg: string;
}

/** Sends an image; tells how much has gone, 0 to 1. */
export function send(path: string, image: Blob, authorization: string, told: (share: number) => void): Promise<Sent> {
  const request = new XMLHttpRequest();
  request.open('POST', at(path));
  // A header that is set twice is sent as both, which is neither.
  const headers = { ...signed(), ...(authorization && { Authorization: authorization }) };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.setRequestHeader('Content-Type', 'application/octet-stream');
  request.upload.onprogress = ({ loaded, total }) => told(total > 0 ? loaded / total : 0);
  return new Promise((done) => {
    request.onloadend = () => {
      let body: Partial<ErrorBody> = {};
      try {
        body = JSON.parse(request.responseText) as typeof body;
      } catch {
        // An answer without words, or none at all.
      }
      done({ status: request.status, error: body.error ?? '', msg: body.msg ?? '' });
    };
    request.send(image);
  });
}
