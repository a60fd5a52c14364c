// @ts-check
/** Runs to start from: groups by what they teach. A group's button runs its first example and shows the others. */

/** @import { Controls } from "./controls.js" */
/** @import { Status } from "../head/status.js" */
/** @import { Recipe } from "../run/wire.js" */
import { h } from "../parts/element.js";

/**
 * @typedef {{name: string, recipe: Partial<Recipe>}} Example
 * @typedef {{name: string, teaches: string, examples: Example[]}} Group
 */

export class Examples {
  /** @type {Group[]} */
  groups = [];
  /** @type {HTMLElement[]} */
  buttons = [];

  /**
   * @param {HTMLElement} element
   * @param {Controls} controls
   * @param {{groups: Group[], others: Record<string, Group[]>}} props others: those that suit a model, by its name
   * @param {Status} status
   */
  constructor(element, controls, { groups, others }, status) {
    this.controls = controls;
    this.more = h("div.example-more", { id: "example-more", hidden: true });
    this.row = h("div.example-row", { role: "group", "aria-label": "Examples, by what they teach" });
    element.append(this.row, this.more);
    this.#offer(groups);
    status.addEventListener("model", (/** @type {any} */ { detail }) => detail.model && this.#offer(others[detail.model.name] ?? this.groups));
  }

  /** @param {Group[]} groups */
  #offer(groups) {
    if (JSON.stringify(groups) === JSON.stringify(this.groups)) return;
    this.groups = groups;
    this.buttons = groups.map((group) =>
      h("button.chip.small.flat", { type: "button", "aria-expanded": "false", "aria-controls": "example-more", onclick: () => this.#open(group) }, group.name),
    );
    this.row.replaceChildren(...this.buttons);
    this.more.hidden = true;
  }

  /** @param {Group} group */
  #open(group) {
    this.buttons.forEach((button, at) => button.setAttribute("aria-expanded", String(this.groups[at] === group)));
    const chips = group.examples.map((example) =>
      h("button.chip.small", { type: "button", "aria-pressed": "false", onclick: (/** @type {any} */ event) => this.#run(example, event.currentTarget) }, example.name),
    );
    this.more.replaceChildren(h("p.hint", {}, group.teaches), h("div.example-row", {}, ...chips));
    this.more.hidden = false;
    this.#run(group.examples[0], chips[0]);
  }

  /**
   * @param {Example} example
   * @param {HTMLElement} chip
   */
  #run({ recipe }, chip) {
    for (const each of this.more.querySelectorAll("[aria-pressed]")) each.setAttribute("aria-pressed", String(each === chip));
    const { controls } = this;
    controls.take({ ...controls.recipe("diffusion"), ...recipe }, controls.settings.mode);
    controls.dispatchEvent(new CustomEvent("run"));
  }
}
