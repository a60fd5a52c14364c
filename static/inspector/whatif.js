// @ts-check
/**
 * What if the bound, or the temperature, had been another one? From what is recorded alone, with no model: which positions this
 * step would have accepted, where that can be told. What came of it in later steps only a run can tell, so the way on is a fork.
 */

/** @import { RunLog } from "../run/log.js" */
/** @import { Step } from "../run/wire.js" */
import { h, visible, write } from "../parts/element.js";
import { parametersAt } from "../run/fork.js";
import { acceptedWarmer } from "../run/heat.js";
import { RULES, nearest } from "../run/rules.js";
import { acceptedAt } from "../run/states.js";

const BOUNDS = /** @type {number[]} */ (RULES.entropy_bound.stops);
const TEMPERATURES = Array.from({ length: 39 }, (_, at) => (at + 2) / 20);
const NAMED = 5;

/** A slider with its name and value. */
class Knob {
  /**
   * @param {string} label
   * @param {number[]} stops
   * @param {string} unit
   * @param {(value: number) => void} tried
   */
  constructor(label, stops, unit, tried) {
    this.stops = stops;
    this.unit = unit;
    this.slider = h("input", { type: "range", min: 0, max: stops.length - 1, step: 1, "aria-label": label, oninput: () => tried(stops[Number(this.slider.value)]) });
    this.value = h("output", {});
    this.element = h("div.knob", {}, h("div.head", {}, h("label", {}, label), this.value), this.slider);
  }

  /** @param {number} value */
  show(value) {
    write(this.value, `${Number(value.toPrecision(3))}${this.unit}`);
    this.slider.value = String(nearest(this.stops, value, true));
    this.slider.setAttribute("aria-valuetext", this.value.textContent);
    this.slider.style.setProperty("--range_progress", `${(100 * Number(this.slider.value)) / (this.stops.length - 1)}%`);
  }
}

export class WhatIf extends EventTarget {
  /** @param {boolean} runs whether a fork can be run from here */
  constructor(runs) {
    super();
    /** What is tried; null: the step's own. @type {{bound: number | null, temperature: number | null}} */
    this.tried = { bound: null, temperature: null };
    /** @type {Step | null} */
    this.step = null;
    /** @type {RunLog | null} */
    this.log = null;
    this.bound = new Knob("What if the bound were", BOUNDS, " nats", (bound) => this.#try({ ...this.tried, bound }));
    this.temperature = new Knob("What if the temperature were", TEMPERATURES, "", (temperature) => this.#try({ ...this.tried, temperature }));
    this.words = h("p.hint", { role: "status" });
    this.go = h("button.chip.small", { type: "button", hidden: true, onclick: () => this.dispatchEvent(new CustomEvent("go", { detail: this.#change() })) });
    this.back = h("button.chip.small", { type: "button", hidden: true, onclick: () => this.#try({ bound: null, temperature: null }) }, "Back to the step's own");
    this.runs = runs;
    this.element = h("div.what-if", {}, this.bound.element, this.temperature.element, this.words, h("div.edit-row", {}, this.go, this.back));
  }

  /** @param {{bound: number | null, temperature: number | null}} tried */
  #try(tried) {
    this.tried = tried;
    if (this.step && this.log) this.paint(this.log, this.step);
    this.dispatchEvent(new CustomEvent("try"));
  }

  /** @param {number} bound in nats, dragged to in the picture */
  tryBound(bound) {
    this.#try({ ...this.tried, bound });
  }

  /** The tried bound and how many positions it would accept; null while it is the step's own. */
  get other() {
    const { bound, temperature } = this.#values();
    if (!this.step || bound === this.step.entropy_bound || temperature !== this.step.temperature) return null;
    return { bound, accepted: acceptedAt(this.step, bound).filter(Boolean).length };
  }

  /** The bound and the temperature that are shown: tried ones, else the step's own. */
  #values() {
    const step = /** @type {Step} */ (this.step);
    return { bound: this.tried.bound ?? Number(step.entropy_bound), temperature: this.tried.temperature ?? step.temperature };
  }

  /** What a fork from this step changes: the schedule is scaled as a whole, so that this step gets its temperature. */
  #change() {
    const { bound, temperature } = this.#values();
    const step = /** @type {Step} */ (this.step);
    /** @type {Record<string, number>} */
    const change = {};
    if (bound !== step.entropy_bound) change.entropy_bound = bound;
    if (temperature !== step.temperature) {
      const inForce = /** @type {any} */ (parametersAt(/** @type {RunLog} */ (this.log), { canvas: step.canvas, step: step.step }));
      for (const name of ["t_max", "t_min"]) change[name] = Number(((inForce[name] * temperature) / step.temperature).toPrecision(6));
    }
    return change;
  }

  /**
   * @param {RunLog} log
   * @param {Step} step of a run with an entropy bound
   */
  paint(log, step) {
    const moved = this.step !== null && (log !== this.log || step.canvas !== this.step.canvas || step.step !== this.step.step);
    if (moved) this.tried = { bound: null, temperature: null };
    Object.assign(this, { log, step });
    const { bound, temperature } = this.#values();
    this.bound.show(bound);
    this.temperature.show(temperature);
    const other = bound !== step.entropy_bound || temperature !== step.temperature;
    this.go.hidden = !other || !this.runs;
    this.back.hidden = !other;
    write(this.go, `Go on from step ${step.step} with it`);
    write(this.words, other ? this.#sentence(log, step, bound, temperature) : "Move one, or the line in the picture: which positions this step would have accepted.");
  }

  /**
   * @param {RunLog} log
   * @param {Step} step
   * @param {number} bound
   * @param {number} temperature
   */
  #sentence(log, step, bound, temperature) {
    if (temperature === step.temperature) return told(log, step, acceptedAt(step, bound), step.sampled);
    if (!step.top_probabilities || !log.started) return "This cannot be told: the step's alternatives are not recorded.";
    const { mask, open } = acceptedWarmer(step, temperature, bound, log.started.vocab_size);
    if (!open) return told(log, step, mask, step.predicted); // another temperature may draw other tokens
    const sure = mask.filter(Boolean).length;
    return `The recorded alternatives do not settle it: ${sure} would be accepted for sure, ${open} ${open === 1 ? "is" : "are"} open. Only a run can tell.`;
  }
}

/**
 * What another acceptance would have been, in words.
 * @param {RunLog} log
 * @param {Step} step
 * @param {boolean[]} mask
 * @param {number[]} ids that name the positions
 */
function told(log, step, mask, ids) {
  const gained = mask.flatMap((accepted, at) => (accepted && !step.accepted[at] ? [at] : []));
  const lost = mask.flatMap((accepted, at) => (!accepted && step.accepted[at] && !step.pinned?.[at] ? [at] : []));
  const names = (/** @type {number[]} */ places) => {
    const shown = places.slice(0, NAMED).map((at) => `“${visible(log.text(ids[at])).trim() || "␣"}”`);
    return `${shown.join(", ")}${places.length > NAMED ? ` and ${places.length - NAMED} others` : ""}`;
  };
  const changes = [...(gained.length ? [`${gained.length} more: ${names(gained)}.`] : []), ...(lost.length ? [`${lost.length} fewer: not ${names(lost)}.`] : [])];
  return `${mask.filter(Boolean).length} would be accepted. ${changes.join(" ") || "The same ones."} This step only: what follows from it takes a run.`;
}
