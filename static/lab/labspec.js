// @ts-check
/** A sweep's spec and the form that says it: one is turned into the other here. Knows no page. */

import { COMMON, RULES, ruleOf } from "../run/rules.js";

/**
 * @typedef {object} Spec  as `playground/lab/spec.py` has it
 * @property {string} [name]
 * @property {Record<string, any>} [recipe]
 * @property {Record<string, any>} [vary]
 * @property {any} [search]
 * @property {{families: string[], count?: number, seed?: number} | null} [tasks]
 * @property {{prompt: string, expect?: string | null, pattern?: string | null}[]} [prompts]
 * @property {number[]} [seeds]
 *
 * @typedef {object} FormValues  what stands in the form
 * @property {string} name
 * @property {string} rule
 * @property {Record<string, string>} fields  values, with commas between them, by field of the sampler
 * @property {string} tokens
 * @property {string[]} families
 * @property {string} count
 * @property {string} prompts  one a line; what is expected behind ` => `, a pattern between slashes
 * @property {string} seeds
 */

export const ARROW = " => ";
/** A pattern as a line says it. */
const SLASHED = /^\/.+\/$/;
/** Whole numbers among the fields. */
const WHOLE = new Set(["max_denoising_steps", "stability_threshold", "k"]);

export class BadForm extends Error {
  /**
   * @param {string} field
   * @param {string} sentence
   */
  constructor(field, sentence) {
    super(sentence);
    this.field = field;
  }
}

/** The fields of a rule's form, in order. @param {string} rule */
export function fieldsOf(rule) {
  return [ruleOf({ name: rule }).field, ...COMMON];
}

/**
 * @param {string} text `0.02, 0.1`
 * @param {string} field
 * @returns {(number | string)[]}
 */
export function listOf(text, field) {
  const parts = text.split(/[,;\s]+/).filter(Boolean);
  if (!parts.length) throw new BadForm(field, "A value is needed here.");
  const values = parts.map((part) => {
    if (field === "kappa") return part;
    const value = Number(part);
    if (!Number.isFinite(value)) throw new BadForm(field, `${part} is no number. Values stand with commas between them.`);
    if (WHOLE.has(field) && !Number.isInteger(value)) throw new BadForm(field, `${part} is no whole number.`);
    return value;
  });
  if (new Set(values).size < values.length) throw new BadForm(field, "A value stands there twice.");
  return values;
}

/**
 * The spec that a form says. Raises `BadForm`.
 * @param {FormValues} form
 * @param {Record<string, any>} usual the released sampler
 * @returns {Spec}
 */
export function specOf(form, usual) {
  /** @type {Record<string, any>} */
  const sampler = form.rule === "entropy_bound" ? {} : { name: form.rule };
  /** @type {Record<string, any>} */
  const vary = {};
  for (const field of fieldsOf(form.rule)) {
    const values = listOf(form.fields[field] ?? "", field);
    if (values.length > 1) vary[`sampler.${field}`] = values;
    else if (values[0] !== (usual[field] ?? ruleOf({ name: form.rule }).usual)) sampler[field] = values[0];
  }
  const tokens = Number(form.tokens);
  if (!Number.isInteger(tokens) || tokens < 1) throw new BadForm("tokens", "The number of new tokens is a whole number above 0.");
  const seeds = listOf(form.seeds, "seeds");
  if (seeds.some((seed) => !Number.isSafeInteger(seed) || Number(seed) < 0)) throw new BadForm("seeds", "A seed is a whole number from 0 on.");
  const prompts = form.prompts.split("\n").filter((line) => line.trim()).map(promptOf);
  const count = Number(form.count);
  if (form.families.length && (!Number.isInteger(count) || count < 1)) throw new BadForm("count", "Tasks of each kind: a whole number above 0.");
  if (!form.families.length && !prompts.length) throw new BadForm("families", "Choose tasks, or write prompts of your own.");
  return {
    name: form.name.trim() || "sweep",
    recipe: { max_new_tokens: tokens, ...(Object.keys(sampler).length ? { sampler } : {}) },
    vary,
    ...(form.families.length ? { tasks: { families: form.families, count } } : {}),
    ...(prompts.length ? { prompts } : {}),
    seeds: /** @type {number[]} */ (seeds),
  };
}

