// @ts-check
/**
 * The page: puts its pieces together once Gradio has made room for them.
 *
 *   socket or recording ──► log ──► player (cursor) ──► lane, timeline, map, inspector, metrics
 */

import { AcceptanceMap } from "./map.js";
import { Answer } from "./answer.js";
import { Clock } from "./clock.js";
import { Controls } from "./controls.js";
import { Errors } from "./errors.js";
import { Inspector } from "./inspector.js";
import { Lane } from "./lane.js";
import { Metrics } from "./metrics.js";
import { Pace } from "./pace.js";
import { Session } from "./session.js";
import { Socket } from "./socket.js";
import { Status } from "./status.js";
import { Theme } from "./theme.js";
import { h } from "./element.js";
import { play } from "./recording.js";
import { summaryOf } from "./summary.js";

/**
 * @typedef {{element: HTMLElement, props: any, trigger: (name: string, detail?: any) => void}} Piece
 */

/** @type {Map<string, Piece>} */
const pieces = new Map();

/**
 * Called by each of the page's Gradio components when it is on the page.
 * @param {Piece} piece
 */
export function mount(piece) {
  pieces.set(piece.props.piece, piece);
  const [head, stage, inspector] = ["head", "stage", "inspector"].map((name) => pieces.get(name));
  if (head && stage && inspector && !stage.element.dataset.open) {
    stage.element.dataset.open = "yes";
    open(head, stage, inspector);
  }
}

/**
 * @param {Piece} head
 * @param {Piece} stage
 * @param {Piece} inspectorPiece
 */
function open(head, stage, inspectorPiece) {
  const root = /** @type {HTMLElement} */ (document.getElementById("denoise"));
  const theme = new Theme();
  const status = new Status(head.element, [theme.button]);
  const controls = new Controls(stage.props.defaults);
  const errors = new Errors();
  const pace = new Pace(stage.props.steps_per_second);
  const lanes = { diffusion: new Lane("diffusion", pace), autoregressive: new Lane("autoregressive", pace) };
  const both = Object.values(lanes);
  const map = new AcceptanceMap(lanes.diffusion);
  const inspector = new Inspector(inspectorPiece.element, lanes.diffusion, (sentence) => status.announce(sentence));
  inspector.also(lanes.autoregressive);
  const metrics = new Metrics();
  const answers = { diffusion: new Answer("Answer, diffusion"), autoregressive: new Answer("Answer, autoregressive") };
  stage.element.append(
    ...both.map((lane) => lane.element),
    metrics.element,
    h("div.answers", {}, answers.diffusion.element, answers.autoregressive.element),
    map.element,
  );
  const socket = new Socket();
  status.watch(socket);
  const session = new Session({ socket, controls, errors, pace, lanes });

  /** The lane whose player the keys move. */
  let active = lanes.diffusion;

  const shows = (/** @type {Lane} */ lane) => controls.settings.mode === "side_by_side" || controls.settings.mode === lane.mode;
  const paintEnd = () => {
    const log = (/** @type {Lane} */ lane) => (shows(lane) && lane.player.seenEnd ? lane.player.log : null);
    metrics.paint(controls.settings.mode, log(lanes.diffusion), log(lanes.autoregressive));
    answers.diffusion.paint(log(lanes.diffusion));
    answers.autoregressive.paint(log(lanes.autoregressive));
    const recorded = both.some((lane) => shows(lane) && lane.player.log.recording);
    status.source(session.phase === "paused" ? "paused" : session.phase === "running" ? "live" : recorded ? "recording" : "");
  };
  const paintMode = () => {
    root.dataset.mode = controls.settings.mode;
    if (!shows(active)) active = shows(lanes.diffusion) ? lanes.diffusion : lanes.autoregressive;
    inspector.lane = active;
    for (const lane of both) lane.release();
    inspector.repaint();
    paintEnd();
  };

  const clock = new Clock(both);
  const wake = () => clock.wake();

  for (const lane of both) {
    lane.addEventListener("state", wake);
    lane.addEventListener("run", paintEnd);
    lane.addEventListener("end", paintEnd);
    lane.element.addEventListener("pointerdown", () => (active = lane));
    lane.element.addEventListener("focusin", () => (active = lane));
  }
  document.addEventListener("keydown", (event) => active.bar.key(event));
  theme.addEventListener("change", () => {
    map.repaint();
    for (const lane of both) lane.repaint();
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const lane of both) lane.release();
  });

  controls.addEventListener("run", () => session.run());
  controls.addEventListener("cancel", () => session.cancel());
  controls.addEventListener("pause", () => session.pause());
  controls.addEventListener("resume", () => session.resume());
  controls.addEventListener("change", (/** @type {any} */ event) => {
    const { group, name } = event.detail;
    errors.clear(name);
    errors.clear("run");
    if (name === "mode") paintMode();
    else session.update(group);
  });

  session.addEventListener("phase", (/** @type {any} */ event) => {
    root.dataset.phase = event.detail;
    paintEnd();
  });
  session.addEventListener("shown", (/** @type {any} */ event) => {
    active = lanes[/** @type {"diffusion"} */ (event.detail[0])];
    inspector.lane = active;
    paintEnd();
    wake();
    status.announce("The run has started.");
  });
  session.addEventListener("finished", (/** @type {any} */ event) => {
    paintEnd();
    const { finished } = event.detail;
    status.announce(finished.stop_reason === "cancelled" ? "Cancelled." : `Finished. ${finished.text}`);
    stage.props.value = summaryOf(both.filter(shows).map((lane) => lane.player.log));
    stage.trigger("finished", {});
  });
  socket.addEventListener("refused", (/** @type {any} */ event) => errors.place(event.detail));
  status.addEventListener("model", (/** @type {any} */ event) => {
    const { status: state, message, model } = event.detail;
    if (state === "failed") errors.show("run", message);
    else if (state === "ready") errors.clear("run");
    root.dataset.model = state;
    if (model) root.dataset.device = model.device;
  });

  root.dataset.phase = "idle";
  root.dataset.ready = "yes";
  paintMode();
  play(stage.props.recordings, lanes).then(() => {
    paintEnd();
    wake();
  });
}
