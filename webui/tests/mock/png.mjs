// One-bit PNGs of panels with blocky text, to check that each panel shows the right picture.
import { crc32, deflateSync } from 'node:zlib';

const WIDTH = 122;
const HEIGHT = 250;

const GLYPHS = {
  A: '0e11111f111111',
  B: '1e11111e11111e',
  C: '0e11101010110e',
  D: '1e11111111111e',
  E: '1f10101e10101f',
  F: '1f10101e101010',
  G: '0e11101711110f',
  H: '1111111f111111',
  I: '0e04040404040e',
  J: '0702020202120c',
  K: '11121418141211',
  L: '1010101010101f',
  M: '111b1515111111',
  N: '11111915131111',
  O: '0e11111111110e',
  P: '1e11111e101010',
  Q: '0e11111115120d',
  R: '1e11111e141211',
  S: '0f10100e01011e',
  T: '1f040404040404',
  U: '1111111111110e',
  V: '11111111110a04',
  W: '11111115151b11',
  X: '11110a040a1111',
  Y: '11110a04040404',
  Z: '1f01020408101f',
  0: '0e11131519110e',
  1: '040c040404040e',
  2: '0e11010204081f',
  3: '1f02040201110e',
  4: '02060a121f0202',
  5: '1f101e0101110e',
  6: '0608101e11110e',
  7: '1f010204080808',
  8: '0e11110e11110e',
  9: '0e11110f01020c',
  $: '040f140e051e04',
  '.': '00000000000c0c',
  ':': '000c0c000c0c00',
  '%': '18190204081303',
};

/** The picture of one cell of `data`, as `#` and `.`. */
export function panelInk(cell) {
  return Array.from(paint(cell), (ink) => (ink ? '#' : '.')).join('');
}

function paint(cell) {
  const pixels = new Uint8Array(WIDTH * HEIGHT);
  const [top, low] = cell.length > 1 ? cell.split('/') : [cell];
  if (low === undefined) {
    draw(pixels, top, top.length > 1 ? Math.floor(110 / (top.length * 6)) : 17, HEIGHT / 2);
  } else {
    const scale = Math.floor(112 / (Math.max(top.length, low.length) * 6));
    draw(pixels, top, scale, 85);
    draw(pixels, low, scale, 165);
    for (let y = 122; y < 128; y += 1) pixels.fill(1, y * WIDTH + 12, y * WIDTH + 110);
  }
  return pixels;
}

/** The picture of one cell of `data`, as the bytes of a PNG. */
export function panelPng(cell, inverted) {
  const pixels = paint(cell);
  return encode(pixels, WIDTH, HEIGHT, inverted);
}

/** A picture of any size with a text in its middle, as the bytes of a PNG. */
export function framePng(text, width, height, dark) {
  const pixels = new Uint8Array(width * height);
  draw(pixels, text, Math.max(1, Math.floor(width / (text.length * 6 + 2))), height / 2, width, height);
  return encode(pixels, width, height, dark);
}

function encode(pixels, width, height, inverted) {
  const stride = Math.ceil(width / 8);
  const raw = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const ink = Boolean(pixels[y * width + x]) !== inverted;
      if (!ink) raw[y * (stride + 1) + 1 + (x >> 3)] |= 0x80 >> (x & 7);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(raw)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function draw(pixels, text, scale, middle, across = WIDTH, down = HEIGHT) {
  const width = (text.length * 6 - 1) * scale;
  const left = Math.floor((across - width) / 2);
  const top = Math.floor(middle - (7 * scale) / 2);
  [...text.toUpperCase()].forEach((letter, place) => {
    const rows = Buffer.from(GLYPHS[letter] ?? '00000000000000', 'hex');
    for (let y = 0; y < 7 * scale; y += 1) {
      for (let x = 0; x < 5 * scale; x += 1) {
        if (!((rows[Math.floor(y / scale)] >> (4 - Math.floor(x / scale))) & 1)) continue;
        const px = left + place * 6 * scale + x;
        const py = top + y;
        if (px >= 0 && px < across && py >= 0 && py < down) pixels[py * across + px] = 1;
      }
    }
  });
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body) >>> 0, body.length + 4);
  return out;
}
