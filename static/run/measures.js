// @ts-check
/** The measures of a run that lessons speak of, as playground/lessons/claims.py has them. Pure functions. */

/** @import { RunLog } from "./log.js" */
/** @import { Step } from "./wire.js" */

/** @typedef {{measure: string, operator: string, value: number | string, text: string}} Claim */

/** @type {Record<string, (a: any, b: any) => boolean>} */
const OPERATORS = {
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  "=": (a, b) => a === b,
  contains: (a, b) => String(a).includes(b),
};

/**
 * All measures of a run that is over.
 * @param {RunLog} log
 * @returns {Record<string, number | string>}
 */
export function measuresOf(log) {
  const { finished } = log;
  const figures = finished?.metrics;
  const measures = {
    steps: figures?.total_denoising_steps ?? 0,
    canvases: figures?.canvases ?? 0,
    tokens: figures?.total_tokens ?? 0,
    tokens_per_forward: figures?.tokens_per_forward ?? 0,
    forward_passes: figures?.forward_passes ?? 0,
    used: figures?.canvases && log.started && log.canvases.size ? figures.total_tokens / (figures.canvases * log.started.canvas_length) : 0,
    accepted_first: 0,
    revised: 0,
    released: 0,
    changed: 0,
    out_of_order: 0,
    entropy_first: 0,
    entropy_last: log.tokens.at(-1)?.entropy ?? 0,
    shortest_canvas: 0,
    loops: figures?.loops ?? 0,
    stop: finished?.stop_reason ?? "",
    canvas_stop: "",
    text: finished?.text ?? "",
  };
  for (const index of [...log.canvases.keys()].sort((a, b) => a - b)) {
    const { steps, committed } = log.canvas(index);
    const first = steps[1];
    if (index === 0 && first) {
      measures.accepted_first = first.accepted.filter(Boolean).length;
      measures.entropy_first = first.mean_entropy;
    }
    for (let number = 2; number < steps.length; number += 1) count(measures, steps[number - 1], steps[number]);
    measures.entropy_last = steps.at(-1)?.mean_entropy ?? measures.entropy_last;
    if (!committed) continue;
    const accepted = committed.ids.map((_, position) => steps.find((step) => step?.accepted[position])?.sampled[position]);
    measures.changed += committed.ids.filter((id, position) => accepted[position] !== undefined && accepted[position] !== id).length;
    measures.out_of_order += outOfOrder(committed.ids.flatMap((id, position) => (log.started?.end_ids?.includes(id) ? [] : [steps.findIndex((step) => step?.accepted[position])])));
    measures.canvas_stop = committed.stop_reason;
    measures.shortest_canvas = measures.shortest_canvas ? Math.min(measures.shortest_canvas, committed.steps) : committed.steps;
  }
  return measures;
}

/**
 * How many positions were accepted before one to their left; a step of −1: never.
 * @param {number[]} settled
 */
function outOfOrder(settled) {
  let latest = 0;
  let count = 0;
  for (const at of settled) {
    const step = at < 0 ? Infinity : at;
    if (step < latest) count += 1;
    latest = Math.max(latest, step);
  }
  return count;
}

/**
 * @param {{revised: number, released: number}} measures
 * @param {Step | undefined} before
 * @param {Step | undefined} step
 */
function count(measures, before, step) {
  if (!before || !step) return;
  step.accepted.forEach((accepted, position) => {
    if (!before.accepted[position]) return;
    if (!accepted) measures.released += 1;
    else if (before.sampled[position] !== step.sampled[position]) measures.revised += 1;
  });
}

/**
 * Whether a claim holds for some measures.
 * @param {Claim} claim
 * @param {Record<string, number | string>} measures
 */
export function holds({ measure, operator, value }, measures) {
  const known = measures[measure];
  const other = typeof value === "string" ? measures[value] ?? value : value;
  return known !== undefined && (OPERATORS[operator]?.(known, other) ?? false);
}
