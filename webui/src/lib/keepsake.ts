/** The last pictures of the panels, kept in the browser for when the clock is away. */
import { ofThisClock } from './root';

export interface Keepsake {
  /** When they were seen, ms. */
  at: number;
  /** Pictures of the panels, leftmost first, as data URLs. */
  pictures: string[];
}

const STORED = ofThisClock('papertick-last');
const GLASS = ofThisClock('papertick-glass');

/** Storage key of the last picture of a full screen page with these parameters. */
export function glassKey(screen: string | null, dark: boolean | undefined, isTransparent: boolean): string {
  return `${GLASS}?screen=${screen ?? ''}&dark=${dark ?? ''}&transparent=${isTransparent}`;
}

/** What is kept; null if there is nothing, or nothing that can be read. */
export function recall(): Keepsake | null {
  try {
    const kept = JSON.parse(localStorage.getItem(STORED) ?? 'null') as Partial<Keepsake> | null;
    const whole = kept && Number.isFinite(kept.at) && Array.isArray(kept.pictures);
    return whole && kept.pictures!.every((picture) => picture.startsWith('data:image/png;base64,'))
      ? (kept as Keepsake)
      : null;
  } catch {
    return null;
  }
}

/** Keeps them instead of what was kept before. */
export function keep(keepsake: Keepsake): void {
  try {
    localStorage.setItem(STORED, JSON.stringify(keepsake));
  } catch {
    // Storage may be refused or full; nothing is shown while the clock is away then.
  }
}

/** Removes the pictures of the panels and those of all full screen pages. */
export function forgetKeepsake(): void {
  try {
    for (const key of Object.keys(localStorage))
      if (key === STORED || key === GLASS || key.startsWith(`${GLASS}?`)) localStorage.removeItem(key);
  } catch {
    // Storage may be refused; nothing is in it then.
  }
}

/** A picture as text. */
export async function asText(picture: Blob): Promise<string> {
  const bytes = new Uint8Array(await picture.arrayBuffer());
  return `data:image/png;base64,${btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''))}`;
}

/** The bytes of such a text. */
export function asBlob(text: string): Blob {
  const bytes = Uint8Array.from(atob(text.slice(text.indexOf(',') + 1)), (sign) => sign.charCodeAt(0));
  return new Blob([bytes], { type: 'image/png' });
}
