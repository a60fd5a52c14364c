// @ts-check
/** The lab: sweeps that are there, a new one, the one that is looked at, as map, figures and table. */

/** @import { SweepEntry, SweepWhole } from "./labapi.js" */
import { LabForm } from "./labform.js";
import { LabPoint, key } from "./labpoint.js";
import { LabTable } from "./labtable.js";
import { SweepCard } from "./labcard.js";
import { draw, same } from "./plots.js";
import { figures, list, start, whole } from "./labapi.js";
import { h, write } from "../parts/element.js";

const ASK_EVERY_MS = 1500;
/** Figures that stand above the table, by the beginnings of their titles. */
const FIRST = ["Correctness against tokens", "Agreement against tokens", "Steps by family", "Beside "];
/** What stands where no run is done yet. */
const NOTHING = { running: "The first runs are on their way.", paused: "Paused before its first run was done.", cancelled: "Ended before its first run was done.", done: "" };

export class Lab extends EventTarget {
  /**
   * @param {HTMLElement} element
   * @param {{usual: Record<string, any>, tokens: number, announce: (sentence: string) => void}} parts
   */
  constructor(element, { usual, tokens, announce }) {
    super();
    this.on = false;
    this.announce = announce;
    /** @type {SweepWhole | null} */
    this.sweep = null;
    this.chosen = "";
    this.drawn = "";
    this.turn = 0;
    this.note = h("p.lab-error", { role: "alert" });
    this.note.hidden = true;
    this.card = new SweepCard();
    this.form = new LabForm(usual, tokens);
    this.point = new LabPoint();
    this.table = new LabTable();
    this.first = h("div.lab-figures.lab-first");
    this.others = h("div.lab-figures");
    /** @type {Map<string, HTMLElement>} */
    this.plots = new Map();
    this.empty = h("p.hint.lab-empty");
    element.append(h("div.lab-side", {}, this.note, this.card.element, this.point.element), h("div.lab-main", {}, this.form.element, this.empty, this.first, this.table.element, this.others));
    for (const part of [this.card, this.form, this.table]) part.element.hidden = true;
    write(this.empty, "Fetching the sweeps…");
    this.card.addEventListener("pick", (/** @type {any} */ event) => void this.open(event.detail).then(() => this.#said()));
    this.card.addEventListener("new", (/** @type {any} */ event) => this.#new(event.detail));
    this.card.addEventListener("changed", () => this.sweep && void this.open(this.sweep.id));
    this.card.addEventListener("gone", () => void this.open(""));
    this.card.addEventListener("beside", () => this.sweep && void this.#draw(this.sweep.id));
    this.form.addEventListener("start", (/** @type {any} */ event) => void this.#start(event.detail));
    this.table.addEventListener("choose", (/** @type {any} */ event) => this.choose(event.detail));
  }

  #said() {
    this.dispatchEvent(new CustomEvent("said"));
  }

  /** Comes to the front, with the sweep that was looked at, or the first there is. @param {string} [id] */
  async show(id = "") {
    this.on = true;
    await this.open(id || this.sweep?.id || "");
  }

  /** Goes to the back; what is going on on the server goes on. */
  hide() {
    this.on = false;
    clearTimeout(this.timer);
  }

  /** @param {string} id of a sweep; none for the first of the list */
  async open(id) {
    this.turn += 1;
    const { turn } = this;
    clearTimeout(this.timer);
    try {
      const { sweeps: entries, families } = await list();
      if (turn !== this.turn) return;
      this.form.offer(families);
      const wanted = entries.find((entry) => entry.id === id)?.id ?? id;
      const first = entries.find((entry) => entry.state === "running") ?? entries.find((entry) => entry.recorded) ?? entries[0];
      const opened = wanted || first?.id || "";
      const found = opened ? await whole(opened) : null;
      if (turn !== this.turn) return;
      this.#say("");
      this.card.element.hidden = false;
      this.card.list(entries, opened);
      this.form.element.hidden = Boolean(found);
      if (!found) void this.form.estimate();
      if (found?.id !== this.sweep?.id) {
        this.chosen = "";
        this.drawn = "";
        this.first.replaceChildren();
        this.others.replaceChildren();
        this.plots.clear();
      }
      this.#paint(found);
    } catch (error) {
      if (turn !== this.turn) return;
      this.#say(/** @type {Error} */ (error).message);
      if (!this.sweep) this.empty.hidden = true;
    }
  }

  async #refresh() {
    if (!this.sweep || !this.on) return;
    const { turn } = this;
    clearTimeout(this.timer);
    try {
      const found = await whole(this.sweep.id);
      if (turn !== this.turn || !this.on) return;
      const ended = this.sweep.state === "running" && found.state !== "running";
      this.#say("");
      this.#paint(found);
      if (ended) {
        this.announce(found.state === "done" ? `The sweep is done: ${found.done} runs.` : `The sweep is ${found.state}.`);
        void this.open(found.id);
      }
    } catch (error) {
      if (turn !== this.turn) return;
      this.#say(/** @type {Error} */ (error).message);
      this.timer = setTimeout(() => this.#refresh(), 2 * ASK_EVERY_MS);
    }
  }

  /** @param {SweepWhole | null} sweep */
  #paint(sweep) {
    this.sweep = sweep;
    this.card.show(sweep);
    const some = Boolean(sweep?.settings.length);
    this.table.element.hidden = !some;
    this.first.hidden = this.others.hidden = !some;
    this.empty.hidden = some || !sweep;
    if (sweep) write(this.empty, NOTHING[sweep.state]);
    if (!sweep) {
      void this.point.show(/** @type {any} */ (null), null);
      return;
    }
    if (!this.chosen && sweep.state !== "running") this.chosen = key(sweep.settings.find((line) => line.usual) ?? sweep.settings[0] ?? /** @type {any} */ ({ setting: {} }));
    this.table.show(sweep, this.chosen);
    void this.point.show(sweep, sweep.settings.find((line) => key(line) === this.chosen) ?? null);
    const drawn = `${sweep.id} ${sweep.done}`;
    if (drawn !== this.drawn && some) {
      this.drawn = drawn;
      void this.#draw(sweep.id);
    }
    if (sweep.state === "running") this.timer = setTimeout(() => this.#refresh(), ASK_EVERY_MS);
  }

  /** @param {string} id */
  async #draw(id) {
    try {
      const beside = this.card.beside.value;
      const made = await figures(id, beside);
      if (this.sweep?.id !== id || this.card.beside.value !== beside) return;
      this.made = made;
      for (const [title, plot] of this.plots) {
        if (title in made) continue;
        plot.closest("section")?.remove();
        this.plots.delete(title);
      }
      await this.redraw();
    } catch (error) {
      this.#say(`The figures cannot be drawn: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** The figures in the theme's colours. */
  async redraw() {
    if (!this.on) return;
    for (const title of Object.keys(this.made ?? {})) {
      if (this.plots.has(title)) continue;
      const plot = /** @type {HTMLElement} */ (h("div.lab-plot"));
      this.plots.set(title, plot);
      const place = FIRST.some((beginning) => title.startsWith(beginning)) ? this.first : this.others;
      place.append(h("section.card.lab-card", { "aria-label": title }, h("h3", {}, title), plot));
    }
    for (const [title, figure] of Object.entries(this.made ?? {})) {
      const plot = this.plots.get(title);
      if (plot) await draw(plot, figure, this.chosen, (setting) => this.choose(setting));
    }
  }

  /** @param {string} setting JSON, however its fields are ordered */
  choose(setting) {
    const line = this.sweep?.settings.find((each) => same(key(each), setting));
    if (!line || !this.sweep) return;
    this.chosen = key(line);
    this.table.show(this.sweep, this.chosen);
    void this.point.show(this.sweep, line);
    void this.redraw();
    if (innerWidth < 760) this.point.element.scrollIntoView({ block: "nearest" });
  }

  /** @param {import("./labspec.js").Spec | null} spec */
  #new(spec) {
    this.turn += 1;
    clearTimeout(this.timer);
    if (spec) this.form.fill(spec);
    this.card.list(this.card.entries, "");
    this.form.element.hidden = false;
    this.#paint(null);
    void this.form.estimate();
    this.form.name.focus();
  }

  /** @param {string} spec */
  async #start(spec) {
    try {
      const { id } = await start(spec);
      this.announce("The sweep has started.");
      await this.open(id);
      this.#said();
    } catch (error) {
      this.form.refuse(error);
    }
  }

  /** @param {string} words */
  #say(words) {
    this.note.hidden = !words;
    this.note.textContent = words;
  }
}
