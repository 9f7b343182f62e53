/** The bench of a simulated clock: absent on a real one. */
import { ask, explain, Refused, Unreachable } from '../lib/api';
import type { BenchState } from '../lib/bench';
import { clock } from './clock.svelte';
import { notices } from './notices.svelte';

/** The state is asked for often while something moves, seldom while it is quiet. */
const MOVING_MS = 100;
const QUIET_MS = 500;
const MOVING_FOR_MS = 3_000;

/** A button is down at least so long, or the clock takes it for a bounce. */
const PRESS_LEAST_MS = 90;
/** Longest hold the bench takes. */
const PRESS_MOST_MS = 60_000;

class Bench {
  state = $state.raw<BenchState | null>(null);
  /** Names the loop that watches; an older one ends. */
  #watch = 0;
  #held = new Map<number, { abort: AbortController; since: number }>();
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
      await new Promise((done) => setTimeout(done, quiet ? QUIET_MS : MOVING_MS));
    }
  }

  /** Holds a button down: the request lasts for as long as the finger is on it. */
  press(button: number): void {
    if (this.#held.has(button)) return;
    const abort = new AbortController();
    this.#held.set(button, { abort, since: Date.now() });
    this.#tell();
    fetch('/sim/buttons', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ press: [button], ms: PRESS_MOST_MS }),
      signal: abort.signal,
    })
      .then((answer) => {
        if (!answer.ok) notices.add('bad', `The bench refused (${answer.status}).`);
      })
      .catch(() => {
        // Ending the request is how a finger is lifted.
      })
      .finally(() => {
        if (this.#held.get(button)?.abort === abort) this.#held.delete(button);
        this.#tell();
      });
  }

  /** Takes the finger off. */
  release(button: number): void {
    const held = this.#held.get(button);
    if (!held) return;
    this.#held.delete(button);
    this.#tell();
    const wait = Math.max(0, held.since + PRESS_LEAST_MS - Date.now());
    setTimeout(() => held.abort.abort(), wait);
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
