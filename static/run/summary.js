// @ts-check
/** What Python needs to draw the figure of a run: numbers only, no text of the model. */

/** @import { RunLog } from "./log.js" */
/** @import { Step, Token } from "./wire.js" */

/**
 * @param {RunLog[]} logs
 */
export function summaryOf(logs) {
  return { runs: logs.filter((log) => log.finished).map(runOf) };
}

/** @param {RunLog} log */
function runOf(log) {
  const events = log.passes().map(({ event }) => event);
  const mode = log.started?.recipe.mode ?? "diffusion";
  if (mode === "autoregressive") {
    const tokens = /** @type {Token[]} */ (events);
    return { mode, entropy: tokens.map((token) => token.entropy), device_ms: tokens.map((token) => token.device_ms) };
  }
  const steps = /** @type {Step[]} */ (events);
  return {
    mode,
    canvas_length: log.started?.canvas_length ?? 0,
    canvas: steps.map((step) => step.canvas),
    step: steps.map((step) => step.step),
    entropy: steps.map((step) => step.mean_entropy),
    accepted: steps.map((step) => step.accepted.filter(Boolean).length),
    temperature: steps.map((step) => step.temperature),
    confidence_threshold: steps.map((step) => step.confidence_threshold),
    device_ms: steps.map((step) => step.device_ms),
  };
}
