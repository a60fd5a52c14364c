// @ts-check
/** What is said of a run that goes in circles. Found by the engine; here are only the words. */

/** @import { RunLog } from "./log.js" */
/** @import { Loop, Texts } from "./wire.js" */

const MOST_CHARACTERS = 24;

/**
 * What repeats, and how often: “the ” × 31.
 * @param {Loop} loop
 * @param {number[]} ids
 * @param {Texts} texts
 */
export function loopWords(loop, ids, texts) {
  const stretch = ids.slice(loop.start, loop.start + loop.size).map((id) => texts[id] ?? "").join("").trim();
  const short = stretch.length > MOST_CHARACTERS ? `${stretch.slice(0, MOST_CHARACTERS)}…` : stretch;
  return `“${short || "␣"}” × ${loop.times}`;
}

/**
 * A sentence on the loops of a finished run; empty without one.
 * @param {RunLog} log
 */
export function inCircles(log) {
  const { metrics, loop } = log.finished ?? {};
  if (!metrics?.loops) return "";
  if (loop) return ` It ends in a loop: the same ${loop.size === 1 ? "token" : `${loop.size} tokens`} ${loop.times} times. Nothing was cut.`;
  const canvases = metrics.loops === 1 ? "A canvas ends" : `${metrics.loops} canvases end`;
  return ` ${canvases} in a loop: the text repeats, its entropy collapses, and that alone stops the canvas. Nothing was cut.`;
}
