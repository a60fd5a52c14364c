// @ts-check
/**
 * The entry of a recorded run in one file: no server, no network, no Gradio.
 * The document hands the trace over (playground/trace/replay_page.py); from there on it is the page's own log, player and views.
 */

/** @import { RunEvent } from "./run/wire.js" */
import { AcceptanceMap } from "./lane/map.js";
import { Answer } from "./lane/answer.js";
import { Inspector } from "./inspector/inspector.js";
import { Lane } from "./lane/lane.js";
import { Pace } from "./live/pace.js";
import { textOf } from "./run/prompts.js";
import { RunLog } from "./run/log.js";
import { Theme } from "./parts/theme.js";
import { h, number } from "./parts/element.js";
import { parseTrace } from "./run/wire.js";

const STEPS_PER_SECOND = 4;

/**
 * Entropies are float32 values, spelled as shortly as that allows.
 * @param {any} event
 * @returns {RunEvent}
 */
function rounded(event) {
  if (Array.isArray(event.entropy)) event.entropy = event.entropy.map(Math.fround);
  else if (event.entropy !== undefined) event.entropy = Math.fround(event.entropy);
  return event;
}

/** @param {RunLog} log */
function facts(log) {
  const { started, finished, error } = log;
  const day = started ? started.created.slice(0, 16).replace("T", " ") : "";
  const parts = [`of ${started?.recipe.model ?? "an unknown model"}, revision ${started?.model_revision ?? "unknown"}`, `made ${day} UTC on ${started?.device ?? "?"} (${started?.dtype ?? "?"})`];
  if (finished) {
    const { metrics } = finished;
    parts.push(`${metrics.total_tokens} tokens in ${metrics.forward_passes} forward passes, ${number(metrics.seconds, 2)} s on the device`, `ended by ${finished.stop_reason.replaceAll("_", " ")}`);
  }
  if (error) parts.push(error.message);
  return parts.join(" · ");
}

/** @param {RunLog} log */
function open(log) {
  const root = /** @type {HTMLElement} */ (document.getElementById("denoise"));
  const mode = log.started?.recipe.mode ?? "diffusion";
  root.dataset.mode = mode;
  const theme = new Theme();
  const pace = new Pace(STEPS_PER_SECOND);
  const lane = new Lane(mode, pace);
  const map = new AcceptanceMap(lane);
  const answer = new Answer("Answer");
  const spoken = h("p.sr-only", { role: "status" });
  const inspected = h("div.piece");
  new Inspector(inspected, lane, (sentence) => (spoken.textContent = sentence));
  root.append(
    h("header#head", {}, h("div.bar", {}, h("h1", {}, "A recorded run"), h("span.chip", { "data-source": "recording" }, "recording"), h("span.grow"), theme.button), h("p.replay-prompt", {}, textOf(log.started?.recipe.messages.at(-1)?.content)), h("p.hint.replay-facts", {}, facts(log))),
    h("div#stage", {}, h("div.piece", {}, lane.element, answer.element, map.element)),
    h("div#inspector", {}, inspected),
    spoken,
  );

  /** @type {number | null} */
  let beat = null;
  const tick = (/** @type {number} */ now) => {
    lane.player.tick(now);
    beat = lane.player.playing && !lane.player.atEnd ? requestAnimationFrame(tick) : null;
  };
  const wake = () => (beat ??= requestAnimationFrame(tick));
  lane.addEventListener("state", wake);
  lane.addEventListener("end", () => answer.paint(log));
  document.addEventListener("keydown", (event) => lane.bar.key(event));
  theme.addEventListener("change", () => {
    map.repaint();
    lane.repaint();
  });
  addEventListener("resize", () => lane.release());

  lane.show(log);
  lane.say(log.error ? log.error.message : "", "error");
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) lane.player.end();
  wake();
  root.dataset.ready = "yes";
}

/**
 * Plays a trace; called by the document once it has unpacked it.
 * @param {string} trace
 */
export function play(trace) {
  const log = new RunLog({ recording: true });
  for (const event of parseTrace(trace)) log.append(rounded(event));
  open(log);
}
