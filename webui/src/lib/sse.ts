/** Reads server-sent events from text that arrives in arbitrary pieces. */

/** One event; the name of an unnamed one is `message`. */
export interface Frame {
  name: string;
  data: string;
}

/** Longest line that is kept; a longer one cannot come from a clock. */
const LINE_MAX = 1 << 20;

/** Splits a stream of text into events; comments and unknown fields are dropped. */
export class FrameReader {
  #rest = '';
  #name = '';
  #data: string[] = [];

  /** Takes the next piece and gives back the events that it completes. */
  push(piece: string): Frame[] {
    const frames: Frame[] = [];
    const text = this.#rest + piece;
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LINE_MAX) this.#rest = '';
    for (const line of lines) {
      const frame = this.#line(line);
      if (frame) frames.push(frame);
    }
    return frames;
  }

  #line(line: string): Frame | undefined {
    if (line === '') {
      const frame = { name: this.#name || 'message', data: this.#data.join('\n') };
      const complete = this.#data.length > 0;
      this.#name = '';
      this.#data = [];
      return complete ? frame : undefined;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#name = value;
    if (field === 'data') this.#data.push(value);
    return undefined;
  }
}
