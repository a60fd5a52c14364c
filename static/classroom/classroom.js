// @ts-check
/** A class on the page: the room, its menu and its bar, the leading, the following, the question. Puts them together. */

/** @import { Address } from "../address.js" */
/** @import { Controls } from "../prompt/controls.js" */
/** @import { Inspector } from "../inspector/inspector.js" */
/** @import { Lane } from "../lane/lane.js" */
/** @import { RunLog } from "../run/log.js" */
/** @import { AcceptanceMap } from "../lane/map.js" */
/** @import { Notice } from "../parts/notice.js" */
/** @import { Past } from "../files/past.js" */
/** @import { RoomState, Show } from "./room.js" */
/** @import { Session } from "../live/session.js" */
/** @import { Socket } from "../live/socket.js" */
/** @import { Views } from "../head/views.js" */
import { Follow } from "./follow.js";
import { Lead } from "./lead.js";
import { QuestionCard } from "./questioncard.js";
import { Room } from "./room.js";
import { RoomBar } from "./roombar.js";
import { RoomMenu } from "./roommenu.js";
import { kept } from "../live/control.js";

/** @typedef {"diffusion" | "autoregressive"} Mode */

export class Classroom extends EventTarget {
  /** @param {{root: HTMLElement, socket: Socket, controls: Controls, lanes: Record<Mode, Lane>, inspector: Inspector, map: AcceptanceMap, past: Past, session: Session, notice: Notice, views: Views, address: Address, recordings: Record<string, string>, announce: (sentence: string) => void, menu: RoomMenu}} parts */
  constructor(parts) {
    super();
    const { menu } = parts;
    this.parts = parts;
    this.room = menu.room;
    this.menu = menu;
    this.bar = new RoomBar();
    this.lead = new Lead({ room: this.room, ...parts });
    this.follow = new Follow(parts);
    this.question = new QuestionCard(this.room, parts.lanes.diffusion, parts.inspector);
    const paint = () => this.#paint();
    this.room.addEventListener("state", (/** @type {any} */ event) => this.#state(event.detail.state, event.detail.before));
    this.room.addEventListener("end", (/** @type {any} */ event) => this.#end(event.detail));
    this.room.addEventListener("refused", (/** @type {any} */ event) => parts.notice.say(event.detail.message));
    this.bar.addEventListener("out", () => this.#out());
    this.bar.addEventListener("back", () => this.#back());
    this.bar.addEventListener("ask", () => this.question.ask());
    this.follow.addEventListener("out", () => this.#out());
    parts.socket.addEventListener("connection", paint);
    parts.lanes.diffusion.addEventListener("paint", () => {
      if (this.room.teaching) this.#offerQuestion();
      this.#paintQuestion();
    });
  }

  /**
   * From a link.
   * @param {{code: string, token?: string}} link
   */
  enter({ code, token }) {
    this.room.enter(code, token);
  }

  /**
   * @param {RoomState} state
   * @param {RoomState | null} before
   */
  #state(state, before) {
    const { address, session, views } = this.parts;
    if (!before) {
      address.pin(`#room=${state.room}`);
      this.menu.menu.close();
      if (state.role === "student") {
        session.leave();
        views.choose("play");
        this.follow.show = state.show;
        this.follow.turn(true);
      } else {
        if (Object.keys(state.show.runs).length) this.#restore(state.show);
        else this.menu.menu.open();
        this.lead.turn(true);
      }
    } else if (state.role === "student") this.follow.apply(state.show);
    else if (!state.leads && JSON.stringify(state.show) !== JSON.stringify(before.show)) this.#mirror(state.show);
    if (state.question && state.question.id !== before?.question?.id && state.role === "student") this.parts.announce("The teacher asks: which positions will be accepted next?");
    this.dispatchEvent(new CustomEvent("lesson", { detail: { lesson: state.lesson, following: state.role === "teacher" ? !before || this.lead.passive : this.follow.on } }));
    this.#paint();
  }

  /**
   * The teacher's page comes back and shows what it showed.
   * @param {Show} show
   */
  #restore(show) {
    this.follow.show = show;
    this.follow.on = true;
    this.follow.put(show);
    this.follow.on = false;
    for (const mode of /** @type {Mode[]} */ (Object.keys(show.runs))) {
      const { player } = this.parts.lanes[mode];
      this.lead.awaited.add(player.log);
      this.#comeBack(player.log, show.runs[mode], show.mode);
      const seq = show.at[mode] ?? -1;
      if (show.playing) player.beginAt(seq);
      else player.cursor = seq;
    }
  }

  /**
   * Another device of the teacher's leads: this one shows the same, and says nothing until it is touched.
   * @param {Show} show
   */
  #mirror(show) {
    this.lead.passive = true;
    this.follow.given = {};
    this.follow.on = true;
    this.follow.put(show);
    this.follow.on = false;
    for (const mode of /** @type {Mode[]} */ (Object.keys(show.runs))) {
      const { player } = this.parts.lanes[mode];
      player.pause();
      player.cursor = show.at[mode] ?? -1; // also where the event is still on its way
      this.parts.lanes[mode].repaint();
    }
  }

  /**
   * A run of the teacher's own goes on under the teacher's hands, and the controls say what it was begun with.
   * @param {RunLog} log
   * @param {string} run
   * @param {Show["mode"]} mode
   */
  #comeBack(log, run, mode) {
    const { controls, session, socket } = this.parts;
    const arrived = () => {
      if (!log.started) return;
      log.removeEventListener("event", arrived);
      if (!log.bundled) controls.take(log.started.recipe, mode);
      const token = kept(run);
      const live = socket.runs.get(run);
      if (token && live) void session.adopt(Object.assign(live, { token }), log.started.recipe);
    };
    log.addEventListener("event", arrived);
    arrived();
  }

  #out() {
    if (!this.follow.on) return;
    this.follow.turn(false);
    this.parts.announce("You have stepped out. The page is yours.");
    this.#paint();
  }

