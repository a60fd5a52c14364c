// @ts-check
/**
 * From events to what each position shows: pure functions, no page.
 *
 * Accepted is decided afresh in every step, so a state compares a step with the one just before it
 * in the same canvas, by the sampled token.
 */

/** @import { Step, CanvasCommitted } from "./wire.js" */
/** @import { CanvasOfRun, Frame, RunLog } from "./log.js" */

/**
 * @typedef {"noise" | "draft" | "new" | "kept" | "revised" | "released" | "pinned" | "committed"} State
 *
 * What one canvas shows at one moment, a column each.
 * @typedef {object} View
 * @property {number[]} ids
 * @property {State[]} states
 * @property {boolean[]} [thought]  which positions are thought and not answer; left out where none is
 * @property {number[] | null} entropy
 * @property {number} tail  first position of the run of end tokens that ends the canvas; ids.length if none
 * @property {number} folded  how many end tokens the tail stands for
 * @property {number} tailAccepted  how many of them are accepted
 */

/**
 * The state of every position after a step.
 * @param {Step} step
 * @param {Step | null | undefined} before the step just before in the same canvas; undefined if it is not here yet
 * @returns {State[]}
 */
export function stepStates(step, before) {
  return step.accepted.map((accepted, position) => {
    if (step.pinned?.[position]) return "pinned";
    if (before === undefined) return accepted ? "kept" : "draft";
    const was = before !== null && before.accepted[position];
    if (!accepted) return was ? "released" : "draft";
    if (!was) return "new";
    return before.sampled[position] === step.sampled[position] ? "kept" : "revised";
  });
}

/** Whether a step was an Euler step: what does not jump keeps its token, and nothing is renoised. @param {Step} step */
export function isEuler(step) {
  return typeof step.jump_probability === "number";
}

/**
 * The state of every position after an Euler step: a token stays once it has come, until the position jumps again.
 * @param {CanvasOfRun} canvas
 * @param {Step} step
 * @returns {State[]}
 */
function eulerStates(canvas, step) {
  const before = canvas.steps.slice(1, step.step);
  return step.accepted.map((accepted, position) => {
    if (step.pinned?.[position]) return "pinned";
    const last = before.findLast((each) => each?.accepted[position]);
    if (!accepted) return last ? "kept" : "draft";
    return !last ? "new" : last.sampled[position] === step.sampled[position] ? "kept" : "revised";
  });
}

/**
 * The state of every position after a step of a canvas, whatever its rule.
 * @param {CanvasOfRun} canvas
 * @param {Step} step
 */
export function statesOf(canvas, step) {
  return isEuler(step) ? eulerStates(canvas, step) : stepStates(step, stepBefore(canvas, step));
}

/**
 * The state of every committed position: pinned where it was to the last, revised where its token differs from the last accepted one.
 * @param {CanvasCommitted} committed
 * @param {(Step | undefined)[]} steps
 * @returns {State[]}
 */
export function commitStates(committed, steps) {
  return committed.ids.map((id, position) => {
    if (steps[steps.length - 1]?.pinned?.[position]) return "pinned";
    for (let number = steps.length - 1; number > 0; number -= 1) {
      const step = steps[number];
      if (step?.accepted[position]) return step.sampled[position] === id ? "committed" : "revised";
    }
    return "committed";
  });
}

/**
 * Where the run of end tokens begins that fills the canvas to its end.
 * @param {number[]} ids
 * @param {ReadonlySet<number>} endIds
 */
export function tailOf(ids, endIds) {
  let tail = ids.length;
  while (tail > 0 && endIds.has(ids[tail - 1])) tail -= 1;
  return tail;
}

/**
 * The ids a step shows: the sampled token where accepted, elsewhere the draft, or on request the noise fed on. What an
 * Euler step keeps is in the canvas already.
 * @param {Step} step
 * @param {boolean} noise
 * @param {State[]} [states]
 */
export function shownIds(step, noise, states = []) {
  const rest = noise ? step.canvas_ids : step.predicted;
  return step.accepted.map((accepted, position) => (accepted ? step.sampled[position] : (states[position] === "kept" ? step.canvas_ids : rest)[position]));
}

/**
 * The step just before, null before the first, undefined when it has not come yet.
 * @param {CanvasOfRun} canvas
 * @param {Step} step
 */
export function stepBefore(canvas, step) {
  return step.step === 1 ? null : canvas.steps[step.step - 1];
}

/**
 * What a canvas shows at a frame of its own.
 * @param {RunLog} log
 * @param {Frame} frame
 * @param {{noise?: boolean, settled?: boolean}} [options] noise: show what is fed on where nothing is accepted; settled: a
 *   committed canvas that is history by now
 * @returns {View}
 */
