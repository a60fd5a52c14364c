// @ts-check
/** The figures at the end of a run, as measured by the engine; until then those that are known already. */

/** @import { RunLog } from "../run/log.js" */
/** @import { SoFar } from "../run/sofar.js" */
/** @import { Metrics as Figures } from "../run/wire.js" */
import { h, number, write } from "../parts/element.js";
import { inCircles } from "../run/loops.js";

/**
 * @typedef {object} Cell
 * @property {string} label
 * @property {string} meaning
 * @property {(figures: Shown) => string} text
 * @property {string} [other] what the autoregressive figure beside it is, where that is something else
 */

/**
 * Figures of a run that has ended, or some of them, of one that goes on.
 * @typedef {Pick<Figures, "tokens_per_forward" | "effective_denoising_steps" | "forward_passes" | "total_tokens" | "tokens_per_second" | "time_to_first_token" | "seconds"> & {accepted?: number}} Shown
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
  steps: {
    label: "steps",
    meaning: "Denoising steps so far, in all canvases together.",
    text: (figures) => String(figures.forward_passes),
  },
  accepted: {
    label: "accepted",
    meaning: "Positions of the open canvas that are accepted in this step. None of them is final.",
    text: (figures) => String(figures.accepted ?? 0),
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

/** And until its run has ended, or where it ended before anything was final. */
const SLOTS_GOING = {
  diffusion: ["steps", "accepted", "tokens", "tokens_per_second", "first_canvas", "device"],
  autoregressive: SLOTS.autoregressive,
  side_by_side: ["steps", "accepted", "tokens", "tokens_per_second", "first_canvas", "device"],
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
   * @param {import("../prompt/controls.js").PageMode} mode
   * @param {RunLog | null} diffusion null until it has ended
   * @param {RunLog | null} autoregressive
   * @param {{diffusion: SoFar | null, autoregressive: SoFar | null}} far what is known of a run without figures of its own
   */
  paint(mode, diffusion, autoregressive, far) {
    const figures = { diffusion: known(diffusion, far.diffusion), autoregressive: known(autoregressive, far.autoregressive) };
    const first = mode === "autoregressive" ? "autoregressive" : "diffusion";
    const other = mode === "side_by_side" ? figures.autoregressive : null;
    const compared = compare(diffusion, autoregressive);
    (far[first] ? SLOTS_GOING : SLOTS)[mode].forEach((name, at) => {
      const { element, label, value, other: second } = this.cells[at];
      const cell = CELLS[name];
      if (value.dataset.metric !== name) {
        value.dataset.metric = second.dataset.metricAr = name;
        element.title = cell.meaning;
        write(label, cell.label);
      }
      const shown = figures[first];
      write(value, name === "compare" ? compared.value : shown ? cell.text(shown) : "–");
      write(second, name === "compare" ? compared.note : besides(other, name, cell));
    });
    const named = mode === "side_by_side";
    const sentences = [diffusion, autoregressive].filter((log) => log?.finished).map((log) => whyStopped(/** @type {RunLog} */ (log), named));
    write(this.why, sentences.join(" "));
    this.why.hidden = sentences.length === 0;
  }
}

/**
 * Whether a run has the figures that are shown at its end. One that ended before anything was final has next to none.
 * @param {RunLog} log
 */
export function hasFigures(log) {
  return log.finished !== null && log.finished.metrics.total_tokens > 0;
}

/**
 * @param {RunLog | null} ended
 * @param {SoFar | null} far
 * @returns {Shown | null}
 */
function known(ended, far) {
  if (!far) return ended?.finished?.metrics ?? null;
  const { passes, accepted, tokens, rate, first, seconds } = far;
  return { tokens_per_forward: tokens ? tokens / passes : null, effective_denoising_steps: null, forward_passes: passes, accepted, total_tokens: tokens, tokens_per_second: rate, time_to_first_token: first, seconds };
}

/** What an autoregressive run does not have. */
const DIFFUSION_ONLY = ["steps", "accepted"];

/**
 * The same figure of the autoregressive run, where it has one.
 * @param {Shown | null} figures
 * @param {string} name
 * @param {Cell} cell
 */
function besides(figures, name, { text, other = "AR" }) {
  const value = figures && !DIFFUSION_ONLY.includes(name) ? text(figures) : "–";
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
  const steps = plural(metrics.total_denoising_steps ?? 0, "step");
  const passes = diffusion ? (metrics.canvases ? `${steps} in ${plural(metrics.canvases, "canvas", "canvases")}` : `${steps}, no canvas committed`) : plural(metrics.forward_passes, "forward pass", "forward passes");
  const positions = metrics.canvases * (log.started?.canvas_length ?? 0);
  const paid = diffusion && stop_reason === "end_of_turn" && positions > 0 ? ` ${metrics.total_tokens} of ${positions} positions paid for were used.` : "";
  const trimmed = metrics.trimmed_tokens ? ` ${plural(metrics.trimmed_tokens, "token")} beyond the limit left out.` : "";
  const shared = metrics.shared_device ? " The device was shared with other runs, so times do not compare." : "";
  const circles = inCircles(log);
  return `${subject}${STOPS[stop_reason] ?? stop_reason}: ${passes}, ${number(metrics.seconds, 2)} s on the device.${paid}${trimmed}${circles}${shared}`;
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}
