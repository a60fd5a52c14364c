// @ts-check
/** The budget picture: how a step spent its entropy budget, and what another bound would have accepted. */

/** @import { Editor } from "../prompt/editor.js" */
/** @import { RunLog } from "../run/log.js" */
/** @import { Step } from "../run/wire.js" */
import { boundAt, budgetChart, budgetTop } from "../parts/charts.js";
import { h, renew } from "../parts/element.js";
import { budgetOf } from "../run/states.js";
import { WhatIf } from "./whatif.js";

export class BudgetCard {
  /** @param {Editor | null} editor none where nothing can be run */
  constructor(editor) {
    this.chart = h("div");
    this.note = h("p.hint.spread");
    this.whatIf = new WhatIf(editor !== null);
    this.element = h("section.card.inspect", {}, h("h3", {}, "How the budget was spent"), this.chart, this.note, this.whatIf.element);
    /** What is shown. @type {(() => void) | null} */
    this.again = null;
    /** The nats at the top of the picture, and those to keep while its bound is dragged. */
    this.scale = 1;
    /** @type {number | null} */
    this.top = null;
    this.whatIf.addEventListener("try", () => this.again?.());
    this.chart.addEventListener("pointerdown", (event) => this.#hold(event));
    this.chart.addEventListener("pointermove", (event) => this.#drag(event));
    for (const end of ["pointerup", "pointercancel"]) this.chart.addEventListener(end, () => this.#drop());
    this.whatIf.addEventListener("go", (/** @type {any} */ event) => editor?.forkWith(event.detail));
  }

  /** @param {PointerEvent} event */
  #hold(event) {
    if (!(event.target instanceof Element) || !event.target.classList.contains("grip") || !this.again) return;
    event.preventDefault();
    this.chart.setPointerCapture(event.pointerId);
    this.top = this.scale;
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    if (this.top === null) return;
    const { y, height } = this.chart.getBoundingClientRect();
    this.whatIf.tryBound(boundAt((event.clientY - y) / height, this.top));
  }

  #drop() {
    if (this.top === null) return;
    this.top = null;
    this.again?.();
  }

  /** Nothing to show here: a token, or a rule without a budget. */
  hide() {
    this.element.hidden = true;
    this.again = null;
  }

  /** @param {string} words why there is no picture yet */
  empty(words) {
    this.element.hidden = false;
    this.again = null;
    this.chart.replaceChildren();
    this.note.replaceChildren(words);
    this.whatIf.element.hidden = true;
  }

  /**
   * @param {RunLog} log
   * @param {Step} step
   * @param {number} position that is looked at
   */
  paint(log, step, position) {
    const bound = step.entropy_bound ?? null;
    if (bound === null) return this.hide();
    this.again = () => this.paint(log, step, position);
    const { order, cumulative, accepted } = budgetOf(step);
    this.element.hidden = this.whatIf.element.hidden = false;
    this.whatIf.paint(log, step);
    const { other } = this.whatIf;
    this.scale = budgetTop(cumulative, bound, other?.bound ?? 0);
    renew(this.chart, budgetChart({ cumulative, bound, accepted, rank: order.indexOf(position), other, top: this.top }));
    renew(this.note, h("span", {}, `${accepted} of ${order.length} accepted`), h("span", {}, "positions by entropy →"));
  }
}
