/** Imported settings and update images. */
import type { ChangedSetting, ErrorBody } from './documents.gen';
import { at } from './root';
import { authHeaders } from './credentials';
import type { Settings } from './types';
import { nameOf, QUIET_HOURS, quietHours, wordedAs } from './values';
import { t } from './words';

/** A changed setting as texts. */
export interface Row {
  /** The stored settings of this row. */
  names: readonly string[];
  title: string;
  old: string;
  fresh: string;
}

/** The changes of an import as rows; all changes of the quiet hours share a row. */
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

export interface UploadResult {
  status: number;
  error: string;
  msg: string;
}

/** Uploads an update image; `onProgress` gets the uploaded share, 0 to 1. */
export function upload(
  path: string,
  image: Blob,
  authorization: string,
  onProgress: (share: number) => void,
): Promise<UploadResult> {
  const request = new XMLHttpRequest();
  request.open('POST', at(path));
  // `setRequestHeader` appends a second value to a header, so each header is set only once.
  const headers = { ...authHeaders(), ...(authorization && { Authorization: authorization }) };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.setRequestHeader('Content-Type', 'application/octet-stream');
  request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
  return new Promise((done) => {
    request.onloadend = () => {
      let body: Partial<ErrorBody> = {};
      try {
        body = JSON.parse(request.responseText) as typeof body;
      } catch {
        // The response has no JSON body, or there is no response.
      }
      done({ status: request.status, error: body.error ?? '', msg: body.msg ?? '' });
    };
    request.send(image);
  });
}
