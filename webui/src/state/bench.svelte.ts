/** The bench of a simulated clock: absent on a real one. */
import { ask, explain, Refused, Unreachable } from '../lib/api';
import type { BenchState } from '../lib/bench';
import { delay, Press, PRESS_APART_MS, pressing } from '../lib/press';
import { clock } from './clock.svelte';
import { notices } from './notices.svelte';

/** The state is asked for often while something moves, seldom while it is quiet. */
const MOVING_MS = 100;
const QUIET_MS = 500;
const MOVING_FOR_MS = 3_000;

class Bench {
  state = $state.raw<BenchState | null>(null);
  /** Names the loop that watches; an older one ends. */
  #watch = 0;
  #held = new Map<number, Press>();
  /** The end of the last press of each button. */
  #over = new Map<number, Promise<unknown>>();
  held = $state.raw<ReadonlySet<number>>(new Set());

  /** Watches the bench until the returned function is called; gives up on a clock without one. */
  watch(): () => void {
    this.#watch += 1;
    void this.#poll(this.#watch);
    return () => {
      this.#watch += 1;
      for (const button of this.#held.keys()) this.release(button);
    };
  }

  async #poll(watch: number): Promise<void> {
    let before = '';
    let moved = 0;
    while (this.#watch === watch) {
      if (document.visibilityState === 'visible' && clock.stream.kind === 'live') {
        try {
          const state = (await ask('GET', '/sim/state')).body as BenchState;
          const text = JSON.stringify(state);
          if (text !== before) moved = Date.now();
          before = text;
          if (this.#watch === watch) this.state = state;
        } catch (failure) {
          if (failure instanceof Refused) {
            this.state = null;
            return;
          }
        }
      }
      const quiet = Date.now() - moved > MOVING_FOR_MS && this.#held.size === 0;
      await delay(quiet ? QUIET_MS : MOVING_MS);
    }
  }

  /** Holds a button down, until the finger is taken off. */
  press(button: number): void {
    if (this.#held.has(button)) return;
    const press = new Press(() => pressing(button), this.#over.get(button));
    this.#held.set(button, press);
    this.#tell();
    const over = press.ended.then((status) => {
      if (status >= 400) notices.add('bad', `The bench refused (${status}).`);
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
