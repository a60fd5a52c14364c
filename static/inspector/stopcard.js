// @ts-check
/** How near the stop is: mean entropy and stability of a canvas over its steps, against their thresholds, and the temperature. */

/** @import { RunLog } from "../run/log.js" */
/** @import { Step } from "../run/wire.js" */
import { stopChart } from "../parts/charts.js";
import { h, number, renew, write } from "../parts/element.js";

export class StopCard {
  constructor() {
    this.chart = h("div");
    this.words = h("p.hint");
    this.note = h("p.hint.spread", {}, h("span", {}, "dots: stable"), h("span", {}, "grey: temperature"));
    this.element = h("section.card.inspect", {}, h("h3", {}, "How near the stop is"), this.chart, this.note, this.words);
    this.element.hidden = true;
  }

  hide() {
    this.element.hidden = true;
  }

  /**
   * @param {RunLog} log
   * @param {Step} step
   */
  paint(log, step) {
    this.element.hidden = false;
    const steps = Array.from(log.canvas(step.canvas).steps).slice(1); // gaps become undefined
    renew(
      this.chart,
      stopChart({
        means: steps.map((each) => each?.mean_entropy ?? null),
        temperatures: steps.map((each) => each?.temperature ?? null),
        stable: steps.map((each) => (each ? isStable(each) : false)),
        threshold: step.confidence_threshold,
        now: step.step - 1,
      }),
    );
    write(this.words, sentence(step));
  }
}

/** @param {Step} step */
function isStable(step) {
  return step.stable_steps >= step.stability_threshold;
}

/** @param {Step} step */
function sentence(step) {
  const sure = step.mean_entropy < step.confidence_threshold;
  const mean = `Mean entropy ${number(step.mean_entropy, 4)} nats: ${sure ? "below" : "not below"} ${step.confidence_threshold}`;
  const needed = step.stability_threshold;
  const stable = needed === 0 ? "stability is not asked for" : `the draft is the same for ${step.stable_steps} of ${needed} ${needed === 1 ? "step" : "steps"}`;
  if (sure && isStable(step)) return `${mean}, and ${stable}: the canvas stops here.`;
  const left = step.max_denoising_steps - step.step;
  return `${mean}; ${stable}. ${left > 0 ? `It goes on, for ${left} more ${left === 1 ? "step" : "steps"} at most.` : "That was the last step it may take."}`;
}
