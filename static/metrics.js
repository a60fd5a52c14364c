// @ts-check
/** The figures at the end of a run, as measured by the engine; until then the places stand empty. */

/** @import { RunLog } from "./log.js" */
/** @import { Metrics as Figures } from "./wire.js" */
import { h, number } from "./element.js";

/**
 * @typedef {object} Cell
 * @property {string} label
 * @property {string} meaning
 * @property {(figures: Figures) => string} text
 */

/** @type {Record<string, Cell>} */
const CELLS = {
  tokens_per_forward: {
    label: "tokens per forward",
    meaning: "Total tokens / (denoising steps + canvases − 1). The report's Equation 10.",
    text: (figures) => number(figures.tokens_per_forward, 1),
  },
  effective_steps: {
    label: "effective steps",
    meaning: "Steps per canvas, weighted by its tokens. The report's Equation 9.",
    text: (figures) => number(figures.effective_denoising_steps, 1),
  },
  tokens: {
    label: "tokens",
    meaning: "Tokens up to and including the end of turn.",
    text: (figures) => String(figures.total_tokens),
  },
  tokens_per_second: {
    label: "tokens/s",
    meaning: "Per second of device time, without the prompt's prefill and without the pace you chose.",
    text: (figures) => number(figures.tokens_per_second, 0),
  },
  first: {
    label: "first canvas",
    meaning: "Device time until the first canvas was committed, or the first token written.",
    text: (figures) => (figures.time_to_first_token === null ? "–" : `${number(figures.time_to_first_token, 2)} s`),
  },
};

const STOPS = {
  end_of_turn: "the model ended its turn",
  max_new_tokens: "the limit of new tokens was reached",
  cancelled: "it was cancelled",
  error: "it failed",
};

export class Metrics {
  constructor() {
    /** @type {Map<string, {value: HTMLElement, other: HTMLElement, label: HTMLElement}>} */
    this.cells = new Map();
    const strip = h("dl.strip");
    for (const [name, { label, meaning }] of [...Object.entries(CELLS), /** @type {const} */ (["compare", COMPARE])]) {
      const cell = { value: h("dd", { "data-metric": name }, "–"), other: h("dd.other", { "data-metric-ar": name }), label: h("dt", {}, label) };
      this.cells.set(name, cell);
      strip.append(h("div.metric", { title: meaning }, cell.label, cell.value, cell.other));
    }
    this.why = h("p.why", { "data-why": "" });
    this.element = h("section.card.metrics", { "aria-label": "Figures of the run" }, strip, this.why);
  }

  /**
   * @param {import("./controls.js").PageMode} mode
   * @param {RunLog | null} diffusion null until it has ended
   * @param {RunLog | null} autoregressive
   */
  paint(mode, diffusion, autoregressive) {
    const main = mode === "autoregressive" ? autoregressive : diffusion;
    const other = mode === "side_by_side" ? autoregressive : null;
    for (const [name, { text }] of Object.entries(CELLS)) {
      this.#put(name, main?.finished ? text(main.finished.metrics) : "–", besides(other, text));
    }
    const first = this.cells.get("first");
    if (first) first.label.textContent = mode === "autoregressive" ? "first token" : "first canvas";
    const compared = compare(diffusion, autoregressive);
    this.#put("compare", compared.value, compared.note);
    const named = mode === "side_by_side";
    const sentences = [diffusion, autoregressive].filter((log) => log?.finished).map((log) => whyStopped(/** @type {RunLog} */ (log), named));
    this.why.textContent = sentences.join(" ");
    this.why.hidden = sentences.length === 0;
  }

  /**
   * @param {string} name
   * @param {string} value
   * @param {string} other
   */
  #put(name, value, other) {
    const cell = this.cells.get(name);
    if (!cell) return;
    cell.value.textContent = value;
    cell.other.textContent = other;
  }
}

/**
 * The same figure of the autoregressive run, where it has one.
 * @param {RunLog | null} log
 * @param {Cell["text"]} text
 */
function besides(log, text) {
  const value = log?.finished ? text(log.finished.metrics) : "–";
  return value === "–" ? "" : `AR ${value}`;
}

const COMPARE = { label: "AR's speed", meaning: "Tokens a second against the same weights writing one token at a time. Only where each run had the device to itself." };

/**
 * @param {RunLog | null} diffusion
 * @param {RunLog | null} autoregressive
 */
function compare(diffusion, autoregressive) {
  const ours = diffusion?.finished?.metrics;
  const theirs = autoregressive?.finished?.metrics;
  if (!ours || !theirs) return { value: "–", note: "" };
  if (ours.shared_device || theirs.shared_device) return { value: "–", note: "shared device" };
  if (!ours.tokens_per_second || !theirs.tokens_per_second) return { value: "–", note: "" };
  return { value: `${number(ours.tokens_per_second / theirs.tokens_per_second, 1)} ×`, note: "" };
}

/**
 * Why a run stopped, in a sentence.
 * @param {RunLog} log
 * @param {boolean} named whether the mode has to be said
 */
function whyStopped(log, named) {
  const finished = log.finished;
  if (!finished) return "";
  const { metrics, stop_reason } = finished;
  const diffusion = log.started?.recipe.mode !== "autoregressive";
  const subject = named ? (diffusion ? "Diffusion stopped because " : "Autoregressive stopped because ") : "Stopped because ";
  const passes = diffusion ? `${plural(metrics.total_denoising_steps ?? 0, "step")} in ${plural(metrics.canvases, "canvas", "canvases")}` : plural(metrics.forward_passes, "forward pass", "forward passes");
  const positions = metrics.canvases * (log.started?.canvas_length ?? 0);
  const paid = diffusion && stop_reason === "end_of_turn" && positions > 0 ? ` ${metrics.total_tokens} of ${positions} positions paid for were used.` : "";
  const trimmed = metrics.trimmed_tokens ? ` ${plural(metrics.trimmed_tokens, "token")} beyond the limit left out.` : "";
  const shared = metrics.shared_device ? " The device was shared with other runs, so times do not compare." : "";
  return `${subject}${STOPS[stop_reason] ?? stop_reason}: ${passes}, ${number(metrics.seconds, 2)} s on the device.${paid}${trimmed}${shared}`;
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}
