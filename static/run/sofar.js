// @ts-check
/** The figures of a run up to a frame of it, by the same rules as the engine's at its end. Pure: a log in, figures out. */

/** @import { RunLog } from "./log.js" */

/**
 * @typedef {object} SoFar
 * @property {number} passes  denoising steps or tokens
 * @property {number} accepted  positions in the open canvas
 * @property {number} tokens  that are final: committed, or written
 * @property {number | null} rate  of final tokens, a second, without prefill
 * @property {number | null} first  seconds until the first final token
 * @property {number} seconds  on the device
 */

/**
 * @param {RunLog} log
 * @param {number} index of the last frame that counts
 * @returns {SoFar}
 */
export function soFar(log, index) {
  let passes = 0;
  let accepted = 0;
  let tokens = 0;
  /** When the rate begins to count: after the prefill, or after the first token. */
  let from = 0;
  let now = 0;
  /** @type {number | null} */
  let first = null;
  for (const { event } of log.frames.slice(0, index + 1)) {
    if ("device_ms" in event && typeof event.device_ms === "number") now = event.device_ms;
    if (event.type === "canvas_started") {
      if (event.canvas === 0) from = now;
      accepted = 0;
    } else if (event.type === "step") {
      passes += 1;
      accepted = event.accepted.filter(Boolean).length;
    } else if (event.type === "canvas_committed") {
      tokens += event.ids.length;
      accepted = 0;
      first ??= now - event.ms;
    } else if (event.type === "token") {
      passes += 1;
      tokens += 1;
      if (event.index === 0) from = first = now;
    }
  }
  const counted = log.started?.recipe.mode === "autoregressive" ? tokens - 1 : tokens;
  const ms = now - from;
  return { passes, accepted, tokens, rate: counted > 0 && ms > 0 ? counted / (ms / 1000) : null, first: first === null ? null : first / 1000, seconds: now / 1000 };
}
