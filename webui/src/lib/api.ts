/** HTTP requests to the clock. */
import type { ErrorBody } from './documents.gen';
import { requestAddress, ROOT } from './root';
import { t } from './words';
import { PICTURE } from './operations';
import { authHeaders } from './credentials';

/** A response whose status is not a success. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    /** `error` or `msg` of the body, or its text. */
    readonly token: string,
    /** A sentence that explains the token; empty if there is none. */
    readonly hint: string = '',
  ) {
    super(token || `status ${status}`);
  }
}

/** The clock did not answer. */
export class Unreachable extends Error {}

const TIMEOUT_MS = 10_000;

export interface ApiResponse {
  status: number;
  etag: string | null;
  body: unknown;
  /** The sentence in the header `Papertick-Reason`; empty if there is none. */
  reason: string;
  headers: Headers;
}

export interface RequestOptions {
  json?: unknown;
  /** Raw body, instead of `json`. */
  bytes?: Blob;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Reads the body of the response as a `Blob`. */
  blob?: boolean;
}

/** Sends one request; parses the body of the response if its content type is JSON. */
export async function request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
  const headers: Record<string, string> = { ...authHeaders(), ...options.headers };
  if (options.json !== undefined) headers['Content-Type'] = 'application/json';
  let response: Response;
  let text = '';
  let bytes: Blob | undefined;
  try {
    response = await fetch(requestAddress(path), {
      method,
      headers,
      body: options.json === undefined ? (options.bytes ?? null) : JSON.stringify(options.json),
      cache: 'no-store',
      signal: options.signal ?? AbortSignal.timeout(TIMEOUT_MS),
    });
    if (options.blob && response.ok) bytes = await response.blob();
    else text = await response.text();
  } catch {
    throw new Unreachable('the clock does not answer');
  }
  const { headers: received, status } = response;
  const reason = reasonOf(received);
  if (bytes) return { status, etag: null, body: bytes, reason, headers: received };
  const body = parse(text, received.get('content-type'));
  if (!response.ok) throw new HttpError(status, tokenOf(body), reason || hintOf(body));
  // Compression makes an ETag weak; the document is the same.
  const etag = received.get('etag')?.replace(/^W\//, '') ?? null;
  return { status, etag, body, reason, headers: received };
}

/** All panels as one picture; null if the clock does not show them without a password. */
export async function publicPicture(): Promise<Blob | null> {
  try {
    return (await request('GET', PICTURE, { blob: true })).body as Blob;
  } catch {
    return null;
  }
}

function parse(text: string, contentType: string | null): unknown {
  if (!contentType?.includes('application/json')) return text;
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

/** The sentence in the header `Papertick-Reason`; empty if there is none. */
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

/** An error as a sentence for the page. */
export function explain(failure: unknown): string {
  if (failure instanceof Unreachable) return t('The clock does not answer.');
  if (failure instanceof HttpError) {
    if (failure.status === 401) return t('The clock requires you to sign in.');
    if (failure.token === 'cross-site request')
      return t('The clock does not know the address of this page. Start it with --public-url {url}.', {
        url: location.origin + ROOT.slice(0, -1),
      });
    if (failure.status === 403) return t('The clock refused this request.');
    return t('The clock refused: {why}', { why: failure.token || failure.status });
  }
  return t('Something went wrong on this page.');
}
