/** Encodes Nostr public keys as npub: bech32 with a checksum (NIP-19). */

const SIGNS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const PREFIX = 'npub';
const CHECKSUM_SIGNS = 6;

/** A key of 64 hexadecimal digits as npub; empty if the text is not such a key. */
export function npub(hex: string): string {
  if (!/^[0-9a-f]{64}$/i.test(hex)) return '';
  const bytes = hex.match(/../g)!.map((pair) => parseInt(pair, 16));
  const words = fives(bytes);
  return `${PREFIX}1${[...words, ...checksum(words)].map((word) => SIGNS[word]).join('')}`;
}

/** Bytes as groups of five bits; the last group is padded with zeros. */
function fives(bytes: readonly number[]): number[] {
  const words: number[] = [];
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) words.push((buffer >> (bits - 5)) & 31);
    buffer &= 31;
  }
  return bits > 0 ? [...words, (buffer << (5 - bits)) & 31] : words;
}

function checksum(words: readonly number[]): number[] {
  const codes = [...PREFIX].map((sign) => sign.charCodeAt(0));
  const expanded = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
  const rest = polymod([...expanded, ...words, ...Array<number>(CHECKSUM_SIGNS).fill(0)]) ^ 1;
  return Array.from({ length: CHECKSUM_SIGNS }, (_, place) => (rest >> (5 * (CHECKSUM_SIGNS - 1 - place))) & 31);
}

function polymod(words: readonly number[]): number {
  return words.reduce((sum, word) => {
    const top = sum >> 25;
    const next = ((sum & 0x1ffffff) << 5) ^ word;
    return GENERATOR.reduce((mixed, mask, bit) => ((top >> bit) & 1 ? mixed ^ mask : mixed), next);
  }, 1);
}
