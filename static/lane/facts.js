// @ts-check
/** The head of a lane: the facts of the moment, each in a fixed place, so that nothing moves when they change. */

/** @import { Frame, RunLog } from "../run/log.js" */
/** @import { Step } from "../run/wire.js" */
import { h, number, write } from "../parts/element.js";
import { inForce } from "../run/rules.js";

/** Name, label, width in characters, and what it means. */
const DIFFUSION = /** @type {const} */ ([
  ["canvas", "canvas", 1, "Which canvas of the answer is being denoised."],
  ["step", "step", 8, "The denoising step, of at most N."],
  ["temperature", "τ", 4, "Temperature of this step."],
  ["bound", "bound", 4, "The rule's parameter in force in this step; an entropy bound is in nats."],
  ["accepted", "accepted", 5, "Positions accepted in this step, of all in the canvas."],
  ["entropy", "mean entropy", 5, "Mean entropy over all positions, in nats."],
]);
const AUTOREGRESSIVE = /** @type {const} */ ([
  ["token", "token", 3, "Tokens so far, one forward pass each."],
  ["temperature", "τ", 4, "Temperature the token was sampled at."],
  ["entropy", "entropy", 5, "Entropy of the distribution the token was sampled from, in nats."],
  ["logprob", "logprob", 6, "Log-probability of the token that was sampled."],
]);

/** For how many steps a change stays marked. */
const MARKED_FOR = 4;

export class Facts {
  /** @param {"diffusion" | "autoregressive"} mode */
  constructor(mode) {
    this.element = h("dl.facts");
    /** @type {Map<string, HTMLElement>} */
    this.values = new Map();
    /** The name of the rule's parameter. @type {HTMLElement | undefined} */
    this.label = undefined;
    for (const [name, label, width, meaning] of mode === "diffusion" ? DIFFUSION : AUTOREGRESSIVE) {
      const value = h("dd", { style: `min-width:${width}ch`, "data-fact": name }, "–");
      this.values.set(name, value);
      const term = h("dt", {}, label);
      if (name === "bound") this.label = term;
      this.element.append(h("div.fact", { title: meaning }, term, value));
    }
  }

  /**
   * @param {string} name
   * @param {string} text
   */
  #set(name, text) {
    const value = this.values.get(name);
    if (value) write(value, text);
  }

  /**
   * @param {RunLog} log
   * @param {Frame | null} frame
   */
  paint(log, frame) {
    if (!frame) {
      for (const name of this.values.keys()) this.#set(name, "–");
    } else if (frame.event.type === "token") {
      const token = frame.event;
      this.#set("token", String(token.index + 1));
      this.#set("temperature", number(token.temperature, 2));
      this.#set("entropy", number(token.entropy, 3));
      this.#set("logprob", number(token.logprob, 3));
    } else {
      this.#paintStep(log, frame);
    }
    this.#markEdits(log, frame);
  }

  /**
   * @param {RunLog} log
   * @param {Frame} frame
   */
  #paintStep(log, frame) {
    const steps = log.canvas(frame.canvas).steps;
    /** @type {Step | undefined} */
    const step = frame.event.type === "step" ? frame.event : frame.kind === "commit" ? steps[steps.length - 1] : undefined;
    const length = log.started?.canvas_length ?? 0;
    const cap = step?.max_denoising_steps ?? log.started?.recipe.sampler.max_denoising_steps ?? 0;
    this.#set("canvas", String(frame.canvas + 1));
    this.#set("step", `${step?.step ?? 0} of ${cap}`);
    this.#set("temperature", number(step?.temperature, 2));
    const [label, value] = inForce(log.started?.recipe.sampler, step);
    this.#set("bound", label === "k" ? String(value ?? "–") : boundText(value));
    if (this.label) write(this.label, label);
    this.#set("accepted", `${step ? step.accepted.filter(Boolean).length : 0}/${length}`);
    this.#set("entropy", number(step?.mean_entropy, 3));
  }

  /**
   * Underlines what was changed by hand in this step or a few before, long enough to be seen.
   * @param {RunLog} log
   * @param {Frame | null} frame
   */
  #markEdits(log, frame) {
    /** @type {Set<string>} */
    const changed = new Set();
    for (const edit of /** @type {any[]} */ (editsAround(log, frame))) {
      for (const name of Object.keys(edit.sampler ?? edit.decoding ?? {})) {
        const fact = FACT_OF[/** @type {keyof typeof FACT_OF} */ (name)];
        if (fact) changed.add(fact);
      }
    }
    for (const [name, value] of this.values) value.classList.toggle("edited", changed.has(name));
  }
}

/** Where a parameter shows. */
const FACT_OF = { entropy_bound: "bound", top_probability: "bound", margin: "bound", k: "bound", max_denoising_steps: "step", t_max: "temperature", t_min: "temperature", temperature: "temperature" };

/**
 * The edits of the last few passes up to a frame.
 * @param {RunLog} log
 * @param {Frame | null} frame
 * @returns {object[]}
 */
function editsAround(log, frame) {
  if (frame?.event.type === "step") {
    const { canvas, step } = frame.event;
    return log.canvas(canvas).steps.slice(Math.max(step - MARKED_FOR + 1, 1), step + 1).flatMap((each) => each?.edits ?? []);
  }
  if (frame?.event.type === "token") {
    const { index } = frame.event;
    return log.tokens.slice(Math.max(index - MARKED_FOR + 1, 0), index + 1).flatMap((each) => each?.edits ?? []);
  }
  return [];
}

/** @param {number | undefined} bound */
function boundText(bound) {
  if (bound === undefined) return "–";
  return bound >= 100 ? bound.toFixed(0) : bound >= 0.095 || bound === 0 ? bound.toFixed(2) : String(Number(bound.toPrecision(2)));
}
