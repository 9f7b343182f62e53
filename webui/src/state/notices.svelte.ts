/** Short messages at the edge of the page. */

export interface Notice {
  id: number;
  kind: 'ok' | 'bad';
  text: string;
}

const SHOWN_MS = { ok: 3_500, bad: 8_000 };
const MOST = 3;

class Notices {
  list = $state.raw<Notice[]>([]);
  #next = 1;

  /** Shows a message for a few seconds; returns its id for `drop`. */
  add(kind: Notice['kind'], text: string): number {
    const id = this.#next++;
    this.list = [...this.list.filter((notice) => notice.text !== text), { id, kind, text }].slice(-MOST);
    setTimeout(() => this.drop(id), SHOWN_MS[kind]);
    return id;
  }

  drop(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }
}

export const notices = new Notices();
