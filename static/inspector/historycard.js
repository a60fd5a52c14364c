// @ts-check
/** The entropy of what is inspected: of a position over its steps, or of the tokens written one by one. */

/** @import { CanvasOfRun } from "../run/log.js" */
/** @import { Step, Token } from "../run/wire.js" */
import { entropyChart } from "../parts/charts.js";
import { h, number, renew, write } from "../parts/element.js";

export class HistoryCard {
  constructor() {
    this.title = h("h3", {}, "Its entropy over the steps");
    this.chart = h("div");
    this.note = h("p.hint.spread");
    this.element = h("section.card.inspect", {}, this.title, this.chart, this.note);
  }

  /** @param {string} words in the place of the chart's note */
  empty(words) {
    this.chart.replaceChildren();
    this.note.replaceChildren(words);
  }

  /**
   * @param {CanvasOfRun} canvas
   * @param {Step} step that is looked at
   * @param {number} position
   */
  paintSteps(canvas, step, position) {
    const steps = Array.from(canvas.steps).slice(1); // gaps become undefined
    const values = steps.map((each) => each?.entropy[position] ?? null);
    write(this.title, "Its entropy over the steps");
    renew(this.chart, entropyChart({ values, dots: steps.map((each) => each?.accepted[position] ?? false), now: step.step - 1, unit: "steps" }));
    this.#paintNote("dots: accepted", values);
  }

  /**
   * @param {(Token | undefined)[]} tokens
   * @param {Token} token that is looked at
   * @param {number} last its run shows tokens up to this index
   */
  paintTokens(tokens, token, last) {
    const values = tokens.map((each) => each?.entropy ?? null);
    write(this.title, "Entropy over the tokens");
    renew(this.chart, entropyChart({ values, dots: tokens.map((_, at) => at === token.index), now: last, unit: "tokens" }));
    this.#paintNote("dot: this token", values);
  }

  /**
   * @param {string} words
   * @param {(number | null)[]} values in nats
   */
  #paintNote(words, values) {
    renew(this.note, h("span", {}, words), h("span", {}, `highest ${number(Math.max(...values.map((value) => value ?? 0)), 2)} nats`));
  }
}
