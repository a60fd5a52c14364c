// @ts-check
/** The way into a room in large type, for a projector: the address, the code and the QR code over the whole page. */

/** @import { RoomState } from "./room.js" */
import { h, icon, write } from "../parts/element.js";

export class RoomCode {
  constructor() {
    this.image = h("img", { alt: "QR code of the students' link" });
    this.address = h("p.code-address");
    this.code = h("p.code-letters");
    this.count = h("p.code-count", { role: "status" });
    const shut = h("button.ghost.code-shut", { type: "button", "aria-label": "Close", title: "Close (Esc)", onclick: () => this.element.close() }, icon("close"));
    this.element = h("dialog.code-sheet", { "aria-label": "How to join the room", "data-own-keys": "" }, shut, this.image, h("div.code-words", {}, h("p.code-how", {}, "Scan it, or open"), this.address, h("p.code-how", {}, "press Room, and type"), this.code, this.count));
  }

  open() {
    this.element.showModal();
  }

  /**
   * @param {RoomState | null} state none, or a student's: there is nothing to show
   * @param {string} picture
   */
  paint(state, picture) {
    if (state?.role !== "teacher") return this.element.open ? this.element.close() : undefined;
    if (this.code.textContent !== state.room) {
      this.image.src = picture;
      this.code.textContent = state.room;
      this.address.textContent = state.link.replace(/^https?:\/\//, "").replace(/\/?#.*$/, "");
    }
    write(this.count, state.students === 1 ? "1 student is here." : state.students ? `${state.students} students are here.` : "Nobody is here yet.");
  }
}