/** @param {string} line */
function promptOf(line) {
  const at = line.lastIndexOf(ARROW);
  if (at < 0) return { prompt: line.trim() };
  const prompt = line.slice(0, at).trim();
  const expect = line.slice(at + ARROW.length).trim();
  return SLASHED.test(expect) ? { prompt, pattern: expect.slice(1, -1) } : { prompt, expect };
}

/**
 * What stands in the form for a spec; none where the form cannot say it.
 * @param {Spec} spec
 * @param {Record<string, any>} usual
 * @param {number} tokens usual number of new tokens
 * @returns {FormValues | null}
 */
export function formOf(spec, usual, tokens) {
  const { recipe = {}, vary = {}, search, tasks, prompts = [], seeds = [0] } = spec;
  const { max_new_tokens = tokens, sampler = {}, ...others } = recipe;
  const rule = sampler.name ?? "entropy_bound";
  if ((search && search.kind !== "grid") || Object.keys(others).length || !Object.hasOwn(RULES, rule) || tasks?.seed) return null;
  if (!prompts.every(isLine)) return null;
  const names = fieldsOf(rule);
  for (const [name, values] of Object.entries(vary)) {
    if (!Array.isArray(values) || !names.includes(name.replace(/^sampler\./, ""))) return null;
  }
  const value = (/** @type {string} */ field) => vary[`sampler.${field}`] ?? [sampler[field] ?? usual[field] ?? ruleOf({ name: rule }).usual];
  return {
    name: spec.name ?? "sweep",
    rule,
    fields: Object.fromEntries(names.map((field) => [field, value(field).join(", ")])),
    tokens: String(max_new_tokens),
    families: tasks?.families ?? [],
    count: String(tasks?.count ?? 20),
    prompts: prompts.map(lineOf).join("\n"),
    seeds: seeds.join(", "),
  };
}

/** @param {NonNullable<Spec["prompts"]>[number]} prompt */
function lineOf({ prompt, expect, pattern }) {
  const told = pattern ? `/${pattern}/` : expect;
  return told === undefined || told === null ? prompt : `${prompt}${ARROW}${told}`;
}

/** Whether a line of the form says the same. @param {NonNullable<Spec["prompts"]>[number]} prompt */
function isLine(prompt) {
  const line = lineOf(prompt);
  const back = promptOf(line);
  return !line.includes("\n") && back.prompt === prompt.prompt && (back.expect ?? null) === (prompt.expect ?? null) && (back.pattern ?? null) === (prompt.pattern ?? null);
}

/**
 * How many runs a spec of lists makes; none for ranges and random searches, which the server counts.
 * @param {Spec} spec
 * @returns {number | null}
 */
export function runsOf(spec) {
  if (spec.search && spec.search.kind !== "grid") return null;
  const lists = Object.values(spec.vary ?? {});
  if (!lists.every(Array.isArray)) return null;
  const questions = (spec.tasks ? spec.tasks.families.length * (spec.tasks.count ?? 20) : 0) + (spec.prompts?.length ?? 0);
  return lists.reduce((product, list) => product * list.length, 1) * questions * (spec.seeds?.length ?? 1);
}

/**
 * A setting in words: “bound 0.1 · T first 0.8”.
 * @param {Record<string, any>} setting
 */
export function settingName(setting) {
  const parts = Object.entries(setting).map(([name, value]) => `${SHORT[name.split(".").at(-1) ?? ""] ?? name} ${value}`);
  return parts.join(" · ") || "the recipe as it is";
}

/** Names of fields in a table's head. @type {Record<string, string>} */
export const SHORT = {
  entropy_bound: "bound",
  top_probability: "p from",
  margin: "margin",
  k: "k",
  kappa: "κ",
  t_max: "T first",
  t_min: "T last",
  max_denoising_steps: "N",
  confidence_threshold: "stop below",
  stability_threshold: "stable for",
  max_new_tokens: "new tokens",
  temperature: "T",
  top_k: "top-k",
  top_p: "top-p",
};

/** The same on a form. @type {Record<string, string>} */
export const LABELS = {
  t_max: "Temperature, first step",
  t_min: "Temperature, last step",
  max_denoising_steps: "At most, steps",
  confidence_threshold: "Stop below mean entropy",
  stability_threshold: "Stable for, steps",
};

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
