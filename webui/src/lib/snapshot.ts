/** The last pictures of the panels, stored in the browser and shown while the clock is unreachable. */
import { ofThisClock } from './root';

export interface Snapshot {
  /** When the pictures were last known to be current, ms. */
  at: number;
  /** Pictures of the panels, leftmost first, as data URLs. */
  pictures: string[];
}

const STORED = ofThisClock('papertick-last');
const GLASS = ofThisClock('papertick-glass');

/** Storage key of the last picture of a full screen page with these parameters. */
export function glassKey(
  screen: string | null,
  layout: string | null,
  dark: boolean | undefined,
  isTransparent: boolean,
): string {
  return `${GLASS}?screen=${screen ?? ''}&layout=${layout ?? ''}&dark=${dark ?? ''}&transparent=${isTransparent}`;
}

/** The stored snapshot; null if there is none or it is invalid. */
export function loadSnapshot(): Snapshot | null {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED) ?? 'null') as Partial<Snapshot> | null;
    const isComplete = stored && Number.isFinite(stored.at) && Array.isArray(stored.pictures);
    return isComplete && stored.pictures!.every((picture) => picture.startsWith('data:image/png;base64,'))
      ? (stored as Snapshot)
      : null;
  } catch {
    return null;
  }
}

/** Stores a snapshot in place of the previous one. */
export function storeSnapshot(snapshot: Snapshot): void {
  try {
    localStorage.setItem(STORED, JSON.stringify(snapshot));
  } catch {
    // Storage may be disabled or full; no pictures are shown while the clock is unreachable then.
  }
}

/** Removes the stored pictures of the panels and of all full screen pages. */
export function removeSnapshots(): void {
  try {
    for (const key of Object.keys(localStorage))
      if (key === STORED || key === GLASS || key.startsWith(`${GLASS}?`)) localStorage.removeItem(key);
  } catch {
    // Storage may be disabled; it is empty then.
  }
}

/** A PNG picture as a data URL. */
export async function asText(picture: Blob): Promise<string> {
  const bytes = new Uint8Array(await picture.arrayBuffer());
  return `data:image/png;base64,${btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''))}`;
}

/** The picture in a data URL. */
export function asBlob(text: string): Blob {
  const bytes = Uint8Array.from(atob(text.slice(text.indexOf(',') + 1)), (sign) => sign.charCodeAt(0));
  return new Blob([bytes], { type: 'image/png' });
}
