// @ts-check
/** The budget picture: how a step spent its entropy budget, and what another bound would have accepted. */

/** @import { Editor } from "./editor.js" */
/** @import { RunLog } from "./log.js" */
/** @import { Step } from "./wire.js" */
import { budgetChart } from "./charts.js";
import { h, renew } from "./element.js";
import { budgetOf } from "./states.js";
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
    this.whatIf.addEventListener("try", () => this.again?.());
    this.whatIf.addEventListener("go", (/** @type {any} */ event) => editor?.forkWith(event.detail));
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
    renew(this.chart, budgetChart({ cumulative, bound, accepted, rank: order.indexOf(position), other: this.whatIf.other }));
    renew(this.note, h("span", {}, `${accepted} of ${order.length} accepted`), h("span", {}, "positions by entropy →"));
  }
}
