/** The test bench of a simulated clock. Its state comes from the event stream; a real clock has none. */
import { t } from '../lib/words';
import { explain, request, Unreachable } from '../lib/api';
import type { BenchState } from '../lib/documents.gen';
import { delay, Press, PRESS_APART_MS, pressRequest } from '../lib/press';
import { notices } from './notices.svelte';

class Bench {
  state = $state.raw<BenchState | null>(null);
  #presses = new Map<number, Press>();
  /** Resolves when the next press of a button may start, by button. */
  #ready = new Map<number, Promise<unknown>>();
  /** Buttons that this page holds down. */
  pressed = $state.raw<ReadonlySet<number>>(new Set());

  releaseAll(): void {
    for (const button of this.#presses.keys()) this.release(button);
  }

  /** Holds a button down until it is released. */
  press(button: number): void {
    if (this.#presses.has(button)) return;
    const press = new Press(() => pressRequest(button), this.#ready.get(button));
    this.#presses.set(button, press);
    this.#update();
    const ready = press.ended.then((status) => {
      if (status >= 400) notices.add('bad', t('The clock refused: {why}', { why: status }));
      if (this.#presses.get(button) === press) this.#presses.delete(button);
      this.#update();
      return delay(PRESS_APART_MS);
    });
    this.#ready.set(button, ready);
  }

  release(button: number): void {
    this.#presses.get(button)?.release();
    this.#presses.delete(button);
    this.#update();
  }

  #update(): void {
    this.pressed = new Set(this.#presses.keys());
  }

  /** Sends a request to the simulator. */
  async set(path: string, json: unknown): Promise<void> {
    try {
      await request('POST', path, { json });
    } catch (failure) {
      // A simulated clock without power sends no response.
      if (!(failure instanceof Unreachable)) notices.add('bad', explain(failure));
    }
  }
}

export const bench = new Bench();
