/** Settings as a file, and images for updates: how they leave the browser, and what the clock says of them. */
import { signed } from './sign';
import type { Settings } from './types';
import { nameOf, wordedAs } from './values';
import { t } from './words';

/** What the clock says of a file of settings. */
export interface Imported {
  applied: boolean;
  from: { clock: string; board: string; firmware: string; time: string | null };
  secrets: 'absent' | 'closed' | 'opened';
  changes: { name: string; old?: unknown; new?: unknown; secret?: true }[];
  unknown: string[];
  missing: string[];
  notes: string[];
  refused: { error: string; msg?: string }[];
  rebootRequired: boolean;
}

/** One difference in words: what it is, what it was, what it becomes. */
export function difference(change: Imported['changes'][number], settings: Settings): [string, string, string] {
  const { name, old, new: fresh, secret } = change;
  if (secret) return [nameOf(name), '', t('another secret')];
  return [nameOf(name), wordedAs(name, old, settings), wordedAs(name, fresh, settings)];
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
  request.open('POST', path);
  // A header that is set twice is sent as both, which is neither.
  const headers = { ...signed(), ...(authorization && { Authorization: authorization }) };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.setRequestHeader('Content-Type', 'application/octet-stream');
  request.upload.onprogress = ({ loaded, total }) => told(total > 0 ? loaded / total : 0);
  return new Promise((done) => {
    request.onloadend = () => {
      let body: { error?: string; msg?: string } = {};
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
