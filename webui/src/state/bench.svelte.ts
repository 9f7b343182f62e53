/** The bench of a simulated clock: absent on a real one. The event stream tells what it looks like. */
import { t } from '../lib/words';
import { ask, explain, Unreachable } from '../lib/api';
import type { BenchState } from '../lib/documents.gen';
import { delay, Press, PRESS_APART_MS, pressing } from '../lib/press';
import { notices } from './notices.svelte';

class Bench {
  state = $state.raw<BenchState | null>(null);
  #held = new Map<number, Press>();
  /** The end of the last press of each button. */
  #over = new Map<number, Promise<unknown>>();
  held = $state.raw<ReadonlySet<number>>(new Set());

  /** Takes every finger off. */
  releaseAll(): void {
    for (const button of this.#held.keys()) this.release(button);
  }

  /** Holds a button down, until the finger is taken off. */
  press(button: number): void {
    if (this.#held.has(button)) return;
    const press = new Press(() => pressing(button), this.#over.get(button));
    this.#held.set(button, press);
    this.#tell();
    const over = press.ended.then((status) => {
      if (status >= 400) notices.add('bad', t('The clock refused: {why}', { why: status }));
      if (this.#held.get(button) === press) this.#held.delete(button);
      this.#tell();
      return delay(PRESS_APART_MS);
    });
    this.#over.set(button, over);
  }

  /** Takes the finger off. */
  release(button: number): void {
    this.#held.get(button)?.lift();
    this.#held.delete(button);
    this.#tell();
  }

  #tell(): void {
    this.held = new Set(this.#held.keys());
  }

  async set(path: string, json: unknown): Promise<void> {
    try {
      await ask('POST', path, { json });
    } catch (failure) {
      // A clock without power answers nothing.
      if (!(failure instanceof Unreachable)) notices.add('bad', explain(failure));
    }
  }
}

export const bench = new Bench();
