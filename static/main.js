// @ts-check
/**
 * The page: puts its pieces together once Gradio has made room for them.
 *
 *   socket or recording ──► log ──► player (cursor) ──► lane, timeline, map, inspector, metrics
 *                            │
 *                            └──► editor ──► fork (a recipe with one more edit) ──► session ──► socket
 */

/** @import { Fork } from "./prompt/editor.js" */
/** @import { RunLog } from "./run/log.js" */
import { AcceptanceMap } from "./lane/map.js";
import { Address } from "./address.js";
import { Answer } from "./lane/answer.js";
import { Attach } from "./prompt/attach.js";
import { Classroom } from "./classroom/classroom.js";
import { Clock } from "./lane/clock.js";
import { Controls } from "./prompt/controls.js";
import { Conversation } from "./prompt/conversation.js";
import { Editor, sayFork } from "./prompt/editor.js";
import { Errors } from "./parts/errors.js";
import { Examples } from "./prompt/examples.js";
import { Exports } from "./files/exports.js";
import { Gallery } from "./files/gallery.js";
import { Guide } from "./classroom/guide.js";
import { Inspector } from "./inspector/inspector.js";
import { Lab } from "./lab/lab.js";
import { Lane } from "./lane/lane.js";
import { Loan } from "./live/loan.js";
import { Menu } from "./parts/menu.js";
import { Metrics, hasFigures } from "./lane/metrics.js";
import { Notice } from "./parts/notice.js";
import { Opener } from "./files/opener.js";
import { Pace } from "./live/pace.js";
import { PageStates } from "./pagestate.js";
import { Past } from "./files/past.js";
import { Projector } from "./classroom/projector.js";
import { Races } from "./races/races.js";
import { Room } from "./classroom/room.js";
import { RoomMenu } from "./classroom/roommenu.js";
import { Runs } from "./files/runs.js";
import { Session } from "./live/session.js";
import { Socket } from "./live/socket.js";
import { Start } from "./prompt/start.js";
import { Status } from "./head/status.js";
import { Theme } from "./parts/theme.js";
import { Views } from "./head/views.js";
import { onWidth } from "./parts/width.js";
import { forkName } from "./run/fork.js";
import { h } from "./parts/element.js";
import { runAgain, useSettings } from "./lab/labtoplay.js";
import { play } from "./live/recording.js";
import { ruleControl } from "./prompt/rule.js";
import { soFar } from "./run/sofar.js";
import { soon } from "./parts/painter.js";
import { summaryOf } from "./run/summary.js";

/**
 * @typedef {{element: HTMLElement, props: any, trigger: (name: string, detail?: any) => void, watch: (name: string, then: () => void) => void}} Piece
 */

const NAMES = ["head", "stage", "inspector", "start", "examples", "rule", "lab"];

/** @type {Map<string, Piece>} */
const pieces = new Map();

/**
 * Called by each of the page's Gradio components when it is on the page.
 * @param {Piece} piece
 */
export function mount(piece) {
  pieces.set(piece.props.piece, piece);
  const stage = pieces.get("stage");
  const names = stage?.props.lends ? [...NAMES, "loan"] : NAMES;
  if (!stage || stage.element.dataset.open || !names.every((name) => pieces.has(name))) return;
  stage.element.dataset.open = "yes";
  open((name) => /** @type {Piece} */ (pieces.get(name)));
}

