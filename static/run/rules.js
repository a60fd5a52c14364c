// @ts-check
/** The rules by which a step decides what it keeps: their names, parameters, and what the page says of them. */

/** @import { Sampler, Step } from "./wire.js" */
import { number } from "../parts/element.js";

/**
 * @typedef {"entropy_bound" | "top_probability" | "margin" | "fixed_k" | "euler"} RuleName
 * @typedef {object} Rule
 * @property {string} title
 * @property {string} field  its own parameter in the sampler
 * @property {string} label  of the parameter's control
 * @property {string} short  of the parameter, in a few letters
 * @property {number | string} usual
 * @property {number[]} [stops]  of its slider
 * @property {[number, number, number | "any"]} [range]  least, most and step of the box
 * @property {[string, string][]} [choices]  value and name, where it is no number
 * @property {string} hint
 */

/** @type {Record<RuleName, Rule>} */
export const RULES = {
  entropy_bound: {
    title: "Entropy bound",
    field: "entropy_bound",
    label: "Entropy bound, nats",
    short: "bound",
    usual: 0.1,
    stops: [0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10],
    range: [0, 1e6, "any"],
    hint: "",
  },
  top_probability: {
    title: "Top probability",
    field: "top_probability",
    label: "Accept from probability",
    short: "p from",
    usual: 0.9,
    stops: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 1],
    range: [0, 1, "any"],
    hint: "A position is accepted once its most probable token is this probable. Each is judged alone.",
  },
  margin: {
    title: "Margin",
    field: "margin",
    label: "Accept from margin",
    short: "margin",
    usual: 0.5,
    stops: [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1],
    range: [0, 1, "any"],
    hint: "A position is accepted once its most probable token is this far ahead of the second.",
  },
  fixed_k: {
    title: "Fixed k",
    field: "k",
    label: "Positions more a step",
    short: "k",
    usual: 8,
    stops: [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256],
    range: [1, 1_000_000, 1],
    hint: "So many positions more in every step, the most probable first, however sure they are.",
  },
  euler: {
    title: "Euler step",
    field: "kappa",
    label: "Schedule κ",
    short: "κ",
    usual: "linear",
    choices: [
      ["linear", "linear: 1 − t"],
      ["cosine", "cosine: cos²(πt/2)"],
    ],
    hint: "Each position jumps to a sampled token by chance, or keeps the token it has: here nothing is renoised.",
  },
};

/** Parameters that go with every rule. */
export const COMMON = ["t_max", "t_min", "max_denoising_steps", "confidence_threshold", "stability_threshold"];

/** Fields of rules, whose type says what they may hold. @type {Record<string, number | string>} */
export const USUAL = Object.fromEntries(Object.values(RULES).map(({ field, usual }) => [field, usual]));

/** @param {{name?: string} | undefined} sampler @returns {Rule} */
export function ruleOf(sampler) {
  return RULES[/** @type {RuleName} */ (sampler?.name ?? "entropy_bound")] ?? RULES.entropy_bound;
}

/**
 * A sampler with its own rule's parameter and no other rule's.
 * @param {any} values
 * @returns {Sampler}
 */
export function samplerOf(values) {
  const { field, usual } = ruleOf(values);
  const own = { name: values.name ?? "entropy_bound", [field]: values[field] ?? usual };
  return /** @type {any} */ ({ ...own, ...Object.fromEntries(COMMON.map((name) => [name, values[name]])) });
}

/**
 * The stop nearest to a value; even steps to the eye, so a bound's small values count as ratios.
 * @param {number[]} stops
 * @param {number} value
 * @param {boolean} ratios
 */
export function nearest(stops, value, ratios) {
  const place = (/** @type {number} */ x) => (ratios ? Math.log(Math.max(x, 0.004)) : x);
  const far = (/** @type {number} */ stop) => Math.abs(place(stop) - place(value));
  return stops.reduce((best, stop, at) => (far(stop) < far(stops[best]) ? at : best), 0);
}

/** How the rule's parameter stands in a step: label and value, or what the recipe says before the first one.
 * @param {Sampler | undefined} sampler
 * @param {Step | undefined} step
 * @returns {[string, number | undefined]}
 */
export function inForce(sampler, step) {
  const { field, short } = ruleOf(sampler);
  if (field === "kappa") return ["jump", step?.jump_probability ?? undefined];
  return [short, /** @type {any} */ (step)?.[field] ?? /** @type {any} */ (sampler)?.[field]];
}

/**
 * Why a position was accepted or not, as names and values.
 * @param {Sampler | undefined} sampler
 * @param {Step} step
 * @param {number} position
 * @param {{rank: number, of: number, spent: number}} budget  its place in the order of entropy, −1 if pinned
 * @returns {[string, string][]}
 */
export function reasons(sampler, step, position, { rank, of, spent }) {
  const bound = step.entropy_bound ?? null;
  if (bound === null) return [[ruleOf(sampler).title, rank < 0 ? "pinned" : decision(sampler, step, position)]];
  return [
    ["rank in the budget", rank < 0 ? "pinned" : `${rank + 1} of ${of}`],
    ["spent before it", rank < 0 ? "–" : `${number(spent, 3)} ${spent <= bound ? "≤" : ">"} ${Number(bound.toPrecision(3))}`],
  ];
}

/**
 * @param {Sampler | undefined} sampler
 * @param {Step} step
 * @param {number} position
 */
function decision(sampler, step, position) {
  const value = inForce(sampler, step)[1];
  if (sampler?.name === "euler") return `jumps at ${number(value, 2)}`;
  if (sampler?.name === "fixed_k") return `${step.accepted[position] ? "among" : "not among"} the ${step.accepted.filter(Boolean).length} surest`;
  const top = step.top_probabilities?.[position];
  if (!top) return `from ${value} on`;
  const score = sampler?.name === "margin" ? top[0] - (top[1] ?? 0) : top[0];
  const best = step.accepted[position] && score < Number(value) ? ", the best" : "";
  return `${number(score, 3)} ${score >= Number(value) ? "≥" : "<"} ${value}${best}`;
}
