// @ts-check
/** The most probable tokens of a step: in a recording they come along, of a live run they are fetched when asked for. */

/** @import { RunLog } from "../run/log.js" */
/** @import { Step, Token } from "../run/wire.js" */
import { h, number, visible } from "../parts/element.js";
import { address } from "../run/wire.js";

/** @type {WeakMap<Step | Token, Promise<void>>} */
const fetching = new WeakMap();

/**
 * Makes sure that an event has its alternatives, where the server still has them.
 * @param {RunLog} log
 * @param {Step | Token} event
 */
export function complete(log, event) {
  if (event.top_ids || log.recording || !navigator.onLine) return Promise.resolve();
  let promise = fetching.get(event);
  if (!promise) {
    promise = load(log, event).catch(() => void fetching.delete(event));
    fetching.set(event, promise);
  }
  return promise;
}

/**
 * @param {RunLog} log
 * @param {Step | Token} event
 */
async function load(log, event) {
  const response = await fetch(address(`api/runs/${event.run}/events/${event.seq}`));
  if (!response.ok) throw new Error(`status ${response.status}`);
  const whole = await response.json();
  for (const [id, text] of Object.entries({ ...whole.texts, ...whole.top_texts })) log.texts.set(Number(id), /** @type {string} */ (text));
  event.top_ids = whole.top_ids;
  event.top_probabilities = whole.top_probabilities;
}

/**
 * The alternatives at a position, best first.
 * @param {Step | Token} event
 * @param {number} position
 * @returns {{id: number, probability: number}[]}
 */
export function at(event, position) {
  const ids = event.type === "step" ? event.top_ids?.[position] : event.top_ids;
  const probabilities = event.type === "step" ? event.top_probabilities?.[position] : event.top_probabilities;
  return (ids ?? []).map((id, rank) => ({ id, probability: probabilities?.[rank] ?? 0 }));
}

/**
 * One of them, as a line of a list.
 * @param {{id: number, probability: number}} alternative
 * @param {string} text
 * @param {boolean} sampled whether it is the token that was sampled
 * @returns {HTMLElement}
 */
export function rowOf({ probability }, text, sampled) {
  return h(
    sampled ? "li.sampled" : "li",
    sampled ? { title: "the token that was sampled" } : {},
    h("span.token", {}, visible(text)),
    h("span.bar", {}, h("i", { style: `width:${Math.max(probability * 100, 1).toFixed(1)}%` })),
    h("span.probability", {}, probability >= 0.995 && probability < 1 ? ">0.99" : number(probability, 2)),
  );
}
