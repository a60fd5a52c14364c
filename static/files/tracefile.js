// @ts-check
/**
 * A trace file that somebody gives to the page: checked line by line before anything is shown, in sentences that name the line.
 * What passes here cannot break the page: every column that is looked at has an entry of its kind for each position.
 */

/** @import { RunEvent } from "../run/wire.js" */
import { isEdit } from "../run/fork.js";
import { isContent, isThumbnail } from "../run/prompts.js";
import { COMMON, RULES, ruleOf } from "../run/rules.js";

export class BadTrace extends Error {}

/** Larger files are not read. A run of three canvases has about 2 MB. */
export const MOST_BYTES = 48 << 20;
const MOST_POSITIONS = 4096;

const number = (/** @type {unknown} */ value) => typeof value === "number" && Number.isFinite(value);
const maybe = (/** @type {unknown} */ value) => value === undefined || value === null || number(value);
const count = (/** @type {unknown} */ value) => Number.isSafeInteger(value) && /** @type {number} */ (value) >= 0;
const text = (/** @type {unknown} */ value) => typeof value === "string";
const bool = (/** @type {unknown} */ value) => typeof value === "boolean";
const object = (/** @type {unknown} */ value) => typeof value === "object" && value !== null && !Array.isArray(value);
const texts = (/** @type {any} */ value) => object(value) && Object.values(value).every(text);
const edits = (/** @type {any} */ value) => value === undefined || (Array.isArray(value) && value.every(isEdit));
const maybeLoop = (/** @type {any} */ value) => value === undefined || value === null || (object(value) && ["start", "size", "times"].every((name) => count(value[name])));
const maybeIds = (/** @type {any} */ value) => value === undefined || value === null || (Array.isArray(value) && value.every(count));
const maybePictures = (/** @type {any} */ value) => value === undefined || (Array.isArray(value) && value.every((picture) => object(picture) && isThumbnail(picture.thumbnail) && count(picture.width) && count(picture.height)));
const listOf = (/** @type {(value: unknown) => boolean} */ fits) => (/** @type {any} */ value) => Array.isArray(value) && value.every(fits);

/** @type {Record<string, Record<string, (value: any) => boolean>>} */
const FIELDS = {
  run_started: { recipe: isRecipe, model_revision: text, canvas_length: (value) => count(value) && value > 0 && value <= MOST_POSITIONS, end_ids: listOf(count), channel_ids: maybeIds, pictures: maybePictures, device: text, dtype: text, created: text, version: text, texts },
  prefill: { tokens: count, total: count, device_ms: number },
  canvas_started: { canvas: count, canvas_ids: listOf(count), edits, texts },
  step: { canvas: count, step: (value) => count(value) && value > 0, temperature: number, entropy_bound: maybe, top_probability: maybe, margin: maybe, k: maybe, jump_probability: maybe, max_denoising_steps: count, mean_entropy: number, device_ms: number, predicted: listOf(count), sampled: listOf(count), accepted: listOf(bool), entropy: listOf(number), canvas_ids: listOf(count), edits, texts },
  token: { index: count, id: count, temperature: number, entropy: number, logprob: number, ms: number, device_ms: number, edits, texts },
  canvas_committed: { canvas: count, ids: listOf(count), text, steps: count, stop_reason: text, loop: maybeLoop, texts },
  run_finished: { text, thought: text, metrics: isMetrics, stop_reason: text, loop: maybeLoop, recipe: isRecipe },
  error: { code: text, message: text },
};
/** Columns with an entry for each position; those that may be missing too. */
const COLUMNS = ["canvas_ids", "predicted", "sampled", "accepted", "entropy", "pinned", "fed_ids", "top_ids", "top_probabilities"];

/** @param {any} value */
function isSampler(value) {
  return COMMON.every((name) => number(value[name])) && (value.name === undefined || (Object.hasOwn(RULES, value.name) && typeof value[ruleOf(value).field] === typeof ruleOf(value).usual));
}

/** @param {any} value */
function isRecipe(value) {
  return object(value) && ["diffusion", "autoregressive"].includes(value.mode) && Array.isArray(value.messages) && value.messages.length > 0 && value.messages.every((/** @type {any} */ turn) => isContent(turn?.content)) && object(value.sampler) && object(value.decoding) && isSampler(value.sampler) && edits(value.edits);
}

/** @param {any} value */
function isMetrics(value) {
  return object(value) && ["total_tokens", "forward_passes", "canvases", "seconds", "trimmed_tokens"].every((name) => number(value[name]));
}

/**
 * Whether the beginning of a file can be that of a trace. Raises `BadTrace`.
 * @param {string} beginning the first few thousand characters
 */
