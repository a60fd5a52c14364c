// @ts-check
/**
 * A race: runs replayed on one clock, from the device time that each of their events carries. Pure: logs in, moments out.
 */

/** @import { RunLog } from "./log.js" */

/**
 * Where a run stands at some device time.
 * @typedef {object} Standing
 * @property {number} index  of the frame it shows; −1 before its first
 * @property {number} passes  of the model: denoising steps or tokens
 * @property {number} tokens  that are final: committed, or written
 * @property {number} accepted  in the open canvas, so not final
 * @property {number | null} rate  tokens a second, without prefill
 * @property {boolean} done
 */

export class Track {
  /** @param {RunLog} log a finished run */
  constructor(log) {
    this.log = log;
    /** Device time of each frame. */
    this.times = [];
    /** Passes, final tokens and accepted positions after each frame. */
    this.passes = [];
    this.tokens = [];
    this.accepted = [];
    this.prefill = 0;
    /** Device time of the first final token. @type {number | null} */
    this.first = null;
    let time = 0;
    let passes = 0;
    let tokens = 0;
    let accepted = 0;
    for (const { event } of log.frames) {
      if ("device_ms" in event && typeof event.device_ms === "number") time = Math.max(time, event.device_ms);
      if (event.type === "canvas_started") {
        if (event.canvas === 0) this.prefill = time;
        accepted = 0;
      } else if (event.type === "step") {
        passes += 1;
        accepted = event.accepted.filter(Boolean).length;
      } else if (event.type === "token") {
        if (event.index === 0) this.prefill = Math.max(time - event.ms, 0);
        passes += 1;
        tokens += 1;
      } else if (event.type === "canvas_committed") {
        tokens += event.ids.length;
        accepted = 0;
      }
      if (tokens > 0) this.first ??= time;
      this.times.push(time);
      this.passes.push(passes);
      this.tokens.push(tokens);
      this.accepted.push(accepted);
    }
    /** When the run was over, in milliseconds of device time. */
    this.end = time;
    this.total = tokens;
  }

  /**
   * @param {number} ms
   * @returns {Standing}
   */
  at(ms) {
    let low = 0;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= ms) low = middle + 1;
      else high = middle;
    }
    const index = low - 1;
    if (index < 0) return { index, passes: 0, tokens: 0, accepted: 0, rate: null, done: false };
    const tokens = this.tokens[index];
    const done = ms >= this.end;
    const seconds = ((done ? this.end : ms) - this.prefill) / 1000;
    return { index, passes: this.passes[index], tokens, accepted: this.accepted[index], rate: tokens > 0 && seconds > 0 ? tokens / seconds : null, done };
  }
}

/**
 * Who is ahead: the one that has finished first, or else the one with more final tokens, or with as many and more accepted.
 * @param {Track} left
 * @param {Track} right
 * @param {number} ms
 * @returns {{who: "left" | "right" | "nobody", by: number, unit: "ms" | "tokens" | "accepted", over: boolean}}
 */
export function ahead(left, right, ms) {
  const a = left.at(ms);
  const b = right.at(ms);
  const lead = (/** @type {number} */ one, /** @type {number} */ other) => ({ who: /** @type {"left" | "right" | "nobody"} */ (one > other ? "left" : one < other ? "right" : "nobody"), by: Math.abs(one - other) });
  if (a.done && b.done) return { ...lead(right.end, left.end), unit: "ms", over: true };
  if (a.done) return { who: "left", by: ms - left.end, unit: "ms", over: false };
  if (b.done) return { who: "right", by: ms - right.end, unit: "ms", over: false };
  if (a.tokens !== b.tokens) return { ...lead(a.tokens, b.tokens), unit: "tokens", over: false };
  return { ...lead(a.accepted, b.accepted), unit: "accepted", over: false };
}

/** The clock of a race. It knows time, not what is painted. */
export class RaceClock {
  /** @param {number} length in milliseconds of device time */
  constructor(length) {
    this.length = length;
    this.ms = 0;
    this.playing = false;
    /** Device seconds per second of the person's. */
    this.factor = 1 / 4;
    /** @type {number | null} */
    this.last = null;
  }

  get over() {
    return this.ms >= this.length;
  }

  play() {
    if (this.over) this.ms = 0;
    this.playing = true;
    this.last = null;
  }

  pause() {
    this.playing = false;
  }

  /** @param {number} ms */
  seek(ms) {
    this.ms = Math.max(0, Math.min(ms, this.length));
    this.last = null;
  }

  /**
   * Moves on; whether there is more to come.
   * @param {number} now milliseconds of the person's
   */
  tick(now) {
    if (!this.playing) return false;
    if (this.last !== null) this.ms = Math.min(this.ms + (now - this.last) * this.factor, this.length);
    this.last = now;
    if (this.over) this.playing = false;
    return this.playing;
  }
}

/**
 * What a short answer paid for, in a sentence; empty where nothing was left over.
 * @param {RunLog} log
 */
export function shortAnswerTax(log) {
  const { finished, started } = log;
  if (!finished || !started || started.recipe.mode !== "diffusion" || finished.stop_reason !== "end_of_turn") return "";
  const used = finished.metrics.total_tokens;
  const paid = finished.metrics.canvases * started.canvas_length;
  if (used >= paid) return "";
  const canvases = finished.metrics.canvases === 1 ? `a canvas of ${paid}` : `${finished.metrics.canvases} canvases of ${started.canvas_length}, ${paid} positions`;
  return `Paid for ${canvases}, used ${used}.`;
}
