// @ts-check
/** What the first canvas starts from: noise, a text of one's own at a noise level, or a text with holes. */

/** @import { Controls } from "./controls.js" */
/** @import { Edit } from "../run/wire.js" */
import { h, icon, number } from "../parts/element.js";
import { editName, momentName, placeOf } from "../run/fork.js";

const SKELETON = '{"name": "___{2}", "age": ___{2}, "city": "___{2}"}';
const HALF = 0.5;

const HINTS = {
  noise: "",
  canvas: "Each token of it gives way to a random one with this probability (Equation 1); denoising goes on from there.",
  infill: "___ is a hole of 8 tokens, ___{3} one of 3. The rest is pinned. How well holes are filled depends on what the model was trained on.",
};

export class Start {
  /**
   * @param {HTMLElement} element
   * @param {Controls} controls
   * @param {() => string} answer the text that is shown, to start from
   * @param {() => void} startOver leaves the earlier turns out
   */
  constructor(element, controls, answer, startOver) {
    this.controls = controls;
    this.startOver = startOver;
    this.kind = /** @type {keyof typeof HINTS} */ ("noise");
    this.select = h(
      "select.chip.small.speed",
      { "aria-label": "Start from", onchange: () => this.#choose(this.select.value) },
      h("option", { value: "noise" }, "noise"),
      h("option", { value: "canvas" }, "a text of your own"),
      h("option", { value: "infill" }, "a text with holes"),
    );
    this.text = h("textarea.start-text", { rows: 3, "aria-label": "Text to start from", spellcheck: "false", oninput: () => this.#tell() });
    this.noise = h("input", { type: "range", min: 0, max: 1, step: 0.01, value: HALF, "aria-label": "Noise level", oninput: () => this.#tell() });
    this.noiseValue = h("output");
    this.noiseRow = h("div.start-noise.knob", {}, h("span", {}, "Noise level"), this.noiseValue, this.noise);
    this.example = h("button.chip.small", { type: "button", onclick: () => this.#fill(SKELETON) }, "JSON skeleton");
    this.shown = h("button.chip.small", { type: "button", onclick: () => this.#fill(answer()) }, "The answer shown");
    this.hint = h("p.hint");
    this.body = h("div.start-body", {}, this.text, this.noiseRow, h("div.edit-row", {}, this.example, this.shown), this.hint);
    this.chips = h("ul.edit-chips", { "aria-label": "Also part of the next run" });
    element.append(h("label.start-row", { "data-mode": "diffusion" }, h("span", {}, "Start from"), this.select), this.body, this.chips);
    controls.addEventListener("taken", () => this.#take());
    this.#paint();
  }

  /** @param {keyof typeof HINTS} kind */
  #choose(kind) {
    this.kind = kind;
    this.#paint();
    this.#tell();
    if (kind !== "noise") this.text.focus();
  }

  /** @param {string} text */
  #fill(text) {
    this.text.value = text;
    this.#tell();
    this.text.focus();
  }

  #tell() {
    this.#paintNoise();
    const text = this.text.value;
    /** @type {Record<string, Edit>} */
    const edits = {
      canvas: { type: "canvas", canvas: 0, step: 1, text, noise: Number(this.noise.value) },
      infill: { type: "infill", text },
    };
    this.controls.startFrom(text ? edits[this.kind] ?? null : null);
  }

  /** Shows what came with a recipe. */
  #take() {
    const { start, rest } = this.controls;
    this.kind = start ? /** @type {"canvas"} */ (start.type) : "noise";
    this.select.value = this.kind;
    this.text.value = start?.text ?? this.text.value;
    if (start?.type === "canvas") this.noise.value = String(start.noise ?? 0);
    const chips = [
      ...rest.edits.map((edit) => this.#chip(`${editName(edit)} · ${momentName(placeOf(edit))}`, () => (rest.edits = rest.edits.filter((each) => each !== edit)))),
      ...(rest.earlier.length ? [this.#chip(rest.earlier.length === 1 ? "1 earlier turn" : `${rest.earlier.length} earlier turns`, this.startOver)] : []),
      ...rest.uploads.map((upload) => this.#chip(this.controls.uploadNames.get(upload.sha256) ?? (upload.type === "image" ? "a picture" : "a text file"), () => (rest.uploads = rest.uploads.filter((each) => each !== upload)))),
      ...(rest.thinking ? [this.#chip("thinking", () => (rest.thinking = false))] : []),
    ];
    this.chips.replaceChildren(...chips);
    this.#paint();
  }

  /**
   * @param {string} words
   * @param {() => void} remove
   */
  #chip(words, remove) {
    const act = () => {
      remove();
      this.controls.dispatchEvent(new CustomEvent("taken"));
    };
    return h("li.edit-chip", {}, h("span.edit-words", {}, words), h("button.ghost.tiny", { type: "button", "aria-label": `Remove: ${words}`, onclick: act }, icon("close")));
  }

  #paintNoise() {
    this.noiseValue.textContent = number(Number(this.noise.value), 2);
    this.noise.style.setProperty("--range_progress", `${100 * Number(this.noise.value)}%`);
  }

  #paint() {
    this.body.hidden = this.kind === "noise";
    this.noiseRow.hidden = this.kind !== "canvas";
    this.#paintNoise();
    this.example.hidden = this.kind !== "infill";
    this.shown.hidden = this.kind !== "canvas";
    this.text.placeholder = this.kind === "infill" ? "The ___{1} said ___." : "A draft of your own";
    this.hint.textContent = HINTS[this.kind];
    this.chips.hidden = this.chips.childElementCount === 0;
  }
}
