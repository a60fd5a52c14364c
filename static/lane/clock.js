// @ts-check
/** One clock for all players. It sleeps while nothing is due, so that a page at rest costs nothing. */

/** @import { Lane } from "./lane.js" */

const FRAME_MS = 16;

export class Clock {
  /** @param {Lane[]} lanes */
  constructor(lanes) {
    this.lanes = lanes;
    this.asked = false;
  }

  /** Something may be due: looks with the next animation frame. */
  wake() {
    clearTimeout(this.timer);
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => this.#tick(now));
  }

  /** @param {number} now */
  #tick(now) {
    this.asked = false;
    for (const { player } of this.lanes) player.tick(now);
    const rest = Math.min(...this.lanes.map(({ player }) => player.due(now)));
    if (rest <= FRAME_MS) this.wake();
    else if (rest < Infinity) this.timer = setTimeout(() => this.wake(), rest - FRAME_MS);
  }
}
