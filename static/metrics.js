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
 * @property {string} [other] what the autoregressive figure beside it is, where that is something else
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
  forward_passes: {
    label: "forward passes",
    meaning: "Passes of the model, one a token.",
    text: (figures) => String(figures.forward_passes),
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
  first_canvas: {
    label: "first canvas",
    meaning: "Device time until the first canvas was committed.",
    text: (figures) => seconds(figures.time_to_first_token),
    other: "AR's first token",
  },
  first_token: {
    label: "first token",
    meaning: "Device time until the first token was written.",
    text: (figures) => seconds(figures.time_to_first_token),
  },
  device: {
    label: "on the device",
    meaning: "Device time from the start of prefill to the last token, waiting and pace left out.",
    text: (figures) => seconds(figures.seconds),
  },
  compare: {
    label: "AR's speed",
    meaning: "Tokens a second against the same weights writing one token at a time. Only where each run had the device to itself.",
    text: () => "–",
  },
};

/** What each mode shows, left to right. */
const SLOTS = {
  diffusion: ["tokens_per_forward", "effective_steps", "tokens", "tokens_per_second", "first_canvas", "device"],
  autoregressive: ["tokens_per_forward", "forward_passes", "tokens", "tokens_per_second", "first_token", "device"],
  side_by_side: ["tokens_per_forward", "effective_steps", "tokens", "tokens_per_second", "first_canvas", "compare"],
};

/** @param {number | null} value */
function seconds(value) {
  return value === null ? "–" : `${number(value, 2)} s`;
}

const STOPS = {
  end_of_turn: "the model ended its turn",
  max_new_tokens: "the limit of new tokens was reached",
  cancelled: "it was cancelled",
  error: "it failed",
};

export class Metrics {
  constructor() {
    this.cells = SLOTS.diffusion.map(() => {
      const cell = { label: h("dt"), value: h("dd"), other: h("dd.other") };
      return { ...cell, element: h("div.metric", {}, cell.label, cell.value, cell.other) };
    });
    this.why = h("p.why", { "data-why": "" });
    const strip = h("dl.strip", {}, ...this.cells.map(({ element }) => element));
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
    const compared = compare(diffusion, autoregressive);
    SLOTS[mode].forEach((name, at) => {
      const { element, label, value, other: second } = this.cells[at];
      const cell = CELLS[name];
      element.title = cell.meaning;
      label.textContent = cell.label;
      value.dataset.metric = second.dataset.metricAr = name;
      value.textContent = name === "compare" ? compared.value : main?.finished ? cell.text(main.finished.metrics) : "–";
      second.textContent = name === "compare" ? compared.note : besides(other, cell);
    });
    const named = mode === "side_by_side";
    const sentences = [diffusion, autoregressive].filter((log) => log?.finished).map((log) => whyStopped(/** @type {RunLog} */ (log), named));
    this.why.textContent = sentences.join(" ");
    this.why.hidden = sentences.length === 0;
  }
}

/**
 * The same figure of the autoregressive run, where it has one.
 * @param {RunLog | null} log
 * @param {Cell} cell
 */
function besides(log, { text, other = "AR" }) {
  const value = log?.finished ? text(log.finished.metrics) : "–";
  return value === "–" ? "" : `${other} ${value}`;
}

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
