// @ts-check
/** The question "which positions will be accepted next?": its truth, and how the answers stand against it. Pure functions. */

/** @import { RunLog } from "./log.js" */
/** @import { Step } from "./wire.js" */

/**
 * @typedef {object} Truth
 * @property {number} step  the step asked about
 * @property {ReadonlySet<number>} fresh  positions that it accepted and that were not accepted before it
 * @property {ReadonlySet<number>} left  positions that were not accepted before it
 */

/**
 * The step that an event leads to, and the positions that are open before it; null where no step of the canvas follows.
 * @param {RunLog} log
 * @param {number} seq of a step, or of the noise that a canvas begins with
 * @returns {{canvas: number, step: number, left: Set<number>} | null}
 */
export function asked(log, seq) {
  const event = log.events.get(seq);
  const length = log.started?.canvas_length ?? 0;
  const all = Array.from({ length }, (_, position) => position);
  if (event?.type === "canvas_started") return { canvas: event.canvas, step: 1, left: new Set(all.filter((position) => !event.pinned?.[position])) };
  if (event?.type !== "step") return null;
  if (log.canvases.get(event.canvas)?.committed?.steps === event.step) return null;
  return { canvas: event.canvas, step: event.step + 1, left: new Set(all.filter((position) => !event.accepted[position] && !event.pinned?.[position])) };
}

/**
 * What the step asked about did; null as long as it is not here.
 * @param {RunLog} log
 * @param {number} seq
 * @returns {Truth | null}
 */
export function truthOf(log, seq) {
  const question = asked(log, seq);
  const step = question && log.canvases.get(question.canvas)?.steps[question.step];
  if (!question || !step) return null;
  return { step: step.step, left: question.left, fresh: new Set([...question.left].filter((position) => step.accepted[position])) };
}

/**
 * The answers beside the truth, the most named first.
 * @param {Record<string, number>} tally
 * @param {Truth | null} truth
 * @returns {{rows: {position: number, votes: number, right: boolean | null}[], votes: number, right: number}}
 */
export function tallied(tally, truth) {
  const rows = Object.entries(tally)
    .map(([position, votes]) => ({ position: Number(position), votes, right: truth && truth.fresh.has(Number(position)) }))
    .sort((a, b) => b.votes - a.votes || a.position - b.position);
  const sum = (/** @type {typeof rows} */ some) => some.reduce((all, { votes }) => all + votes, 0);
  return { rows, votes: sum(rows), right: sum(rows.filter(({ right }) => right)) };
}
