// @ts-check
/**
 * What the person set: prompt, mode and parameters, as Gradio's controls report them in `denoise:set` events.
 * Whoever wants to know asks here for a recipe; whoever has a recipe puts it here.
 */

/** @import { Decoding, Edit, Recipe, Sampler, Upload } from "../run/wire.js" */
import { contentOf, textOf, uploadsOf } from "../run/prompts.js";
import { samplerOf } from "../run/rules.js";

/**
 * @typedef {"diffusion" | "autoregressive" | "side_by_side"} PageMode
 * @typedef {{prompt: string, mode: PageMode, seed: number, max_new_tokens: number, sampler: Sampler, decoding: Decoding}} Settings
 */

/** An Enter soon after another must not start two runs. */
const ENTER_QUIET_MS = 300;
/** The slider of new tokens goes so far: farther, nobody could set a short answer with it. A link may ask for more. */
const MOST_CANVASES = 16;
/** The buttons of a run take each other's place, so the second click of a double click must not press the next one. */
const NEXT_QUIET_MS = 600;

export class Controls extends EventTarget {
  /**
   * @param {Settings} defaults
   * @param {{shown: number, allowed: number}} tokens new ones at most: where the slider ends, and what the server allows
   */
  constructor(defaults, tokens) {
    super();
    this.defaults = defaults;
    this.tokens = tokens;
    /** @type {Settings} */
    this.settings = structuredClone(defaults);
    /** What the first canvas starts from instead of noise. @type {Edit | null} */
    this.start = null;
    /** What came with a recipe and has no control of its own: further edits, earlier turns, thinking, uploads. */
    this.rest = nothing();
    /** What uploads are called here, by hash. @type {Map<string, string>} */
    this.uploadNames = new Map();
    this.entered = -Infinity;
    this.pressed = { id: "", at: -Infinity };
    document.addEventListener("click", (event) => this.#quiet(event), { capture: true });
    document.addEventListener("denoise:set", (/** @type {any} */ event) => {
      for (const [path, value] of event.detail) this.set(path, value);
    });
    document.addEventListener("denoise:do", (/** @type {any} */ event) => this.dispatchEvent(new CustomEvent(event.detail)));
    document.getElementById("prompt")?.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey) || event.timeStamp - this.entered < ENTER_QUIET_MS) return;
      event.preventDefault();
      this.entered = event.timeStamp;
      this.dispatchEvent(new CustomEvent("run"));
    });
  }

  /**
   * Stops a click on a button that has just come up under the pointer.
   * @param {MouseEvent} event
   */
  #quiet(event) {
    const id = /** @type {HTMLElement} */ (event.target).closest("#run-buttons button")?.id;
    if (!id) return;
    if (id !== this.pressed.id && event.timeStamp - this.pressed.at < NEXT_QUIET_MS) {
      event.stopImmediatePropagation();
      event.preventDefault();
    } else this.pressed = { id, at: event.timeStamp };
  }

  /**
   * @param {string} path for example `sampler.t_max`
   * @param {any} value
   */
  set(path, value) {
    const [group, name] = path.split(".");
    const place = /** @type {any} */ (name ? this.settings[/** @type {"sampler"} */ (group)] : this.settings);
    const key = name ?? group;
    if (place[key] === value) return;
    place[key] = value;
    this.dispatchEvent(new CustomEvent("change", { detail: { group: name ? group : null, name: key } }));
  }

  /**
   * Puts everything as a recipe has it, on the page too.
   * @param {Recipe} recipe
   * @param {PageMode} mode
   */
  take(recipe, mode) {
    const { prompt, sampler, decoding } = { prompt: textOf(recipe.messages[recipe.messages.length - 1]?.content), ...recipe };
    const edits = recipe.edits ?? [];
    this.start = edits.find(isStart) ?? null;
    const uploads = uploadsOf(recipe.messages[recipe.messages.length - 1]?.content);
    this.rest = { edits: edits.filter((edit) => edit !== this.start), earlier: recipe.messages.slice(0, -1), thinking: recipe.thinking ?? false, uploads };
    const values = { prompt, mode, seed: recipe.seed, max_new_tokens: recipe.max_new_tokens };
    for (const [name, value] of Object.entries(values)) this.set(name, value);
    for (const [name, value] of Object.entries(samplerOf(sampler))) this.set(`sampler.${name}`, value);
    for (const [name, value] of Object.entries(decoding)) this.set(`decoding.${name}`, value);
    this.#show();
    this.dispatchEvent(new CustomEvent("taken"));
  }

  /**
   * Puts another prompt into its place.
   * @param {string} prompt
   */
  write(prompt) {
    this.set("prompt", prompt);
    this.#show();
  }

  /** @param {PageMode} mode */
  switchTo(mode) {
    this.set("mode", mode);
    this.#show();
  }

  /**
   * Offers answers as long as a model takes them.
   * @param {{canvas_length: number, context_length: number}} model
   */
  fit({ canvas_length, context_length }) {
    const shown = Math.max(1, Math.min(this.tokens.allowed, MOST_CANVASES * canvas_length, context_length - canvas_length));
    if (shown === this.tokens.shown) return;
    this.tokens.shown = shown;
    this.#show();
  }

  /** Has Gradio's components show what is set: a button of the page hands them their values. */
  #show() {
    const { prompt, mode, seed, max_new_tokens: value, sampler, decoding } = this.settings;
    const max_new_tokens = { __type__: "update", value, maximum: Math.max(value, this.tokens.shown) }; // as Gradio takes it
    const root = document.getElementById("denoise");
    if (root) root.dataset.values = JSON.stringify({ prompt, mode, seed, max_new_tokens, ...sampler, ...decoding });
    document.getElementById("show-values")?.click();
  }

  /**
   * What the first canvas starts from.
   * @param {Edit | null} edit
   */
  startFrom(edit) {
    this.start = edit;
    this.dispatchEvent(new CustomEvent("change", { detail: { group: null, name: "start" } }));
  }

  /** Forgets what came with a recipe and has no control of its own. */
  dropRest() {
    this.rest = nothing();
    this.dispatchEvent(new CustomEvent("taken"));
  }

  /** The modes to run, in order. @returns {("diffusion" | "autoregressive")[]} */
  get modes() {
    return this.settings.mode === "side_by_side" ? ["diffusion", "autoregressive"] : [this.settings.mode];
  }

  /**
   * @param {"diffusion" | "autoregressive"} mode
   * @returns {Recipe}
   */
  recipe(mode) {
    const { prompt, seed, max_new_tokens, sampler, decoding } = this.settings;
    const edits = [...(this.start ? [this.start] : []), ...this.rest.edits].filter((edit) => (edit.index !== undefined) === (mode === "autoregressive"));
    return {
      mode,
      messages: [...this.rest.earlier, { role: "user", content: contentOf(this.rest.uploads, prompt) }],
      thinking: this.rest.thinking,
      seed,
      max_new_tokens,
      sampler: samplerOf(sampler),
      decoding: { ...decoding },
      edits,
    };
  }

  /** The recipe that leaves everything as it is at first, without a prompt. @returns {Recipe} */
  get usual() {
    const { seed, max_new_tokens, sampler, decoding } = this.defaults;
    return { mode: "diffusion", messages: [{ role: "user", content: "" }], thinking: false, seed, max_new_tokens, sampler: samplerOf(sampler), decoding, edits: [] };
  }
}

/** @returns {{edits: Edit[], earlier: Recipe["messages"], thinking: boolean, uploads: Upload[]}} */
function nothing() {
  return { edits: [], earlier: [], thinking: false, uploads: [] };
}

/**
 * Whether an edit says what the run starts from.
 * @param {Edit} edit
 */
function isStart(edit) {
  return edit.type === "infill" || (edit.type === "canvas" && edit.canvas === 0 && edit.step === 1 && typeof edit.text === "string");
}
