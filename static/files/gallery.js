// @ts-check
/** The gallery: recordings that the server's owner put into a folder, labelled; one click plays one. Needs no model. */

import { factsInShort, factsOf } from "../parts/entry.js";
import { h } from "../parts/element.js";
import { address } from "../run/wire.js";

/** @typedef {import("../parts/entry.js").Facts & {file: string, run: string, model: string, device: string, prompt: string}} Recording */

export class Gallery extends EventTarget {
  constructor() {
    super();
    /** @type {Map<string, HTMLElement>} */
    this.buttons = new Map();
    /** @type {Recording[]} */
    this.recordings = [];
    this.count = h("span.hint");
    this.list = h("ol.gallery-list");
    this.refused = h("ul");
    this.summary = h("summary");
    this.details = h("details.gallery-refused.hint", {}, this.summary, this.refused);
    this.element = h("section.gallery.card", { "aria-label": "Recordings", "data-own-keys": "" }, h("div.card-head", {}, h("h3", {}, "Recordings"), this.count), this.list, this.details);
    this.element.hidden = true;
  }

  /** Asks the server what there is. Where there is nothing, or no answer, nothing is shown. */
  async load() {
    try {
      const response = await fetch(address("api/recordings"));
      if (!response.ok) return;
      this.#show(await response.json());
    } catch {
      // the connection's own line says that the server is away
    }
  }

  /** @param {{recordings: Recording[], refused: {file: string, message: string}[]}} answer */
  #show({ recordings, refused }) {
    this.recordings = recordings;
    this.buttons = new Map(recordings.map((recording) => [recording.run, this.#button(recording)]));
    this.list.replaceChildren(...[...this.buttons.values()].map((button) => h("li", {}, button)));
    this.list.hidden = recordings.length === 0;
    this.count.textContent = recordings.length === 1 ? "one run, made elsewhere and kept" : recordings.length ? `${recordings.length} runs, made elsewhere and kept` : "none that can be shown";
    this.summary.textContent = refused.length === 1 ? "One file is not shown" : `${refused.length} files are not shown`;
    this.refused.replaceChildren(...refused.map(({ message }) => h("li", {}, message)));
    this.details.hidden = refused.length === 0;
    this.element.hidden = recordings.length + refused.length === 0;
  }

  /** @param {Recording} recording */
  #button(recording) {
    const { run, model, device, prompt } = recording;
    const maker = model.split("/").pop() || "an unnamed model";
    const where = device.startsWith("cuda") ? "GPU" : device.startsWith("cpu") ? "CPU" : device;
    return h(
      "button.gallery-open",
      { type: "button", "data-run": run, title: [prompt, model, device, ...factsOf(recording)].join(" · "), onclick: () => this.dispatchEvent(new CustomEvent("open", { detail: run })) },
      h("span.gallery-prompt", {}, prompt),
      h("span.gallery-maker.hint", {}, `${maker} · ${where}`),
      h("span.hint", {}, factsInShort(recording).join(" · ")),
    );
  }

  /** The first recording of each mode, as paths below the page's address. @returns {Record<string, string>} */
  get first() {
    const paths = /** @type {Record<string, string>} */ ({});
    for (const { mode, run } of this.recordings) paths[mode] ??= `api/runs/${run}/events?follow=false`;
    return paths;
  }

  /**
   * Marks what is shown.
   * @param {(string | null)[]} runs
   */
  mark(runs) {
    for (const [run, button] of this.buttons) {
      if (runs.includes(run)) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  /**
   * While one is on its way.
   * @param {string} run
   * @param {boolean} busy
   */
  wait(run, busy) {
    this.buttons.get(run)?.setAttribute("aria-busy", String(busy));
  }
}
