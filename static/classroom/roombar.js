// @ts-check
/** The line above the canvas that says how one is in a room: leading, following, or on one's own for a while. */

/** @import { RoomState } from "./room.js" */
import { h } from "../parts/element.js";

export class RoomBar extends EventTarget {
  constructor() {
    super();
    const button = (/** @type {string} */ kind, /** @type {string} */ name, /** @type {string} */ words) => h(`button.chip.small${kind}`, { type: "button", onclick: () => this.dispatchEvent(new CustomEvent(name)) }, words);
    this.name = h("strong");
    this.words = h("span.room-words", { role: "status" });
    this.out = button("", "out", "Step out");
    this.back = button(".back", "back", "Back to the teacher");
    this.ask = button("", "ask", "Ask: what is accepted next?");
    this.element = h("section.card.room-bar", { "aria-label": "Room" }, this.name, this.words, this.ask, this.out, this.back);
    this.element.hidden = true;
  }

  /**
   * @param {RoomState | null} state
   * @param {boolean} following
   * @param {boolean} connected
   */
  paint(state, following, connected) {
    this.element.hidden = !state;
    if (!state) return;
    const student = state.role === "student";
    this.element.dataset.role = student ? (following ? "following" : "away") : "teacher";
    this.name.textContent = `Room ${state.room}`;
    this.ask.hidden = student;
    this.out.hidden = !student || !following;
    this.back.hidden = !student || following;
    this.words.textContent = !connected ? "The connection is lost; the room comes back with it." : student ? this.#student(state, following) : !state.students ? "Nobody has joined yet: show the code." : state.students === 1 ? "1 student sees what you see." : `${state.students} students see what you see.`;
  }

  /**
   * @param {RoomState} state
   * @param {boolean} following
   */
  #student(state, following) {
    const away = state.teacher ? "" : " The teacher is away for the moment.";
    if (following && !Object.keys(state.show.runs).length) return `Waiting for the teacher to show a run.${away}`;
    if (following) return `You see what the teacher sees.${away}`;
    return `On your own${state.starts ? "" : "; runs of your own are switched off"}. The teacher does not see this.${away}`;
  }
}
