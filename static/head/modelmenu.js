// @ts-check
/** The model's name in the head; where the server has a choice, a menu that switches between models. */

/** @import { Room } from "../classroom/room.js" */
/** @import { Socket } from "../live/socket.js" */
import { called } from "../live/introduction.js";
import { h, icon } from "../parts/element.js";
import { Menu } from "../parts/menu.js";

/**
 * What the server says of its model.
 * @typedef {object} Models
 * @property {"loading" | "ready" | "failed"} status
 * @property {string} message
 * @property {any[]} models  the one that is loaded
 * @property {string[]} [choices]
 * @property {{model: string, message: string, failed: boolean} | null} [switch]
 */

const FOR_ALL = "One model is in memory at a time: a switch is for everybody on this server, and begins when nothing runs.";
const STUDENT = "In a room its teacher switches the model.";

export class ModelMenu extends EventTarget {
  constructor() {
    super();
    this.chip = h("span.chip.flat", { "data-model": "loading" }, "model loading…");
    this.menu = new Menu("Model", "Model: switch to another one");
    this.menu.element.classList.add("models");
    this.menu.element.hidden = true;
    this.list = h("ul.model-list");
    this.note = h("p.hint", {}, FOR_ALL);
    this.progress = h("p.model-progress", { role: "status" });
    this.menu.panel.append(this.list, this.progress, this.note);
    /** @type {Map<string, HTMLElement>} */
    this.buttons = new Map();
    /** @type {Models | null} */
    this.told = null;
    /** Why this page's wish was refused. */
    this.refusal = "";
    /** Whether a switch was this page's wish: whoever did not ask for it need not see that it failed. */
    this.asked = false;
    this.menu.addEventListener("open", () => {
      this.refusal = "";
      this.asked = false;
      if (this.told) this.paint(this.told);
    });
  }

  /** What stands in the head. */
  get elements() {
    return [this.chip, this.menu.element];
  }

  /**
   * @param {Socket} socket
   * @param {Room} room
   */
  connect(socket, room) {
    this.socket = socket;
    this.room = room;
    for (const news of ["state", "end"]) room.addEventListener(news, () => this.#paintChoices());
  }

  /** @param {Models} told */
  paint(told) {
    this.told = told;
    const model = told.models[0];
    const switches = (told.choices ?? []).length > 1;
    this.chip.hidden = switches;
    this.menu.element.hidden = !switches;
    const { button } = this.menu;
    for (const each of [this.chip, button]) {
      each.dataset.model = told.status;
      each.title = model ? `${Number(model.parameters).toLocaleString("en")} parameters, ${model.dtype}, canvas of ${model.canvas_length} tokens` : told.message;
      each.classList.toggle("warn", told.status === "failed" || (this.asked && !this.menu.isOpen && Boolean(told.switch?.failed)));
      const words = model ? [called(model.name), h("span.device", {}, ` · ${placeOf(model)}`)] : [told.status === "failed" ? "model failed to load" : "model loading…"];
      each.replaceChildren(h("span.model-name", {}, ...words), ...(each === button ? [icon("down")] : []));
    }
    button.setAttribute("aria-label", `Model: ${model ? called(model.name) : told.message}`);
    if (switches) this.#paintChoices();
  }

  #paintChoices() {
    const { told } = this;
    if (!told) return;
    const choices = told.choices ?? [];
    if ([...this.buttons.keys()].join("\n") !== choices.join("\n")) {
      this.buttons = new Map(choices.map((name) => [name, h("button.run-open.model-choice", { type: "button", onclick: () => this.#choose(name) })]));
      this.list.replaceChildren(...[...this.buttons.values()].map((button) => h("li", {}, button)));
    }
    const [model] = told.models;
    const wanted = told.switch && !told.switch.failed ? told.switch.model : null;
    for (const [name, button] of this.buttons) {
      const used = model?.name === name;
      const mark = name === wanted ? "on its way" : used ? "in use" : "";
      const facts = used ? `${short(model.parameters)} parameters, canvas of ${model.canvas_length} tokens` : "";
      button.replaceChildren(h("span.model-line", {}, h("span.run-prompt", {}, called(name)), h("span.model-mark", {}, mark)), ...(facts ? [h("span.hint", {}, facts)] : []));
      button.setAttribute("aria-current", String(used));
      button.setAttribute("aria-disabled", String(used || !this.#may));
    }
    this.note.textContent = this.#student ? STUDENT : FOR_ALL;
    const failed = told.switch?.failed || told.status === "failed";
    const words = this.refusal || told.switch?.message || (told.status === "ready" ? "" : told.message);
    this.progress.textContent = words;
    this.progress.hidden = !words;
    this.progress.dataset.kind = this.refusal || failed ? "error" : "note";
  }

  get #student() {
    return this.room?.state?.role === "student";
  }

  /** Whether a choice does anything now. */
  get #may() {
    const { told } = this;
    return told !== null && told.status !== "loading" && !(told.switch && !told.switch.failed) && !this.#student;
  }

  /** @param {string} name */
  #choose(name) {
    if (!this.#may || this.told?.models[0]?.name === name) return;
    this.refusal = "";
    this.asked = true;
    const refused = (/** @type {string} */ sentence) => {
      this.refusal = sentence;
      this.#paintChoices();
    };
    if (!this.socket?.say({ type: "switch", model: name }, (error) => refused(error.message))) refused("There is no connection to the server; it is being tried again.");
  }
}

/** @param {{device: string}} model */
function placeOf({ device }) {
  return String(device).replace(/^cpu$/, "CPU").replace(/^cuda/, "CUDA");
}

/** @param {number} parameters */
function short(parameters) {
  return parameters >= 1e9 ? `${(parameters / 1e9).toFixed(1)} billion` : parameters >= 1e6 ? `${(parameters / 1e6).toFixed(1)} million` : Number(parameters).toLocaleString("en");
}