export function checkBeginning(beginning) {
  if (!beginning.trim()) throw new BadTrace("The file is empty.");
  if (!/^\{\s*"/.test(beginning) || !/"type"\s*:\s*"(run_started|error)"/.test(beginning)) {
    throw new BadTrace("Line 1: this is no trace. A trace has one event, a JSON object, on each line, and starts with run_started.");
  }
}

/**
 * The events of a whole trace. Raises `BadTrace` with the number of the first line at fault.
 * @param {string} jsonl
 * @param {string} version of this page
 * @returns {RunEvent[]}
 */
export function readTrace(jsonl, version) {
  const lines = jsonl.split("\n");
  if (lines[lines.length - 1].trim() === "") lines.pop();
  if (lines.length === 0) throw new BadTrace("The file is empty.");
  /** @type {any[]} */
  const events = [];
  const place = { canvas: -1, step: 0, index: -1 };
  lines.forEach((line, at) => {
    const fault = (/** @type {string} */ what) => new BadTrace(`Line ${at + 1}: ${what}`);
    let event;
    try {
      event = JSON.parse(line);
    } catch {
      throw fault("cut off or not JSON. A trace has one event, a JSON object, on each line.");
    }
    if (!object(event)) throw fault("not a JSON object. A trace has one event on each line.");
    checkOrder(event, events, at, fault);
    if (event.type === "run_started") checkVersion(event.version, version, fault);
    checkFields(event, events[0]?.canvas_length ?? event.canvas_length, fault);
    checkPlace(event, place, fault);
    events.push(event);
  });
  const last = events[events.length - 1];
  if (last.type !== "run_finished") throw new BadTrace(`Line ${lines.length}: the trace breaks off here; its last event is not run_finished.`);
  return events;
}

/**
 * @param {any} event
 * @param {any[]} before
 * @param {number} at
 * @param {(what: string) => BadTrace} fault
 */
function checkOrder(event, before, at, fault) {
  if (!Object.hasOwn(FIELDS, event.type)) throw fault(`has the type ${JSON.stringify(event.type ?? null).slice(0, 40)}, which no event has.`);
  if (!text(event.run) || !count(event.seq)) throw fault("has no run or seq.");
  if (at > 0 && event.run !== before[0].run) throw fault("belongs to another run than the lines before it.");
  if (event.seq < at) throw fault(`seq ${event.seq} stands twice or out of order; ${at} was expected.`);
  if (event.seq > at) throw fault(`seq is ${event.seq} where ${at} was expected: lines are missing or out of order.`);
  if (before[before.length - 1]?.type === "run_finished") throw fault("stands after run_finished, which ends a trace.");
  if (at === 0 && event.type !== "run_started") throw fault("a trace starts with run_started.");
  if (at > 0 && event.type === "run_started") throw fault("run_started stands a second time.");
}

/**
 * Canvases, steps and tokens are counted without a gap: what is shown has room for each up to the last.
 * @param {any} event
 * @param {{canvas: number, step: number, index: number}} place of the event before; moves on
 * @param {(what: string) => BadTrace} fault
 */
function checkPlace(event, place, fault) {
  const next = (/** @type {"canvas" | "step" | "index"} */ name, /** @type {number} */ wanted) => {
    if (event[name] !== wanted) throw fault(`${name} of ${event.type} is ${event[name]} where ${wanted} was expected.`);
    place[name] = wanted;
  };
  if (event.type === "token") return next("index", place.index + 1);
  if (event.type === "canvas_started") place.step = 0;
  if (["canvas_started", "step", "canvas_committed"].includes(event.type)) next("canvas", place.canvas + Number(event.type === "canvas_started"));
  if (event.type === "step") next("step", place.step + 1);
}

/**
 * @param {any} theirs
 * @param {string} ours
 * @param {(what: string) => BadTrace} fault
 */
function checkVersion(theirs, ours, fault) {
  const parts = (/** @type {string} */ version) => /^(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  const [made, here] = [parts(String(theirs)), parts(ours)];
  if (!made) throw fault("names no version of the playground.");
  if (here && (made[0] > here[0] || (made[0] === here[0] && made[1] > here[1]))) throw fault(`made by playground ${String(theirs).slice(0, 20)}, newer than this page (${ours}).`);
}

/**
 * @param {any} event
 * @param {number} length of the canvas
 * @param {(what: string) => BadTrace} fault
 */
function checkFields(event, length, fault) {
  for (const [name, fits] of Object.entries(FIELDS[event.type])) {
    if (!fits(event[name])) throw fault(event[name] === undefined ? `${event.type} has no ${name}.` : `${name} of ${event.type} is not what it should be.`);
  }
  if (event.type === "token") return;
  for (const name of COLUMNS) {
    const column = event[name];
    if (column === undefined || column === null) continue;
    if (!Array.isArray(column) || column.length !== length) throw fault(`${name} has ${Array.isArray(column) ? column.length : "no"} entries for a canvas of ${length}.`);
  }
  if (event.type === "canvas_committed" && event.ids.length > length) throw fault(`ids has ${event.ids.length} entries for a canvas of ${length}.`);
}
