// @ts-check
/**
 * What the person set: prompt, mode and parameters, as Gradio's controls report them in `denoise:set` events.
 * Whoever wants to know asks here for a recipe.
 */

/** @import { Recipe, Sampler, Decoding } from "./wire.js" */

/**
 * @typedef {"diffusion" | "autoregressive" | "side_by_side"} PageMode
 * @typedef {{prompt: string, mode: PageMode, seed: number, max_new_tokens: number, sampler: Sampler, decoding: Decoding}} Settings
 */

/** An Enter soon after another must not start two runs. */
const ENTER_QUIET_MS = 300;

export class Controls extends EventTarget {
  /** @param {Settings} defaults */
  constructor(defaults) {
    super();
    /** @type {Settings} */
    this.settings = structuredClone(defaults);
    this.entered = -Infinity;
    document.addEventListener("denoise:set", (/** @type {any} */ event) => {
      for (const [path, value] of event.detail) this.#set(path, value);
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
   * @param {string} path for example `sampler.t_max`
   * @param {any} value
   */
  #set(path, value) {
    const [group, name] = path.split(".");
    const place = /** @type {any} */ (name ? this.settings[/** @type {"sampler"} */ (group)] : this.settings);
    const key = name ?? group;
    if (place[key] === value) return;
    place[key] = value;
    this.dispatchEvent(new CustomEvent("change", { detail: { group: name ? group : null, name: key } }));
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
    return { mode, messages: [{ role: "user", content: prompt }], seed, max_new_tokens, sampler: { ...sampler }, decoding: { ...decoding } };
  }
}