  #back() {
    this.parts.session.leave();
    this.parts.views.choose("play");
    this.follow.turn(true);
    this.parts.announce("You see what the teacher sees.");
    const lesson = this.room.state?.lesson ?? null;
    this.dispatchEvent(new CustomEvent("lesson", { detail: { lesson, following: true } }));
    this.#paint();
  }

  /** @param {string} reason */
  #end(reason) {
    this.follow.turn(false);
    this.follow.show = null;
    this.lead.turn(false);
    this.parts.address.pin(null);
    this.menu.say(reason);
    this.dispatchEvent(new CustomEvent("lesson", { detail: { lesson: null, following: false } }));
    this.#paint();
  }

  #paint() {
    const { state } = this.room;
    const { root, socket } = this.parts;
    const before = root.dataset.room;
    root.dataset.room = !state ? "" : state.role === "teacher" ? "teaching" : this.follow.on ? "following" : "away";
    root.dataset.starts = state?.role === "student" && !state.starts ? "no" : "yes";
    this.bar.paint(state, this.follow.on, socket.state === "open");
    this.menu.paint(state);
    this.#offerQuestion();
    this.#paintQuestion();
    if (root.dataset.room !== before) this.dispatchEvent(new CustomEvent("place"));
  }

  /** A question is asked about what the diffusion lane shows. */
  #offerQuestion() {
    this.bar.ask.disabled = !(this.parts.controls.modes.includes("diffusion") && this.question.can);
  }

  #paintQuestion() {
    const { state } = this.room;
    const question = state?.question ?? null;
    const here = question !== null && this.parts.lanes.diffusion.player.log.run === question.run && (state?.role === "teacher" || this.follow.on);
    const key = JSON.stringify([question, here, this.parts.lanes.diffusion.player.log.steps]);
    if (key === this.painted) return;
    this.painted = key;
    this.question.show(question, here);
    this.parts.root.dataset.asking = question?.open && here ? "yes" : "";
  }
}
