// @ts-check
/** The speed the person chose: the clock of every player and, while a run is live, the pace of the engine. */

import { h } from "../parts/element.js";

/** Steps a second; null: as fast as it runs. */
export const SPEEDS = [null, 16, 8, 4, 2, 1];

export class Pace extends EventTarget {
  /** @param {number | null} stepsPerSecond */
  constructor(stepsPerSecond) {
    super();
    this.stepsPerSecond = stepsPerSecond;
  }

  /** @param {number | null} stepsPerSecond */
  choose(stepsPerSecond) {
    if (stepsPerSecond === this.stepsPerSecond) return;
    this.stepsPerSecond = stepsPerSecond;
    this.dispatchEvent(new CustomEvent("change"));
  }

  /** A control that shows the speed and changes it. */
  control() {
    const select = h("select.chip.speed", { "aria-label": "Speed", title: "How fast steps are computed and shown" });
    for (const speed of SPEEDS) {
      select.append(h("option", { value: String(speed) }, speed === null ? "full speed" : speed === 1 ? "1 step/s" : `${speed} steps/s`));
    }
    const show = () => (select.value = String(this.stepsPerSecond));
    select.addEventListener("change", () => this.choose(select.value === "null" ? null : Number(select.value)));
    this.addEventListener("change", show);
    show();
    return select;
  }
}
