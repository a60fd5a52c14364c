// @ts-check
/** The table of a sweep's settings. A row is a button in all but name: click, Enter or space choose it. */

/** @import { SettingLine, SweepWhole } from "./labapi.js" */
import { SHORT } from "./labspec.js";
import { h, number } from "../parts/element.js";
import { key, percent, signed } from "./labpoint.js";

/** @type {[string, string, (line: SettingLine) => string, (line: SettingLine) => number][]} */
const FIGURES = [
  ["runs", "Runs so far", (line) => String(line.runs), (line) => line.runs],
  ["correct", "Share of right answers, with its 95 % interval (Wilson)", (line) => percent(line.accuracy), (line) => line.accuracy ?? -1],
  ["interval", "95 % interval", (line) => (line.accuracy === null ? "–" : `${number(100 * line.low, 0)}–${number(100 * line.high, 0)} %`), (line) => line.low],
  ["against released", "How many points more often right than the released settings, pair by pair", (line) => (line.against ? signed(100 * line.against.difference, 1, "") : "–"), (line) => line.against?.difference ?? 0],
  ["steps", "Effective denoising steps, weighted by tokens: the report's Equation 9", (line) => number(line.effective_denoising_steps, 1), (line) => line.effective_denoising_steps ?? -1],
  ["tokens a forward", "The report's Equation 10", (line) => number(line.tokens_per_forward, 2), (line) => line.tokens_per_forward ?? -1],
  ["at the cap", "Canvases that took all their steps", (line) => (line.capped === null ? "–" : `${Math.round(100 * line.capped)} %`), (line) => line.capped ?? -1],
  ["loops", "Runs with a loop", (line) => String(line.loops), (line) => line.loops],
];

/** In place of those about right answers, where nothing tells them. @type {typeof FIGURES} */
const AGREEMENT = [
  ["same answer", "Share of answers that are word for word those of the released settings, or of the slowest ones", (line) => percent(line.agreement?.share ?? null), (line) => line.agreement?.share ?? -1],
  ["interval", "95 % interval", (line) => (line.agreement ? `${number(100 * line.agreement.low, 0)}–${number(100 * line.agreement.high, 0)} %` : "–"), (line) => line.agreement?.low ?? -1],
];

export class LabTable extends EventTarget {
  constructor() {
    super();
    this.by = 1;
    this.down = true;
    this.table = h("table.lab-table");
    this.element = h("section.card.lab-card.lab-wide", { "aria-label": "Settings" }, h("h3", {}, "Settings"), h("div.lab-scroll", { tabindex: "0", role: "region", "aria-label": "Table of settings" }, this.table));
    /** @type {SweepWhole | null} */
    this.sweep = null;
    this.chosen = "";
  }

  /**
   * @param {SweepWhole} sweep
   * @param {string} chosen
   */
  show(sweep, chosen) {
    this.sweep = sweep;
    this.chosen = chosen;
    const focused = document.activeElement?.closest("tr")?.dataset.key;
    const names = Object.keys(sweep.spec.vary ?? {});
    const figures = sweep.settings.some((line) => line.agreement) ? [FIGURES[0], ...AGREEMENT, ...FIGURES.slice(4)] : sweep.settings.some((line) => line.against) ? FIGURES : FIGURES.toSpliced(3, 1);
    if (this.by >= figures.length) this.by = 1;
    const head = h(
      "tr",
      {},
      h("th", { scope: "col" }, "setting"),
      ...names.map((name) => h("th", { scope: "col" }, SHORT[name.split(".").at(-1) ?? ""] ?? name)),
      ...figures.map(([title, meaning], at) =>
        h("th", { scope: "col", "aria-sort": at === this.by ? (this.down ? "descending" : "ascending") : null }, h("button.lab-sort", { type: "button", title: meaning, onclick: () => this.#sort(at) }, title)),
      ),
    );
    const sign = this.down ? -1 : 1;
    const value = figures[this.by][3];
    const sorted = [...sweep.settings].sort((a, b) => sign * (value(a) - value(b)) || (b.tokens_per_forward ?? 0) - (a.tokens_per_forward ?? 0));
    const rows = sorted.map((line) => {
      const word = line.usual ? "released" : line.front ? "on the front" : "–";
      const choose = h("button.lab-choose", { type: "button", "aria-pressed": String(key(line) === chosen) }, word);
      return h(
        `tr${key(line) === chosen ? ".chosen" : ""}`,
        { "data-key": key(line), onclick: () => this.#choose(line) },
        h("th", { scope: "row" }, choose),
        ...names.map((name) => h("td", {}, String(line.setting[name] ?? "–"))),
        ...figures.map(([, , text]) => h("td", {}, text(line))),
      );
    });
    this.table.replaceChildren(h("caption.sr-only", {}, `Settings of the sweep ${sweep.name}`), h("thead", {}, head), h("tbody", {}, ...rows));
    if (focused !== undefined) /** @type {HTMLElement | null} */ (this.table.querySelector(`tr[data-key='${CSS.escape(focused)}'] button`))?.focus();
  }

  /** @param {number} at */
  #sort(at) {
    this.down = at === this.by ? !this.down : true;
    this.by = at;
    if (this.sweep) this.show(this.sweep, this.chosen);
    /** @type {HTMLElement} */ (this.table.querySelectorAll(".lab-sort")[at]).focus();
  }

  /** @param {SettingLine} line */
  #choose(line) {
    this.dispatchEvent(new CustomEvent("choose", { detail: key(line) }));
  }
}
