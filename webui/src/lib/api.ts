/** Requests to the clock. */
import type { ErrorBody } from './documents.gen';
import { at } from './root';
import { t } from './words';
import { PICTURE } from './operations';
import { signed } from './sign';

/** An answer that is no success. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    /** `error` or `msg` of the body, or its text. */
    readonly token: string,
    /** What the token does not tell, in words; empty if it tells all. */
    readonly hint: string = '',
  ) {
    super(token || `status ${status}`);
  }
}

/** The clock did not answer. */
export class Unreachable extends Error {}

const TIMEOUT_MS = 10_000;

export interface Answer {
  status: number;
  etag: string | null;
  body: unknown;
  /** A sentence for people beside the body; empty if there is none. */
  reason: string;
}

export interface Ask {
  json?: unknown;
  /** Bytes that go as they are, in place of `json`. */
  bytes?: Blob;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** The answer is taken as bytes. */
  blob?: boolean;
}

/** Sends one request; the body of the answer is parsed if it says that it is JSON. */
export async function ask(method: string, path: string, what: Ask = {}): Promise<Answer> {
  const headers: Record<string, string> = { ...signed(), ...what.headers };
  if (what.json !== undefined) headers['Content-Type'] = 'application/json';
  let answer: Response;
  let text = '';
  let bytes: Blob | undefined;
  try {
    answer = await fetch(at(path), {
      method,
      headers,
      body: what.json === undefined ? (what.bytes ?? null) : JSON.stringify(what.json),
      cache: 'no-store',
      signal: what.signal ?? AbortSignal.timeout(TIMEOUT_MS),
    });
    if (what.blob && answer.ok) bytes = await answer.blob();
    else text = await answer.text();
  } catch {
    throw new Unreachable('the clock does not answer');
  }
  const reason = reasonOf(answer.headers);
  if (bytes) return { status: answer.status, etag: null, body: bytes, reason };
  const body = parse(text, answer.headers.get('content-type'));
  if (!answer.ok) throw new Refused(answer.status, tokenOf(body), reason || hintOf(body));
  // A document that was packed on its way has a weak tag, but is the same one.
  const etag = answer.headers.get('etag')?.replace(/^W\//, '') ?? null;
  return { status: answer.status, etag, body, reason };
}

/** The panels as one picture, as far as they are shown without a password; null if they are not. */
export async function glassPicture(): Promise<Blob | null> {
  try {
    return (await ask('GET', PICTURE, { blob: true })).body as Blob;
  } catch {
    return null;
  }
}

function parse(text: string, kind: string | null): unknown {
  if (!kind?.includes('application/json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function tokenOf(body: unknown): string {
  if (typeof body === 'string') return body.slice(0, 200);
  const { error, msg } = (body ?? {}) as { [member in keyof ErrorBody]?: unknown };
  if (typeof error === 'string') return error;
  return typeof msg === 'string' ? msg : '';
}

/** The sentence for people beside the body of an answer; empty if there is none. */
function reasonOf(headers: Headers): string {
  try {
    return decodeURIComponent(headers.get('papertick-reason') ?? '');
  } catch {
    return '';
  }
}

function hintOf(body: unknown): string {
  const { error, msg } = (body ?? {}) as { [member in keyof ErrorBody]?: unknown };
  return typeof error === 'string' && typeof msg === 'string' ? msg : '';
}

/** What went wrong, in words for people. */
export function explain(failure: unknown): string {
  if (failure instanceof Unreachable) return t('The clock does not answer.');
  if (failure instanceof Refused) {
    if (failure.status === 401) return t('The clock wants you to sign in.');
    if (failure.status === 403) return t('The clock refused this request.');
    return t('The clock refused: {why}', { why: failure.token || failure.status });
  }
  return t('Something went wrong on this page.');
}