export function viewOf(log, frame, { noise = false, settled = false } = {}) {
  const endIds = new Set(log.started?.end_ids ?? []);
  const event = frame.event;
  const canvas = log.canvas(frame.canvas);
  if (event.type === "step") {
    const states = statesOf(canvas, event);
    const ids = shownIds(event, noise, states);
    const tail = tailOf(ids, endIds);
    return {
      ids,
      states: states.map((state) => (noise && (state === "draft" || state === "released") ? "noise" : state)),
      entropy: event.entropy,
      tail,
      folded: ids.length - tail,
      tailAccepted: event.accepted.slice(tail).filter(Boolean).length,
    };
  }
  if (event.type === "canvas_committed") {
    const states = commitStates(event, canvas.steps);
    const tail = tailOf(event.ids, endIds);
    const length = log.started?.canvas_length ?? event.ids.length;
    const folded = tail < event.ids.length ? length - tail : 0;
    return {
      ids: event.ids,
      states: settled ? states.map(() => "committed") : states,
      entropy: null,
      tail,
      folded,
      tailAccepted: folded,
    };
  }
  const ids = event.type === "canvas_started" ? event.canvas_ids : [];
  const pinned = event.type === "canvas_started" ? event.pinned : null;
  return { ids, states: ids.map((_, position) => (pinned?.[position] ? "pinned" : "noise")), entropy: null, tail: ids.length, folded: 0, tailAccepted: 0 };
}

/**
 * How the positions of a step spent the entropy budget, in the order in which they were considered.
 * @param {Step} step
 * @returns {{order: number[], cumulative: number[], accepted: number}} cumulative[k]: sum over the first k + 1
 */
export function budgetOf(step) {
  const order = orderOf(step);
  let sum = 0;
  const cumulative = order.map((position) => (sum += step.entropy[position]));
  return { order, cumulative, accepted: step.accepted.filter((accepted, position) => accepted && !step.pinned?.[position]).length };
}

/**
 * Positions by (entropy, position), pinned ones left out.
 * @param {Step} step
 */
function orderOf(step) {
  return step.entropy
    .map((_, position) => position)
    .filter((position) => !step.pinned?.[position])
    .sort((a, b) => step.entropy[a] - step.entropy[b] || a - b);
}

/**
 * Which positions a step accepts at a bound, from its recorded entropies: as the engine does, in order of (entropy, position)
 * while the sum of those before fits.
 * @param {Step} step
 * @param {number} bound in nats
 * @returns {boolean[]}
 */
export function acceptedAt(step, bound) {
  const mask = step.entropy.map(() => false);
  let before = 0;
  for (const position of orderOf(step)) {
    if (before > bound) break;
    mask[position] = true;
    before += step.entropy[position];
  }
  return mask;
}

/**
 * How full the bar under a token is, from 0 to 1: e.g. 0.1 nats 10 %, 1 nat 63 %, 3 nats 95 %, whatever the vocabulary.
 * @param {number} entropy
 */
export function barOf(entropy) {
  return 1 - Math.exp(-entropy);
}

/**
 * What became of a position over the steps of its canvas.
 * @param {CanvasOfRun} canvas
 * @param {number} position
 * @param {number} upTo last step looked at
 */
export function historyOf(canvas, position, upTo) {
  let first = null;
  const revised = [];
  const released = [];
  for (let number = 1; number <= upTo; number += 1) {
    const step = canvas.steps[number];
    if (!step) continue;
    const before = stepBefore(canvas, step);
    const was = before?.accepted[position] ?? false;
    if (isEuler(step)) {
      const state = step.accepted[position] ? eulerStates(canvas, step)[position] : "kept";
      if (step.accepted[position]) first ??= number;
      if (state === "revised") revised.push(number);
    } else if (step.accepted[position]) {
      first ??= number;
      if (was && before && before.sampled[position] !== step.sampled[position]) revised.push(number);
    } else if (was && !step.pinned?.[position]) released.push(number);
  }
  return { first, revised, released };
}

/**
 * What a state means in a step, in a sentence.
 * @param {State} state
 * @param {Step} step
 */
export function meaningOf(state, step) {
  return (isEuler(step) && EULER_MEANINGS[state]) || MEANINGS[state];
}

/** @type {Partial<Record<State, string>>} */
const EULER_MEANINGS = {
  draft: "Has not jumped yet: its draft is shown, its random token stays.",
  new: "Jumps in this step, for the first time.",
  kept: "Jumped before, and keeps its token.",
  revised: "Jumps again, to another token.",
};

/** Each state in a sentence. */
export const MEANINGS = {
  noise: "Random: nothing has been computed in this canvas yet.",
  draft: "Not accepted: its draft is shown, a random token is fed on.",
  new: "Accepted in this step.",
  kept: "Accepted before and now, with the same token.",
  revised: "Accepted before and now, with another token.",
  released: "Accepted in the step before, not in this one.",
  pinned: "Pinned: held to this token in every step.",
  committed: "Committed.",
};
