// @ts-check
/** What the lab asks of the server. A refusal is thrown with the field it names. */

/** @import { Recipe, Sampler } from "../run/wire.js" */
/** @import { Spec } from "./labspec.js" */
import { owner } from "../live/owner.js";
import { address } from "../run/wire.js";

/**
 * @typedef {object} SweepEntry
 * @property {string} id
 * @property {string} name
 * @property {"running" | "paused" | "done" | "cancelled"} state
 * @property {boolean} recorded  it came with the page
 * @property {boolean} mine
 * @property {string} created
 * @property {string} model
 * @property {string} revision
 * @property {number} done
 * @property {number} total
 * @property {number | null} seconds_left
 * @property {string} failure
 *
 * @typedef {object} SettingLine
 * @property {Record<string, any>} setting
 * @property {number} runs
 * @property {number} told
 * @property {number} right
 * @property {number | null} accuracy
 * @property {number} low
 * @property {number} high
 * @property {number | null} effective_denoising_steps
 * @property {number | null} tokens_per_forward
 * @property {number} tokens
 * @property {number | null} capped
 * @property {number} loops
 * @property {boolean} usual
 * @property {boolean} front
 * @property {{difference: number, error: number, pairs: number} | null} against
 * @property {{share: number, low: number, high: number, pairs: number} | null} agreement  where nothing tells right from wrong
 *
 * @typedef {SweepEntry & {spec: Spec, settings: SettingLine[]}} SweepWhole
 *
 * @typedef {object} SweepRun
 * @property {number} question
 * @property {string} family
 * @property {string} prompt
 * @property {number} seed
 * @property {number | null} right
 * @property {string} text
 * @property {string} stop_reason
 * @property {number} tokens
 * @property {number | null} effective_denoising_steps
 * @property {number} loops
 * @property {Partial<Recipe>} recipe
 */

export class Refusal extends Error {
  /**
   * @param {string} sentence
   * @param {string | null} field
   */
  constructor(sentence, field) {
    super(sentence);
    this.field = field;
  }
}

/**
 * @param {string} path
 * @param {{method?: string, body?: string}} [options]
 */
async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(address(`api/sweeps${path}`), { ...options, headers: { "X-Playground-Owner": owner(), "Content-Type": "application/json" } });
  } catch {
    throw new Refusal("The server cannot be reached.", null);
  }
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Refusal(`The server answers with status ${response.status}.`, null);
  }
  if (!response.ok) throw new Refusal(answer.message ?? `The server answers with status ${response.status}.`, answer.field ?? null);
  return answer;
}

const asked = (/** @type {Record<string, any>} */ setting) => `setting=${encodeURIComponent(JSON.stringify(setting))}`;

/** @returns {Promise<{sweeps: SweepEntry[], families: string[]}>} */
export const list = () => ask("");
/** @param {string} id @returns {Promise<SweepWhole>} */
export const whole = (id) => ask(`/${id}`);
/** @param {string} id @param {string} beside another sweep, or none @returns {Promise<Record<string, any>>} */
export const figures = (id, beside) => ask(`/${id}/figures${beside ? `?beside=${beside}` : ""}`);
/** @param {string} id @param {Record<string, any>} setting @returns {Promise<SweepRun[]>} */
export const runs = async (id, setting) => (await ask(`/${id}/runs?${asked(setting)}`)).runs;
/** @param {string} id @param {Record<string, any>} setting @returns {Promise<{preset: {name: string, sampler: Sampler}, transformers: string | null, reason: string}>} */
export const preset = (id, setting) => ask(`/${id}/preset?${asked(setting)}`);
/** @param {string} spec JSON @returns {Promise<{settings: number, questions: number, seeds: number, runs: number, seconds: number}>} */
export const check = (spec) => ask("/check", { method: "POST", body: spec });
/** @param {string} spec JSON @returns {Promise<SweepEntry>} */
export const start = (spec) => ask("", { method: "POST", body: spec });
/** @param {string} id @param {"pause" | "resume" | "cancel"} action @returns {Promise<SweepEntry>} */
export const steer = (id, action) => ask(`/${id}/${action}`, { method: "POST" });
/** @param {string} id */
export const forget = (id) => ask(`/${id}`, { method: "DELETE" });
/** @param {string} id @param {"csv" | "parquet" | "html" | "sqlite"} kind */
export const fileAddress = (id, kind) => address(`api/sweeps/${id}/export.${kind}`);
