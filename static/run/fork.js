// @ts-check
/**
 * Edits and forks: pure functions from a log to the recipe of another run.
 *
 * An edit belongs to the step that is looked at: it applies just before it, so that this step is taken again with the edit and
 * all before it stay as they are. Draws are keyed by canvas and step, so what differs, differs because of the edit.
 */

/** @import { Decoding, Edit, Recipe, Sampler } from "./wire.js" */
/** @import { Frame, RunLog } from "./log.js" */
import { textOf } from "./prompts.js";
import { RULES, ruleOf } from "./rules.js";

/**
 * A step of a canvas, or a token of an autoregressive run (canvas −1, step = its index).
 * @typedef {{canvas: number, step: number}} Moment
 */

/** Fields of the sampler and the decoding that may change in mid-run. */
const MOVABLE = {
  sampler: ["entropy_bound", "top_probability", "margin", "k", "t_max", "t_min", "max_denoising_steps", "confidence_threshold", "stability_threshold"],
  decoding: ["temperature", "top_k", "top_p"],
};

const KINDS = ["set", "pin", "unpin", "renoise", "canvas", "infill"];

/**
 * Whether something from a link or a file can be looked at as an edit. What its values are worth, the engine says.
 * @param {any} edit
 */
export function isEdit(edit) {
  const object = (/** @type {unknown} */ value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const fits = (/** @type {string} */ name, /** @type {(value: unknown) => boolean} */ test) => edit[name] === undefined || edit[name] === null || test(edit[name]);
  const values = (/** @type {any} */ value) => object(value) && Object.values(value).every((each) => each === null || typeof each === "number");
  return (
    object(edit) &&
    KINDS.includes(edit.type) &&
    fits("text", (text) => typeof text === "string") &&
    fits("ids", Array.isArray) &&
    ["sampler", "decoding"].every((name) => fits(name, values)) &&
    ["canvas", "step", "index", "start", "length", "noise"].every((name) => fits(name, Number.isFinite))
  );
}

/**
 * The step an edit at this frame applies to: the step shown; before the first one step 1; after a commit the last one.
 * @param {RunLog} log
 * @param {Frame | null} frame
 * @returns {Moment | null}
 */
export function momentOf(log, frame) {
  if (!frame) return null;
  const { event } = frame;
  if (event.type === "step") return { canvas: event.canvas, step: event.step };
  if (event.type === "token") return { canvas: -1, step: event.index };
  const last = log.canvas(frame.canvas).steps.length - 1;
  return { canvas: frame.canvas, step: frame.kind === "commit" ? Math.max(last, 1) : 1 };
}

/**
 * Where in the run an edit applies; those of the whole run stand before everything.
 * @param {Edit} edit
 * @returns {Moment}
 */
export function placeOf(edit) {
  if (edit.type === "infill") return { canvas: -1, step: -1 };
  return edit.index !== undefined ? { canvas: -1, step: edit.index } : { canvas: edit.canvas ?? 0, step: edit.step ?? 1 };
}

/**
 * @param {Moment} a
 * @param {Moment} b
 * @returns {boolean}
 */
export function isAfter(a, b) {
  return a.canvas > b.canvas || (a.canvas === b.canvas && a.step > b.step);
}

/**
 * All edits of a run so far, those made by moving a slider included.
 * @param {RunLog} log
 * @returns {Edit[]}
 */
export function editsOf(log) {
  if (log.finished) return log.finished.recipe.edits ?? [];
  const edits = [...(log.started?.recipe.edits ?? [])];
  const known = new Set(edits.map((edit) => JSON.stringify(edit)));
  for (const { event } of log.passes()) {
    for (const edit of event.edits ?? []) {
      if (edit.type === "set" && !known.has(JSON.stringify(edit))) edits.push(edit);
    }
  }
  return edits;
}

/**
 * The recipe of a run as far as it is known, with its edits.
 * @param {RunLog} log
 * @returns {Recipe | null}
 */
export function recipeOf(log) {
  const recipe = log.finished?.recipe ?? log.started?.recipe;
  return recipe ? { ...recipe, edits: editsOf(log) } : null;
}

/**
 * The recipe of a fork. Without a change it is the parent's own, to the end; otherwise the parent's edits up to the first new
 * one, and then the new ones.
 * @param {RunLog} log
 * @param {Edit[]} added
 * @param {Edit[]} [removed] edits of the parent that are left out
 * @returns {{recipe: Recipe, dropped: Edit[]}} dropped: edits of the parent that come after the first new one
 */
export function forkOf(log, added, removed = []) {
  const parent = /** @type {Recipe} */ (recipeOf(log));
  const kept = (parent.edits ?? []).filter((edit) => !removed.includes(edit));
  const first = firstOf(added);
  const dropped = first ? kept.filter((edit) => isAfter(placeOf(edit), first)) : [];
  return { recipe: { ...parent, edits: [...kept.filter((edit) => !dropped.includes(edit)), ...added] }, dropped };
}

/**
 * The earliest moment that some edits touch; null for none.
 * @param {Edit[]} edits
 * @returns {Moment | null}
 */
export function firstOf(edits) {
  return edits.map(placeOf).reduce((/** @type {Moment | null} */ first, place) => (first === null || isAfter(first, place) ? place : first), null);
}

/**
 * The `seq` of the last event before a moment; the same in a fork, since all before it is the same.
 * @param {RunLog} log
 * @param {Moment} moment
 */
export function seqBefore(log, moment) {
  if (moment.step < 0) return -1;
  const at = moment.canvas < 0 ? log.tokens[moment.step] : log.canvas(moment.canvas).steps[moment.step];
  return at ? at.seq - 1 : log.frames.length ? log.frames[log.frames.length - 1].seq : -1;
}

/**
 * The parameters in force at a moment, edits just before it included.
 * @param {RunLog} log
 * @param {Moment} moment
 * @returns {Sampler | Decoding}
 */
export function parametersAt(log, moment) {
  const recipe = /** @type {Recipe} */ (recipeOf(log));
  const group = moment.canvas < 0 ? "decoding" : "sampler";
  const changes = (recipe.edits ?? []).filter((edit) => edit.type === "set" && !isAfter(placeOf(edit), moment));
  changes.sort((a, b) => (isAfter(placeOf(a), placeOf(b)) ? 1 : isAfter(placeOf(b), placeOf(a)) ? -1 : 0));
  return Object.assign({}, recipe[group], ...changes.map((edit) => edit[group] ?? {}));
}

/**
 * The edit that takes over other parameters from a moment on; null where nothing differs.
 * @param {RunLog} log
 * @param {Moment} moment
 * @param {{sampler: Sampler, decoding: Decoding}} wanted
 * @returns {Edit | null}
 */
export function setEdit(log, moment, wanted) {
  const group = moment.canvas < 0 ? "decoding" : "sampler";
  const inForce = /** @type {any} */ (parametersAt(log, moment));
  const target = /** @type {any} */ (wanted[group]);
  const change = Object.fromEntries(MOVABLE[group].filter((name) => name in inForce && typeof target[name] === "number" && target[name] !== inForce[name]).map((name) => [name, target[name]]));
  if (Object.keys(change).length === 0) return null;
  return moment.canvas < 0 ? { type: "set", index: moment.step, decoding: change } : { type: "set", ...moment, sampler: change };
}

/** What a parameter is called in a few letters. */
const SHORT = {
  ...Object.fromEntries(Object.values(RULES).map(({ field, short }) => [field, short])),
  t_max: "τ first",
  t_min: "τ last",
  max_denoising_steps: "at most, steps",
  confidence_threshold: "stop below",
  stability_threshold: "stable for",
  temperature: "τ",
  top_k: "top-k",
  top_p: "top-p",
};

/**
 * Parameters and their values in words.
 * @param {Record<string, number>} change
 */
export function changeName(change) {
  return Object.entries(change)
    .map(([name, value]) => `${SHORT[/** @type {"t_max"} */ (name)] ?? name} ${value}`)
    .join(", ");
}

/**
 * What an edit does, in a few words, positions counted from 1 as on the page.
 * @param {Edit} edit
 */
export function editName(edit) {
  const start = (edit.start ?? 0) + 1;
  const span = (/** @type {number} */ length) => (length > 1 ? `positions ${start}–${start + length - 1}` : `position ${start}`);
  switch (edit.type) {
    case "pin":
      return edit.text !== undefined && edit.text !== null ? `pin ${quoted(edit.text)} from position ${start} on` : `pin ${span(edit.ids?.length ?? 1)}`;
    case "unpin":
      return `unpin ${span(edit.length ?? 1)}`;
    case "renoise":
      return `renoise ${span(edit.length ?? 1)}`;
    case "canvas":
      return `start from ${edit.text ? quoted(edit.text) : "a text"}, noise ${Math.round((edit.noise ?? 0) * 100)} %`;
    case "infill":
      return `fill holes in ${quoted(edit.text ?? "")}`;
    default:
      return changeName(edit.sampler ?? edit.decoding ?? {});
  }
}

/** @param {Moment} moment */
export function momentName({ canvas, step }) {
  if (step < 0) return "the start";
  return canvas < 0 ? `token ${step + 1}` : canvas > 0 ? `step ${step} of canvas ${canvas + 1}` : `step ${step}`;
}

const SHOWN = 24;

/** @param {string} text */
function quoted(text) {
  const line = text.replace(/\s+/g, " ");
  return `“${line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line}”`;
}

/**
 * A fork in a sentence.
 * @param {{moment: Moment, changes: string, dropped: number}} fork
 */
export function forkName({ moment, changes, dropped }) {
  const later = dropped === 0 ? "" : dropped === 1 ? " A later edit of it was left out." : ` ${dropped} later edits of it were left out.`;
  return `A fork of ${momentName(moment)} of the run before${changes ? `: ${changes}` : ", without a change"}.${later}`;
}

/**
 * @param {number} mine
 * @param {number} theirs
 */
function editsInstead(mine, theirs) {
  if (mine === theirs) return mine === 1 ? "another edit" : "other edits";
  const counted = (/** @type {number} */ count) => (count === 0 ? "no edits" : count === 1 ? "1 edit" : `${count} edits`);
  return `${counted(mine)} instead of ${theirs === 0 ? "none" : counted(theirs)}`;
}

/**
 * How the first of two recipes differs from the second, in a sentence.
 * @param {Recipe} one
 * @param {Recipe} other
 */
export function differences(one, other) {
  const prompt = (/** @type {Recipe} */ recipe) => textOf(recipe.messages[recipe.messages.length - 1].content);
  const [rule, before] = [one, other].map((recipe) => ruleOf(recipe.sampler));
  const words = rule === before ? [] : [`the rule “${rule.title}” instead of “${before.title}”`];
  for (const name of [...MOVABLE.sampler, "kappa"]) {
    const [mine, theirs] = [one, other].map((recipe) => /** @type {any} */ (recipe.sampler)[name]);
    if (mine !== theirs && mine !== undefined && theirs !== undefined) words.push(`${SHORT[/** @type {"t_max"} */ (name)]} ${mine} instead of ${theirs}`);
  }
  if (one.seed !== other.seed) words.push(`seed ${one.seed} instead of ${other.seed}`);
  if (JSON.stringify(one.edits ?? []) !== JSON.stringify(other.edits ?? [])) words.push(editsInstead(one.edits?.length ?? 0, other.edits?.length ?? 0));
  if (prompt(one) !== prompt(other)) words.push(`another prompt, “${prompt(one).replace(/\s+/g, " ").slice(0, 60)}”`);
  return words.length ? `With ${words.join(", ")}.` : "The same recipe.";
}
