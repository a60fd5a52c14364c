// @ts-check
/** The setting that was chosen on the map or in the table: its figures, its runs, and what can be done with it. */

/** @import { SettingLine, SweepRun, SweepWhole } from "./labapi.js" */
import { copied } from "../parts/copy.js";
import { preset, runs } from "./labapi.js";
import { SHORT } from "./labspec.js";
import { h, number } from "../parts/element.js";

const MOST_RUNS = 60;

export class LabPoint extends EventTarget {
  constructor() {
    super();
    this.facts = h("dl.pairs");
    this.use = h("button.lab-go", { type: "button", id: "lab-use", onclick: () => this.#use() }, "Use these settings");
    this.copyJson = h("button.chip.small", { type: "button", onclick: () => this.#copy("json") }, "Copy as JSON");
    this.copyCode = h("button.chip.small", { type: "button", onclick: () => this.#copy("code") }, "Copy for transformers");
    this.note = h("p.hint", { "aria-live": "polite" });
    this.filter = h("select.chip.small.speed", { "aria-label": "Which runs", onchange: () => this.#list() }, h("option", { value: "all" }, "all runs"), h("option", { value: "wrong" }, "wrong ones"), h("option", { value: "right" }, "right ones"), h("option", { value: "loops" }, "with a loop"));
    this.list = h("ol.lab-runs");
    this.element = h(
      "section.card.lab-card",
      { "aria-label": "Chosen setting", id: "lab-point" },
      h("h3", {}, "Chosen setting"),
      this.facts,
      this.use,
      h("div.example-row", {}, this.copyJson, this.copyCode),
      this.note,
      h("div.card-head", {}, h("h3", {}, "Its runs"), this.filter),
      this.list,
    );
    this.element.hidden = true;
    /** @type {SweepRun[]} */
    this.runs = [];
    /** @type {{sweep: SweepWhole, line: SettingLine} | null} */
    this.shown = null;
  }

  /**
   * @param {SweepWhole} sweep
   * @param {SettingLine | null} line
   */
  async show(sweep, line) {
    const same = line && this.shown?.sweep.id === sweep.id && key(this.shown.line) === key(line);
    const fresh = !same || this.shown?.line.runs !== line.runs;
    this.shown = line ? { sweep, line } : null;
    this.element.hidden = !line;
    if (!line) return;
    this.facts.replaceChildren(...facts(sweep, line).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    if (!same) this.note.textContent = "";
    if (!fresh) return;
    try {
      const found = await runs(sweep.id, line.setting);
      if (this.shown?.line !== line) return;
      this.runs = found;
      this.#list();
    } catch (error) {
      this.note.textContent = `The runs cannot be had: ${/** @type {Error} */ (error).message}`;
    }
  }

  #list() {
    const which = { all: () => true, wrong: (/** @type {SweepRun} */ run) => run.right === 0, right: (/** @type {SweepRun} */ run) => run.right === 1, loops: (/** @type {SweepRun} */ run) => run.loops > 0 }[/** @type {"all"} */ (this.filter.value)];
    const found = this.runs.filter(which);
    const rows = found.slice(0, MOST_RUNS).map((run) => {
      const verdict = run.right === null ? "" : run.right ? "right" : "wrong";
      const steps = run.effective_denoising_steps === null ? `${run.tokens} tokens` : `${number(run.effective_denoising_steps, 1)} steps`;
      const facts = [verdict, steps, run.loops ? "loop" : "", `seed ${run.seed}`].filter(Boolean).join(" · ");
      return h("li", {}, h("button.run-open", { type: "button", title: "Make this run again, in the player", onclick: () => this.#open(run) }, h("span.run-prompt", {}, run.prompt), h(`span.hint${verdict === "wrong" ? ".lab-wrong" : ""}`, {}, facts)));
    });
    this.list.replaceChildren(...rows);
    if (!found.length) this.list.append(h("li.hint", {}, "None of them."));
    else if (found.length > rows.length) this.list.append(h("li.hint", {}, `${found.length - rows.length} more in the file.`));
  }

  /** @param {SweepRun} run */
  #open(run) {
    if (this.shown) this.dispatchEvent(new CustomEvent("open", { detail: { run, sweep: this.shown.sweep } }));
  }

  async #preset() {
    const { sweep, line } = /** @type {NonNullable<LabPoint["shown"]>} */ (this.shown);
    return preset(sweep.id, line.setting);
  }

  async #use() {
    try {
      const { preset: found } = await this.#preset();
      const recipe = this.runs[0]?.recipe ?? {};
      this.dispatchEvent(new CustomEvent("use", { detail: { sampler: found.sampler, decoding: recipe.decoding, max_new_tokens: recipe.max_new_tokens, mode: recipe.mode ?? "diffusion" } }));
    } catch (error) {
      this.note.textContent = /** @type {Error} */ (error).message;
    }
  }

  /** @param {"json" | "code"} what */
  async #copy(what) {
    try {
      const { preset: found, transformers, reason } = await this.#preset();
      if (what === "code" && transformers === null) {
        this.note.textContent = `No code for transformers: ${reason}.`;
        return;
      }
      const done = await copied(what === "code" ? /** @type {string} */ (transformers) : JSON.stringify(found, null, 2));
      this.note.textContent = done ? "Copied." : "The clipboard cannot be used here.";
    } catch (error) {
      this.note.textContent = `It could not be copied: ${/** @type {Error} */ (error).message}`;
    }
  }
}

/** @param {SettingLine} line */
export function key(line) {
  return JSON.stringify(line.setting);
}

/**
 * @param {SweepWhole} sweep
 * @param {SettingLine} line
 * @returns {[string, string][]}
 */
function facts(sweep, line) {
  const usual = sweep.settings.find((each) => each.usual);
  /** @type {[string, string][]} */
  const rows = Object.entries(line.setting).map(([name, value]) => [SHORT[name.split(".").at(-1) ?? ""] ?? name, String(value)]);
  if (line.usual) rows.push(["these are", "the released settings"]);
  rows.push(["runs", String(line.runs)]);
  if (line.accuracy !== null) rows.push(["correct", percent(line.accuracy)], ["95 % interval", `${number(100 * line.low, 1)} to ${percent(line.high)}`]);
  if (line.agreement) rows.push([`same answer as ${usual ? "released" : "the slowest"}`, percent(line.agreement.share)], ["95 % interval", `${number(100 * line.agreement.low, 1)} to ${percent(line.agreement.high)}`]);
  if (line.effective_denoising_steps !== null) rows.push(["effective steps", number(line.effective_denoising_steps, 1)]);
  if (line.tokens_per_forward !== null) rows.push(["tokens a forward", number(line.tokens_per_forward, 2)]);
  if (line.loops) rows.push(["runs with a loop", String(line.loops)]);
  if (usual && !line.usual && usual.tokens_per_forward && line.tokens_per_forward) {
    rows.push(["speed against released", signed(100 * (line.tokens_per_forward / usual.tokens_per_forward - 1), 0, " %")]);
  }
  if (line.against) {
    rows.push(["correct against released", `${signed(100 * line.against.difference, 1, "")} ± ${number(196 * line.against.error, 1)} points`], ["by pairs", String(line.against.pairs)]);
  }
  return rows;
}

/** @param {number | null} share 0 to 1 */
export function percent(share) {
  return share === null ? "–" : `${number(100 * share, 1)} %`;
}

/**
 * @param {number} value
 * @param {number} decimals
 * @param {string} unit
 */
export function signed(value, decimals, unit) {
  const text = number(value, decimals);
  return `${value > 0 && Number(value.toFixed(decimals)) !== 0 ? "+" : ""}${text}${unit}`;
}
