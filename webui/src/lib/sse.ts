/** Parses server-sent events from text in arbitrary chunks. */

/** One event; an event without a name is named `message`. */
export interface Frame {
  name: string;
  data: string;
}

/** Longest buffered line, characters; the clock sends no longer ones. */
const LINE_MAX = 1 << 20;

/** Splits a stream of text into events; ignores comments and unknown fields. */
export class FrameReader {
  #rest = '';
  #name = '';
  #data: string[] = [];

  /** Parses the next chunk and returns the events that it completes. */
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
