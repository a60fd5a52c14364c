// @ts-check
/** Lessons on the page: the list, the part that is open, what it sets, what was seen, and the page trimmed to it. */

/** @import { Address } from "../address.js" */
/** @import { Classroom } from "./classroom.js" */
/** @import { Controls } from "../prompt/controls.js" */
/** @import { Lane } from "../lane/lane.js" */
/** @import { Lesson } from "./lessoncard.js" */
/** @import { Claim } from "../run/measures.js" */
/** @import { Menu } from "../parts/menu.js" */
/** @import { Notice } from "../parts/notice.js" */
/** @import { Views } from "../head/views.js" */
import { LessonCard, built, recordingOf } from "./lessoncard.js";
import { copied } from "../parts/copy.js";
import { address as at } from "../run/wire.js";
import { h } from "../parts/element.js";
import { holds, measuresOf } from "../run/measures.js";
import { Trim } from "./trim.js";

/** From this width on the inspector's column has room for a text. */
const WIDE = "(min-width: 1181px)";
/** Up to this width a student who follows has the canvas first, and the text below it. */
const NARROW = "(max-width: 760px)";

/** What the names of measures are in a sentence. @type {Record<string, string>} */
const NAMES = {
  steps: "steps", canvases: "canvases", tokens: "tokens", tokens_per_forward: "tokens per forward", forward_passes: "forward passes",
  used: "share of positions used", accepted_first: "positions accepted in step 1", revised: "positions revised", released: "positions released", changed: "tokens changed after they were accepted", out_of_order: "positions accepted before one to their left",
  entropy_first: "mean entropy of step 1", entropy_last: "mean entropy of the last step", shortest_canvas: "steps of the shortest canvas", loops: "loops", stop: "the run ends", canvas_stop: "the canvas ends", text: "the answer",
};
const SIGNS = /** @type {Record<string, string>} */ ({ ">=": "at least", "<=": "at most", ">": "more than", "<": "less than", "=": "", contains: "has" });

