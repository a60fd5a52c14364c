// @ts-check
/** A trimmed page: only the controls that a lesson names. And the light on those that it has just set. */

/** Where each control is; the names are those of playground/lessons/lesson.py. */
export const PLACES = /** @type {Record<string, string>} */ ({
  prompt: "#prompt",
  mode: "#mode, .race",
  start: "#start",
  examples: "#examples",
  rule: "#rule",
  t_max: "#t_max",
  t_min: "#t_min",
  confidence_threshold: "#confidence_threshold",
  stability_threshold: "#stability_threshold",
  max_denoising_steps: "#max_denoising_steps",
  temperature: "#temperature",
  top_k: "#top_k",
  top_p: "#top_p",
  max_new_tokens: "#max_new_tokens",
  seed: "#seed-row",
  inspector: "#inspector .inspect:not(.edit)",
  edits: "#edits, #inspector .what-if",
  map: ".map",
  figures: ".metrics, #figure",
});

/** Cards that go when nothing of theirs is left. */
const CARDS = {
  "#sampler": ["rule", "t_max", "t_min", "confidence_threshold", "stability_threshold", "max_denoising_steps"],
  "#decoding": ["temperature", "top_k", "top_p"],
  "#limits": ["max_new_tokens", "seed"],
};

/** Of use to who explores, and in the way of who follows a lesson. */
const TOOLS = ".views, .tools-button, .tools:not(.views) > :not(.theme)";

export class Trim {
  constructor() {
    this.sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.sheet];
    /** @type {readonly string[] | null} */
    this.kept = null;
    /** @type {string[]} */
    this.lit = [];
  }

  /**
   * Leaves only these controls; null shows all of the page again.
   * @param {readonly string[] | null} kept
   */
  keep(kept) {
    this.kept = kept;
    this.#write();
  }

  /**
   * Puts a light on these controls.
   * @param {string[]} names
   */
  light(names) {
    this.lit = names.filter((name) => Object.hasOwn(PLACES, name));
    this.#write();
  }

  #write() {
    const rules = [];
    const { kept } = this;
    if (kept) {
      const gone = Object.keys(PLACES).filter((name) => !kept.includes(name)).map((name) => PLACES[name]);
      const cards = Object.entries(CARDS).filter(([, names]) => !names.some((name) => kept.includes(name))).map(([place]) => place);
      rules.push(`#denoise :is(${[...gone, ...cards, TOOLS].join(", ")}) { display: none !important; }`);
    }
    if (this.lit.length) rules.push(`#denoise :is(${this.lit.map((name) => PLACES[name]).join(", ")}) { outline: 2px solid var(--accent-faint); outline-offset: 5px; border-radius: 4px; }`);
    this.sheet.replaceSync(rules.join("\n"));
  }
}
