// @ts-check
/**
 * The player: a cursor on a log and a clock that moves it. It knows frames, not what they look like.
 *
 * While a run is live and followed the cursor stays at the newest step, because the engine itself keeps the pace;
 * otherwise the player's own clock advances one frame per 1 / speed seconds.
 */

/** @import { RunLog } from "../run/log.js" */

/** A commit or a new canvas, when followed live, is held this share of a step's time, so that it can be seen. */
const HOLD_SHARE = 1 / 3;
const HOLD_MOST_MS = 120;
/** Further behind than this, a follower jumps. */
const MOST_BEHIND = 4;

export class Player extends EventTarget {
  /** @param {RunLog} log */
  constructor(log) {
    super();
    this.log = log;
    /** `seq` of the frame looked at; −1 before the first. */
    this.cursor = -1;
    this.playing = true;
    this.follow = log.live;
    /** Whether the last frame of the whole run has been looked at. */
    this.seenEnd = false;
    /** Frames a second; null: as fast as they come. @type {number | null} */
    this.speed = 4;
    this.#moved = -Infinity;
  }

  /** @type {number} */
  #moved;

  get index() {
    return this.log.frameAt(this.cursor);
  }

  get frame() {
    return this.log.frames[this.index] ?? null;
  }

  get atEnd() {
    return this.index >= this.log.frames.length - 1;
  }

  /** Whether the event to begin at has not come yet. */
  get waiting() {
    const last = this.log.frames[this.log.frames.length - 1];
    return !last || last.seq < this.cursor;
  }

  /** Whether the cursor keeps up with a run that is still going on. */
  get following() {
    return this.log.live && this.follow && this.playing;
  }

  /**
   * Moves the clock; call once per animation frame.
   * @param {number} now milliseconds
   */
  tick(now) {
    this.#lookForEnd();
    if (!this.playing || this.atEnd) {
      if (this.playing && this.atEnd && this.log.whole) this.#set({ playing: false });
      else if (this.playing && this.atEnd && !this.follow && this.log.live && !this.waiting) this.#set({ follow: true });
      return;
    }
    const interval = this.speed === null ? 0 : 1000 / this.speed;
    const last = this.log.frames.length - 1;
    if (this.follow) {
      const behind = last - this.index;
      if (interval === 0 || behind > MOST_BEHIND) return this.#move(last, now);
      if (now - this.#moved >= Math.min(interval * HOLD_SHARE, HOLD_MOST_MS)) this.#move(this.index + 1, now);
      return;
    }
    if (now - this.#moved < interval || this.log.frames[this.index + 1].seq > this.log.gapless) return; // what was overtaken comes first
    // Keep the beat: a late animation frame must not slow the clock down.
    const beat = interval > 0 && now - this.#moved < 2 * interval ? this.#moved + interval : now;
    this.#move(this.index + 1, beat);
  }

  /**
   * How long until the clock has something to do; Infinity while it waits for a frame or for the person.
   * @param {number} now milliseconds
   */
  due(now) {
    if (!this.playing) return Infinity;
    if (this.atEnd) return this.log.whole || (this.log.live && !this.follow && !this.waiting) ? 0 : Infinity;
    const interval = this.speed === null ? 0 : 1000 / this.speed;
    const wait = this.follow ? Math.min(interval * HOLD_SHARE, HOLD_MOST_MS) : interval;
    return Math.max(this.#moved + wait - now, 0);
  }

  /**
   * @param {number} index
   * @param {number} at
   * @param {boolean} [forward]
   */
  #move(index, at, forward = true) {
    const frame = this.log.frames[Math.max(0, Math.min(index, this.log.frames.length - 1))];
    if (!frame) return;
    this.#moved = at;
    this.cursor = frame.seq;
    this.#lookForEnd();
    this.dispatchEvent(new CustomEvent("move", { detail: { forward } }));
  }

  #lookForEnd() {
    if (this.seenEnd || !this.log.whole || !this.atEnd) return;
    this.seenEnd = true;
    this.dispatchEvent(new CustomEvent("end"));
  }

  /** @param {{playing?: boolean, follow?: boolean}} state */
  #set(state) {
    Object.assign(this, state);
    this.dispatchEvent(new CustomEvent("state"));
  }

  play() {
    if (this.atEnd && !this.log.live) {
      this.cursor = -1;
      this.#moved = -Infinity;
    }
    this.#set({ playing: true, follow: this.log.live && this.atEnd });
  }

  pause() {
    this.#set({ playing: false, follow: false });
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /**
   * Looks at a frame and stays there.
   * @param {number} index
   */
  seek(index) {
    this.#move(index, -Infinity, false);
    this.#set({ playing: false, follow: false });
  }

  /**
   * Goes on from an event, which may still be on its way, at the player's own pace.
   * @param {number} seq
   */
  beginAt(seq) {
    this.cursor = seq;
    this.#set({ playing: true, follow: false });
  }

  /**
   * Shows a frame for a clock that is not the player's own; −1 for nothing yet.
   * @param {number} index
   */
  drive(index) {
    const before = this.index;
    if (index === before) return;
    if (index >= 0) return this.#move(index, -Infinity, index > before);
    this.cursor = -1;
    this.dispatchEvent(new CustomEvent("move", { detail: { forward: false } }));
  }

  /** @param {number} by */
  nudge(by) {
    this.seek(this.index + by);
  }

  home() {
    this.seek(0);
  }

  end() {
    this.seek(this.log.frames.length - 1);
  }

  /** Back to the newest step of a live run. */
  followLive() {
    this.#set({ playing: true, follow: true });
    this.#move(this.log.frames.length - 1, -Infinity);
  }
}