export class Guide {
  /** @param {{menu: Menu, controls: Controls, lanes: Record<"diffusion" | "autoregressive", Lane>, address: Address, classroom: Classroom, notice: Notice, views: Views, openRun: (run: string) => Promise<void>, announce: (sentence: string) => void, head: HTMLElement, side: HTMLElement}} parts */
  constructor(parts) {
    this.parts = parts;
    this.card = new LessonCard();
    this.trim = new Trim();
    /** @type {Lesson[]} */
    this.lessons = [];
    /** @type {Lesson | null} */
    this.lesson = null;
    this.part = 0;
    this.trimmed = false;
    /** Where the class is, as far as this page has gone along. */
    this.taught = "";
    const { menu, classroom, lanes } = parts;
    this.list = h("ol.runs.lessons");
    this.note = h("div.hint");
    menu.panel.append(this.list, this.note);
    menu.addEventListener("open", () => void this.#fill());
    this.card.addEventListener("next", () => this.#go(this.part + 1));
    this.card.addEventListener("back", () => this.#go(this.part - 1));
    this.card.addEventListener("close", () => this.close());
    this.card.addEventListener("run", () => this.#run());
    this.card.addEventListener("whole", () => this.#show(false));
    this.card.addEventListener("link", () => void this.#copy());
    classroom.addEventListener("lesson", (/** @type {any} */ event) => void this.#taught(event.detail));
    for (const lane of Object.values(lanes)) for (const name of ["run", "end"]) lane.addEventListener(name, () => this.#paintSeen());
    const wide = matchMedia(WIDE);
    const narrow = matchMedia(NARROW);
    const place = () => {
      const following = classroom.follow.on;
      this.card.paintRun(following);
      if (wide.matches) parts.side.prepend(this.card.element);
      else if (narrow.matches && following) classroom.question.element.after(this.card.element);
      else parts.head.append(this.card.element);
    };
    for (const width of [wide, narrow]) width.addEventListener("change", place);
    classroom.addEventListener("place", place);
    place();
  }

  async #load() {
    const response = await fetch(at("api/lessons"));
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  }

  async #fill() {
    try {
      const { lessons, mistakes } = await this.#load();
      this.lessons = lessons;
      this.list.replaceChildren(
        ...lessons.map((/** @type {Lesson} */ lesson) =>
          h("li", {}, h("button.run-open", { type: "button", onclick: () => (this.parts.menu.close(), void this.open({ name: lesson.name })) }, h("span.run-prompt", {}, lesson.title), h("span.hint", {}, `${lesson.parts.length} parts · about ${lesson.minutes} minutes`), h("span.lesson-summary.hint", {}, ...built(lesson.summary)))),
        ),
      );
      this.note.replaceChildren(...mistakes.map((/** @type {any} */ each) => h("p", {}, `${each.file}, line ${each.line}: ${each.message}`)));
    } catch (error) {
      this.note.textContent = `The lessons cannot be had: ${/** @type {Error} */ (error).message}.`;
    }
  }

  /**
   * Opens a lesson by its name.
   * @param {{name: string, part?: number, trim?: boolean}} wanted
   */
  async open({ name, part = 0, trim = false }) {
    if (!this.lessons.some((each) => each.name === name)) await this.#fill();
    const lesson = this.lessons.find((each) => each.name === name);
    if (!lesson) return this.parts.notice.say(this.lessons.length ? "There is no lesson behind this link on this server." : this.note.textContent);
    this.lesson = lesson;
    this.part = Math.max(0, Math.min(part, lesson.parts.length - 1));
    this.parts.views.choose("play");
    this.#show(trim);
    this.#tell();
  }

  /** @param {number} part */
  #go(part) {
    if (!this.lesson) return;
    this.part = part;
    this.#show(this.trimmed);
    this.card.title.focus({ preventScroll: true });
    this.card.element.scrollIntoView({ block: "nearest" });
    this.#tell();
  }

  /** @param {boolean} trimmed */
  #show(trimmed) {
    const { lesson } = this;
    if (!lesson) return;
    this.trimmed = trimmed;
    const root = /** @type {HTMLElement} */ (document.getElementById("denoise"));
    root.dataset.lesson = lesson.name;
    this.card.show(lesson, this.part, trimmed);
    this.trim.keep(trimmed ? lesson.controls : null);
    this.trim.light([]);
    this.#paintSeen();
    if (!this.parts.classroom.room.code) this.parts.address.pin(this.#hash(trimmed));
  }

  /** @param {boolean} trimmed */
  #hash(trimmed) {
    return `#lesson=${this.lesson?.name}${this.part ? `&part=${this.part + 1}` : ""}${trimmed ? "&trim" : ""}`;
  }

  close() {
    if (!this.lesson) return;
    this.lesson = null;
    this.card.element.hidden = true;
    delete document.getElementById("denoise")?.dataset.lesson;
    this.trim.keep(null);
    this.trim.light([]);
    if (!this.parts.classroom.room.code) this.parts.address.pin(null);
    this.#tell();
  }

  /** The class sees the same part. */
  #tell() {
    const { room } = this.parts.classroom;
    if (!room.teaching) return;
    const lesson = this.lesson ? { name: this.lesson.name, part: this.part } : "none";
    this.taught = JSON.stringify(this.lesson ? lesson : null);
    room.say({ type: "lead", lesson });
  }

  /** @param {{lesson: {name: string, part: number} | null, following: boolean}} detail */
  async #taught({ lesson, following }) {
    if (!following) return;
    const now = JSON.stringify(lesson);
    if (now === this.taught) return;
    const had = this.taught !== "" && this.taught !== "null";
    this.taught = now;
    if (lesson) await this.open({ ...lesson, trim: this.trimmed });
    else if (had) this.close();
  }

  /** Sets what the part sets, puts a light on it, and runs it. */
  #run() {
    const { lesson } = this;
    if (!lesson) return;
    const { controls, openRun } = this.parts;
    const recording = recordingOf(lesson, this.part);
    if (recording) return void openRun(recording);
    const recipe = lesson.parts[this.part].recipe ?? lesson.recipe;
    const before = controls.settings;
    const group = (/** @type {"sampler" | "decoding"} */ name) => Object.keys(recipe[name]).filter((field) => /** @type {any} */ (before[name])[field] !== recipe[name][field]).map((field) => (field in { t_max: 1, t_min: 1, confidence_threshold: 1, stability_threshold: 1, max_denoising_steps: 1 } || name === "decoding" ? field : "rule"));
    const lit = [...group("sampler"), ...group("decoding"), ...(recipe.seed === before.seed ? [] : ["seed"]), ...(recipe.max_new_tokens === before.max_new_tokens ? [] : ["max_new_tokens"]), ...(recipe.messages.at(-1).content === before.prompt ? [] : ["prompt"]), ...(lesson.mode === before.mode ? [] : ["mode"])];
    controls.take({ ...recipe, model: undefined }, lesson.mode);
    this.trim.light(lit);
    controls.dispatchEvent(new CustomEvent("run"));
  }

  #paintSeen() {
    const claims = this.lesson?.parts[this.part].seen ?? [];
    if (!claims.length) return this.card.paintSeen([]);
    const { lanes, controls } = this.parts;
    /** @type {Record<string, number | string>} */
    const measures = {};
    for (const mode of controls.modes) {
      const { player } = lanes[mode];
      if (!player.seenEnd || player.log.bundled) continue;
      for (const [name, value] of Object.entries(measuresOf(player.log))) measures[mode === "diffusion" || controls.modes.length === 1 ? name : `ar.${name}`] = value;
    }
    this.card.paintSeen(claims.map((claim) => ({ text: sentence(claim, measures), done: holds(claim, measures) })));
  }

  async #copy() {
    const link = new URL(this.#hash(true), location.href).href;
    if (!(await copied(link))) return this.parts.notice.say(`The clipboard cannot be used here. The link: ${link}`, "note");
    this.parts.announce("Link copied.");
    this.card.link.textContent = "Copied";
    setTimeout(() => (this.card.link.textContent = "Link"), 2000);
  }
}

/**
 * @param {Claim} claim
 * @param {Record<string, number | string>} measures
 */
function sentence({ measure, operator, value }, measures) {
  const words = (/** @type {string | number} */ each) => (typeof each === "number" ? String(each) : each.split(".").map((part) => (part === "ar" ? "AR:" : NAMES[part] ?? part.replaceAll("_", " "))).join(" "));
  const now = measures[measure];
  const said = now === undefined || measure.endsWith("text") ? "" : ` (${typeof now === "number" ? Number(now.toFixed(2)) : now.replaceAll("_", " ")} in this run)`;
  return `${words(measure)}: ${SIGNS[operator]} ${words(value)}${said}`.replace(/ +/g, " ");
}
