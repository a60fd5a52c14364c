// @ts-check
/** The card of the sweep that is looked at: which one, what it varies, how far it is, and how to stop it. */

/** @import { SweepEntry, SweepWhole } from "./labapi.js" */
import { fileAddress, forget, steer } from "./labapi.js";
import { SHORT, duration } from "./labspec.js";
import { h, write } from "../parts/element.js";

const STATES = { running: "running", paused: "paused", done: "done", cancelled: "ended early" };
const KINDS = /** @type {const} */ (["html", "csv", "parquet", "sqlite"]);
const TITLES = { html: "Figures", csv: "CSV", parquet: "Parquet", sqlite: "SQLite" };

export class SweepCard extends EventTarget {
  constructor() {
    super();
    /** @type {SweepEntry[]} */
    this.entries = [];
    /** @type {SweepWhole | null} */
    this.sweep = null;
    this.select = h("select.chip.small.speed", { id: "lab-sweep", "aria-label": "Which sweep", onchange: () => this.#picked() });
    const button = (/** @type {string} */ words, /** @type {() => void} */ act) => h("button.chip.small", { type: "button", onclick: act }, words);
    this.make = button("New", () => this.dispatchEvent(new CustomEvent("new", { detail: null })));
    this.copy = button("Change and run", () => this.dispatchEvent(new CustomEvent("new", { detail: this.sweep?.spec })));
    this.pause = button("Pause", () => this.#steer("pause"));
    this.resume = button("Go on", () => this.#steer("resume"));
    this.cancel = button("End", () => this.#steer("cancel"));
    this.forget = button("Delete", () => this.#forget());
    this.varied = h("div.lab-varied");
    this.bar = h("i");
    this.progress = h("div.lab-progress", { role: "progressbar", "aria-label": "Runs done", "aria-valuemin": 0 }, this.bar);
    this.done = h("dd");
    this.left = h("dd");
    this.leftRow = h("div", {}, h("dt", {}, "left, about"), this.left);
    this.origin = h("p.hint");
    this.beside = h("select.chip.small.speed", { id: "lab-beside", "aria-label": "Beside which sweep", onchange: () => this.dispatchEvent(new CustomEvent("beside", { detail: this.beside.value })) });
    this.failure = h("p.lab-error", { role: "alert" });
    this.files = h("div.example-row");
    this.body = h(
      "div.lab-body",
      {},
      this.varied,
      this.progress,
      h("dl.pairs", {}, h("div", {}, h("dt", {}, "runs done"), this.done), this.leftRow),
      this.origin,
      this.beside,
      this.failure,
      h("div.example-row", {}, this.pause, this.resume, this.cancel, this.copy, this.forget),
      this.files,
    );
    this.element = h("section.card.lab-card", { "aria-label": "Sweep", "data-own-keys": "" }, h("div.card-head", {}, h("h3", {}, "Sweep"), this.make), this.select, this.body);
  }

  /**
   * @param {SweepEntry[]} entries
   * @param {string} opened
   */
  list(entries, opened) {
    this.entries = entries;
    const options = entries.map((entry) => h("option", { value: entry.id }, `${entry.name} · ${entry.recorded ? "recorded" : STATES[entry.state]}`));
    if (!opened || !entries.some((entry) => entry.id === opened)) options.unshift(h("option", { value: opened }, opened ? "a sweep by its link" : "a new sweep"));
    this.select.replaceChildren(...options);
    this.select.value = opened;
    const others = entries.filter((entry) => entry.id !== opened && entry.done > 0);
    const beside = others.some((entry) => entry.id === this.beside.value) ? this.beside.value : "";
    this.beside.replaceChildren(h("option", { value: "" }, "Beside no other sweep"), ...others.map((entry) => h("option", { value: entry.id }, `Beside ${entry.name}`)));
    this.beside.value = beside;
    this.beside.hidden = others.length === 0;
  }

  /** @param {SweepWhole | null} sweep */
  show(sweep) {
    this.sweep = sweep;
    this.body.hidden = !sweep;
    if (!sweep) return;
    this.element.dataset.state = sweep.state;
    const { vary = {}, tasks, prompts = [], seeds = [0] } = sweep.spec;
    const rows = Object.entries(vary).map(([name, values]) => row(SHORT[name.split(".").at(-1) ?? ""] ?? name, Array.isArray(values) ? values.map(String) : [`${values.low} to ${values.high}`]));
    if (tasks) rows.push(row("tasks", [`${tasks.families.join(", ").replaceAll("_", " ")} × ${tasks.count}`]));
    if (prompts.length) rows.push(row("prompts", [String(prompts.length)]));
    rows.push(row("seeds", seeds.map(String)));
    this.varied.replaceChildren(...rows);
    this.bar.style.width = `${(100 * sweep.done) / Math.max(1, sweep.total)}%`;
    this.progress.setAttribute("aria-valuenow", String(sweep.done));
    this.progress.setAttribute("aria-valuemax", String(sweep.total));
    this.progress.hidden = sweep.state === "done";
    write(this.done, sweep.state === "done" ? sweep.done.toLocaleString("en") : `${sweep.done.toLocaleString("en")} of ${sweep.total.toLocaleString("en")}`);
    this.leftRow.hidden = sweep.state !== "running";
    write(this.left, sweep.seconds_left === null ? "–" : duration(sweep.seconds_left));
    const made = new Date(sweep.created);
    const when = Number.isNaN(made.getTime()) ? "" : `, ${made.toLocaleDateString([], { dateStyle: "medium" })}`;
    write(this.origin, `${sweep.recorded ? "Recorded" : "Made"} with ${sweep.model === "embedded" ? "the embedded model" : sweep.model}, revision ${sweep.revision.slice(0, 8)}${when}.`);
    this.failure.hidden = !sweep.failure;
    write(this.failure, sweep.failure);
    const { mine, state } = sweep;
    this.pause.hidden = !mine || state !== "running";
    this.resume.hidden = !mine || (state !== "paused" && state !== "cancelled");
    this.cancel.hidden = !mine || (state !== "running" && state !== "paused");
    this.forget.hidden = !mine || state === "running";
    if (this.files.dataset.id !== sweep.id) {
      this.files.dataset.id = sweep.id;
      this.files.replaceChildren(...KINDS.map((kind) => h("a.chip.small", { href: fileAddress(sweep.id, kind), download: "" }, TITLES[kind])));
    }
  }

  #picked() {
    this.dispatchEvent(new CustomEvent("pick", { detail: this.select.value }));
  }

  /** @param {"pause" | "resume" | "cancel"} action */
  async #steer(action) {
    if (!this.sweep) return;
    try {
      await steer(this.sweep.id, action);
      this.dispatchEvent(new CustomEvent("changed"));
    } catch (error) {
      this.failure.hidden = false;
      write(this.failure, /** @type {Error} */ (error).message);
    }
  }

  async #forget() {
    if (!this.sweep) return;
    try {
      await forget(this.sweep.id);
      this.dispatchEvent(new CustomEvent("gone"));
    } catch (error) {
      this.failure.hidden = false;
      write(this.failure, /** @type {Error} */ (error).message);
    }
  }
}

/**
 * @param {string} label
 * @param {string[]} values
 */
function row(label, values) {
  return h("div.lab-row", {}, h("span", {}, label), h("div.example-row", {}, ...values.map((value) => h("span.lab-value", {}, value))));
}
