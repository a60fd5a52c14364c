// @ts-check
/**
 * What if the bound had been another one? From the recorded entropies alone, with no model: which positions this step would have
 * accepted. What came of it in later steps only a run can tell, so the way on is a fork.
 */

/** @import { RunLog } from "./log.js" */
/** @import { Step } from "./wire.js" */
import { h, visible, write } from "./element.js";
import { RULES, nearest } from "./rules.js";
import { acceptedAt } from "./states.js";

const STOPS = /** @type {number[]} */ (RULES.entropy_bound.stops);
const NAMED = 5;

export class WhatIf extends EventTarget {
  /** @param {boolean} runs whether a fork can be run from here */
  constructor(runs) {
    super();
    /** The bound that is tried; null: the step's own. @type {number | null} */
    this.bound = null;
    /** @type {Step | null} */
    this.step = null;
    /** @type {RunLog | null} */
    this.log = null;
    this.slider = h("input", { type: "range", min: 0, max: STOPS.length - 1, step: 1, "aria-label": "What if the bound were", oninput: () => this.#try(STOPS[Number(this.slider.value)]) });
    this.value = h("output", {});
    this.words = h("p.hint", { role: "status" });
    this.go = h("button.chip.small", { type: "button", hidden: true, onclick: () => this.bound !== null && this.dispatchEvent(new CustomEvent("go", { detail: this.bound })) });
    this.back = h("button.chip.small", { type: "button", hidden: true, onclick: () => this.#try(null) }, "Back to the step's own");
    this.runs = runs;
    this.element = h("div.what-if", {}, h("div.knob", {}, h("div.head", {}, h("label", {}, "What if the bound were"), this.value), this.slider), this.words, h("div.edit-row", {}, this.go, this.back));
  }

  /** @param {number | null} bound */
  #try(bound) {
    this.bound = bound;
    if (this.step && this.log) this.paint(this.log, this.step);
    this.dispatchEvent(new CustomEvent("try"));
  }

  /** The tried bound and how many positions it would accept; null while it is the step's own. */
  get other() {
    if (this.bound === null || !this.step || this.bound === this.step.entropy_bound) return null;
    return { bound: this.bound, accepted: acceptedAt(this.step, this.bound).filter(Boolean).length };
  }

  /**
   * @param {RunLog} log
   * @param {Step} step of a run with an entropy bound
   */
  paint(log, step) {
    const moved = this.step !== null && (log !== this.log || step.canvas !== this.step.canvas || step.step !== this.step.step);
    if (moved) this.bound = null;
    Object.assign(this, { log, step });
    const own = Number(step.entropy_bound);
    const bound = this.bound ?? own;
    write(this.value, `${Number(bound.toPrecision(3))} nats`);
    this.slider.value = String(nearest(STOPS, bound, true));
    this.slider.setAttribute("aria-valuetext", this.value.textContent);
    this.slider.style.setProperty("--range_progress", `${(100 * Number(this.slider.value)) / (STOPS.length - 1)}%`);
    const { other } = this;
    this.go.hidden = !other || !this.runs;
    this.back.hidden = !other;
    write(this.go, `Go on from step ${step.step} with it`);
    write(this.words, other ? this.#sentence(log, step, other.bound) : "Move it: which positions this step would have accepted.");
  }

  /**
   * @param {RunLog} log
   * @param {Step} step
   * @param {number} bound
   */
  #sentence(log, step, bound) {
    const mask = acceptedAt(step, bound);
    const gained = mask.flatMap((accepted, at) => (accepted && !step.accepted[at] ? [at] : []));
    const lost = mask.flatMap((accepted, at) => (!accepted && step.accepted[at] && !step.pinned?.[at] ? [at] : []));
    const names = (/** @type {number[]} */ places) => {
      const shown = places.slice(0, NAMED).map((at) => `“${visible(log.text(step.sampled[at])).trim() || "␣"}”`);
      return `${shown.join(", ")}${places.length > NAMED ? ` and ${places.length - NAMED} others` : ""}`;
    };
    const change = gained.length ? `${gained.length} more: ${names(gained)}.` : lost.length ? `${lost.length} fewer: not ${names(lost)}.` : "The same ones.";
    return `${mask.filter(Boolean).length} would be accepted. ${change} This step only: what follows from it takes a run.`;
  }
}
