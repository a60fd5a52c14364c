// @ts-check
/** What stands at the end of a committed canvas. */

import { loopWords } from "../run/loops.js";

const STOPS = { stable_and_confident: "stable and confident", max_denoising_steps: "at the step cap" };

/** @param {import("../run/wire.js").CanvasCommitted} committed */
export function endOfCanvas(committed) {
  const steps = committed.steps === 1 ? "1 step" : `${committed.steps} steps`;
  return `canvas ${committed.canvas + 1} committed · ${steps} · ${STOPS[committed.stop_reason] ?? committed.stop_reason}${committed.loop ? ` · a loop: ${loopWords(committed.loop, committed.ids, committed.texts)}` : ""}`;
}