/** @param {(name: string) => Piece} piece */
function open(piece) {
  const stage = piece("stage");
  const root = /** @type {HTMLElement} */ (document.getElementById("denoise"));
  const theme = new Theme();
  const controls = new Controls(stage.props.defaults, stage.props.tokens);
  const errors = new Errors();
  const notice = new Notice();
  const pace = new Pace(stage.props.steps_per_second);
  const lanes = { diffusion: new Lane("diffusion", pace), autoregressive: new Lane("autoregressive", pace) };
  const rival = new Lane("diffusion", pace, { name: "rival", title: "The run before" });
  const both = Object.values(lanes);
  const all = [...both, rival];
  const past = new Past(both);
  const map = new AcceptanceMap(lanes.diffusion);
  const metrics = new Metrics();
  const answers = { diffusion: new Answer("Answer, diffusion"), autoregressive: new Answer("Answer, autoregressive") };
  const socket = new Socket();
  if (stage.props.lends) socket.loan = new Loan(piece("loan"), socket);
  const session = new Session({ socket, controls, errors, pace, lanes });
  const runs = new Runs();
  const gallery = new Gallery();
  const opener = new Opener(stage.props.version);
  const exports = new Exports(() => both.filter(shows).map(({ title, player }) => ({ title, log: player.log })));
  const address = new Address(() => states.gather(), controls.usual);
  const views = new Views(root);
  const menu = new RoomMenu(new Room(socket));
  const projector = new Projector(root);
  const lessons = new Menu("Lessons", "Lessons: a text beside the controls, with something to try");
  const status = new Status(piece("head").element, views, [lessons.element, menu.menu.element, runs.menu.element, opener.button, address.share, exports.menu.element, projector.button, theme.button]);
  status.watch(socket, menu.room);
  const announce = (/** @type {string} */ sentence) => status.announce(sentence);
  const editor = new Editor(controls);
  const inspector = new Inspector(piece("inspector").element, lanes.diffusion, announce, editor);
  inspector.also(lanes.autoregressive);
  const lab = new Lab(piece("lab").element, { ...piece("lab").props, announce });
  const races = new Races({ controls, lanes, rival, past, session, announce });
  const states = new PageStates({ controls, lanes, pace, map, inspector, session, past, race: races.card, notice, views, lab, projector, version: stage.props.version, model: () => status.model });
  const classroom = new Classroom({ root, socket, controls, lanes, inspector, map, past, session, notice, views, address, recordings: stage.props.recordings, announce, menu });
  const guide = new Guide({ menu: lessons, controls, lanes, address, classroom, notice, views, openRun: (run) => states.open({ run }).then(() => address.changed(true)), announce, head: piece("head").element, side: piece("inspector").element });
  new Start(piece("start").element, controls, () => lanes.diffusion.player.log.finished?.text ?? "", () => conversation.startOver());
  const attach = new Attach(piece("start").element, controls, status, () => (controls.settings.mode === "side_by_side" ? null : ended(lanes[controls.settings.mode])));
  const conversation = new Conversation(controls, session, announce);
  new Examples(piece("examples").element, controls, piece("examples").props, status);
  ruleControl(piece("rule").element, controls);
  stage.element.append(
    notice.element,
    gallery.element,
    classroom.bar.element,
    conversation.element,
    lanes.diffusion.element,
    classroom.question.element,
    rival.element,
    lanes.autoregressive.element,
    races.card.element,
    metrics.element,
    h("div.answers", {}, answers.diffusion.element, answers.autoregressive.element),
    map.element,
  );

  /** The lane whose player the keys move. */
  let active = lanes.diffusion;

  function shows(/** @type {Lane} */ lane) {
    return controls.settings.mode === "side_by_side" || controls.settings.mode === lane.mode;
  }
  const ended = (/** @type {Lane} */ lane) => (shows(lane) && lane.player.seenEnd ? lane.player.log : null);
  const paintMetrics = () => {
    const far = (/** @type {Lane} */ { player }) => (player.log.started && !(player.seenEnd && hasFigures(player.log)) ? soFar(player.log, player.index) : null);
    metrics.paint(controls.settings.mode, ended(lanes.diffusion), ended(lanes.autoregressive), { diffusion: far(lanes.diffusion), autoregressive: far(lanes.autoregressive) });
  };
  const paintEnd = () => {
    paintMetrics();
    for (const mode of /** @type {const} */ (["diffusion", "autoregressive"])) {
      answers[mode].name(controls.settings.mode === "side_by_side" ? `Answer, ${mode}` : "Answer");
      answers[mode].paint(ended(lanes[mode]));
    }
    const recorded = both.some((lane) => shows(lane) && (lane.player.log.recording || lane.player.log.gallery));
    status.source(session.phase === "paused" ? "paused" : session.phase === "running" ? "live" : recorded ? "recording" : "");
    races.offer();
    gallery.mark(both.filter(shows).map((lane) => lane.player.log.run));
    attach.paint();
  };
  const paintMode = () => {
    root.dataset.mode = controls.settings.mode;
    if (!shows(active)) active = shows(lanes.diffusion) ? lanes.diffusion : lanes.autoregressive;
    inspector.lane = active;
    for (const lane of both) lane.release();
    inspector.repaint();
    paintEnd();
  };

  views.addEventListener("change", () => {
    if (views.view === "lab") void lab.show();
    else lab.hide();
    address.changed(true);
  });
  projector.addEventListener("change", () => {
    for (const lane of all) lane.release();
    address.changed();
  });
  lab.addEventListener("said", () => address.changed(true));
  lab.point.addEventListener("use", (/** @type {any} */ event) => useSettings({ controls, views, announce }, event.detail));
  lab.point.addEventListener("open", (/** @type {any} */ event) => runAgain({ controls, views, session, notice, model: status.model }, event.detail));

  const clock = new Clock(all);
  const wake = () => clock.wake();
  const changed = () => address.changed();

  for (const lane of all) lane.addEventListener("state", wake);
  for (const lane of both) {
    lane.addEventListener("state", changed);
    lane.addEventListener("run", paintEnd);
    lane.addEventListener("end", paintEnd);
    lane.addEventListener("paint", () => shows(lane) && !lane.player.seenEnd && soon(metrics, paintMetrics));
    lane.addEventListener("choose", changed);
    const take = () => {
      active = lane;
      if (inspector.lane !== lane) Object.assign(inspector, { lane }).repaint();
    };
    lane.element.addEventListener("pointerdown", take);
    lane.element.addEventListener("focusin", take);
  }
  lanes.diffusion.legend?.addEventListener("noise", changed);
  document.addEventListener("keydown", (event) => views.view === "play" && (races.card.on ? races.card.key(event) : active.bar.key(event)));
  theme.addEventListener("change", () => {
    map.repaint();
    for (const lane of all) lane.repaint();
    if (races.card.on) races.card.paint();
    void lab.redraw();
  });
  onWidth(() => all.forEach((lane) => lane.release()));

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
    changed();
  });
  controls.addEventListener("taken", changed);
  pace.addEventListener("change", changed);

  editor.addEventListener("reach", (/** @type {any} */ event) => inspector.move(event.detail, true));
  editor.addEventListener("changed", () => errors.clear("edits"));
  editor.addEventListener("go", (/** @type {{detail: Fork} & any} */ { detail: fork }) => {
    inspector.shut();
    void session.start([{ mode: fork.lane.mode, recipe: fork.recipe, fork }]);
  });
  session.addEventListener("phase", (/** @type {any} */ event) => {
    root.dataset.phase = event.detail;
    paintEnd();
    wake();
  });
  session.addEventListener("shown", (/** @type {any} */ event) => {
    const [{ mode, fork }] = /** @type {import("./live/session.js").Job[]} */ (event.detail);
    active = lanes[mode];
    inspector.lane = active;
    notice.clear();
    paintEnd();
    wake();
    if (fork) sayFork(fork, session);
    status.announce(fork ? `${forkName(fork)} The run has started.` : "The run has started.");
    address.changed(true);
  });
  session.addEventListener("finished", (/** @type {any} */ event) => {
    paintEnd();
    changed();
    const { finished } = event.detail;
    status.announce(finished.stop_reason === "cancelled" ? "Cancelled." : `Finished. ${finished.text}`);
    stage.props.value = summaryOf(both.filter(shows).map((lane) => lane.player.log));
    stage.trigger("finished", {});
  });

  socket.addEventListener("refused", (/** @type {any} */ event) => errors.place(event.detail));
  address.addEventListener("open", (/** @type {any} */ { detail }) => (detail.room ? classroom.enter(detail.room) : void (detail.lesson ? guide.open(detail.lesson) : states.open(detail))));
  address.addEventListener("bad", (/** @type {any} */ event) => notice.say(event.detail));
  address.addEventListener("said", (/** @type {any} */ event) => announce(`${event.detail}.`));
  address.addEventListener("note", (/** @type {any} */ event) => notice.say(event.detail, "note"));
  runs.addEventListener("open", (/** @type {any} */ event) => void states.open({ run: event.detail }).then(() => address.changed(true)));
  gallery.addEventListener("open", (/** @type {any} */ { detail: run }) => {
    gallery.wait(run, true);
    void states.open({ run }).then(() => (gallery.wait(run, false), address.changed(true)));
  });
  opener.addEventListener("refused", (/** @type {any} */ event) => notice.say(event.detail));
  opener.addEventListener("opened", (/** @type {{detail: RunLog} & any} */ event) => {
    notice.clear();
    states.showRun(event.detail);
    address.changed(true);
    announce("The recording plays.");
  });
  status.addEventListener("model", (/** @type {any} */ event) => {
    const { status: state, message, model } = event.detail;
    if (state === "failed") errors.show("run", message);
    else if (state === "ready") errors.clear("run");
    root.dataset.model = state;
    if (model) {
      root.dataset.device = model.device;
      controls.fit(model);
    }
    states.checkRevision();
  });

  root.dataset.phase = "idle";
  root.dataset.ready = "yes";
  paintMode();
  const listed = gallery.load();
  void address.begin().then(async (opened) => {
    if (!opened) await listed.then(() => play({ ...stage.props.recordings, ...gallery.first }, lanes));
    await listed;
    paintEnd();
    wake();
  });
}
