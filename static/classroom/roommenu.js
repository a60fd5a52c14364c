// @ts-check
/** "Room" in the head of the page: open one, join one; for its teacher the code, the link and the QR code. */

/** @import { Room, RoomState } from "./room.js" */
import { h } from "../parts/element.js";
import { Menu } from "../parts/menu.js";
import { RoomCode } from "./roomcode.js";
import { copied } from "../parts/copy.js";

const COPIED_MS = 2000;
const CLOSE = "Close the room";
const SURE_MS = 5000;
/** As playground/web/roomtalk.py has it. */
const CODE = /^[A-HJKMNP-Z2-9]{5}$/;
const NEARBY = "This link works on this machine only, because the server listens here alone. Start it with PLAYGROUND_HOST=0.0.0.0, and students on the same network can come in.";

export class RoomMenu {
  /** @param {Room} room */
  constructor(room) {
    this.room = room;
    this.menu = new Menu("Room", "Room: a class that sees the same run");
    this.menu.panel.classList.add("room-panel");
    this.note = h("p.room-note", { role: "status" });
    this.code = h("input.edit-text.room-code", { type: "text", "aria-label": "Code of the room", placeholder: "code", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", size: 6 });
    this.outside = h(
      "div.room-outside",
      {},
      h("h3", {}, "Join a room"),
      h("form.edit-pin", { onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), this.#join()) }, this.code, h("button.chip", {}, "Join")),
      h("p.hint", {}, "The teacher shows the code."),
      h("h3.room-or", {}, "Lead a class"),
      h("button.chip.go", { type: "button", onclick: () => void this.#open() }, "Open a room"),
      h("p.hint", {}, "All who join see your run, and the step that you look at."),
    );
    this.big = h("p.room-big");
    this.image = h("img.room-qr", { alt: "QR code of the students' link", width: 220, height: 220 });
    this.sheet = new RoomCode();
    this.link = h("a.room-link", { target: "_blank", rel: "noopener" });
    this.starts = h("input", { type: "checkbox", onchange: () => this.room.say({ type: "lead", starts: this.starts.checked }) });
    this.closing = h("button.chip.small", { type: "button", onclick: () => this.#close() }, CLOSE);
    this.teachers = h(
      "div.room-inside",
      {},
      this.big,
      this.image,
      this.link,
      h("div.edit-row", {}, h("button.chip.small", { type: "button", onclick: () => (this.menu.close(), this.sheet.open()) }, "Show it large"), this.#copy("Copy the link", () => this.room.state?.link ?? "", true)),
      h("label.room-switch", {}, this.starts, "Students may start runs of their own"),
      h("div.edit-row", {}, this.closing, this.#copy("Copy the teacher's link", () => this.room.teachersLink, false)),
    );
    this.students = h("div.room-inside", {}, h("button.chip.small", { type: "button", onclick: () => this.room.leave() }, "Leave the room"));
    this.menu.panel.append(this.note, this.outside, this.teachers, this.students);
    document.getElementById("denoise")?.append(this.sheet.element);
    this.paint(null);
  }

  async #open() {
    this.note.textContent = "";
    try {
      const { reachable } = await this.room.open();
      this.note.textContent = reachable ? "" : NEARBY;
    } catch (error) {
      this.note.textContent = `The room cannot be opened: ${/** @type {Error} */ (error).message}`;
    }
  }

  #join() {
    const code = (this.code.value.split("#room=").pop() ?? "").replace(/[\s-]/g, "").toUpperCase();
    this.note.textContent = "";
    if (!CODE.test(code)) this.note.textContent = "A code has five letters and digits, and never 0, 1, I, L or O.";
    else this.room.enter(code);
  }

  /** A class is not sent home by a slip of the finger. */
  #close() {
    if (this.closing.textContent !== CLOSE || !this.room.state?.students) return this.room.say({ type: "close" });
    this.closing.textContent = "Close it for everybody";
    setTimeout(() => (this.closing.textContent = CLOSE), SURE_MS);
  }

  /**
   * @param {string} words
   * @param {() => string} text
   * @param {boolean} shown whether others may read it where it cannot be copied
   */
  #copy(words, text, shown) {
    const button = h("button.chip.small", { type: "button" }, words);
    button.addEventListener("click", async () => {
      if (await copied(text())) button.textContent = "Copied";
      else this.note.textContent = shown ? `The clipboard cannot be used here. The link: ${text()}` : "The clipboard cannot be used here, and the teacher's link is not for everybody's eyes.";
      setTimeout(() => (button.textContent = words), COPIED_MS);
    });
    return button;
  }

  /** @param {string} sentence */
  say(sentence) {
    this.note.textContent = sentence;
    if (sentence) this.menu.open();
  }

  /** @param {RoomState | null} state */
  paint(state) {
    const role = state?.role ?? "";
    this.sheet.paint(state, this.room.picture);
    this.outside.hidden = role !== "";
    this.teachers.hidden = role !== "teacher";
    this.students.hidden = role !== "student";
    this.menu.button.textContent = state ? `Room ${state.room}` : "Room";
    if (!state) return;
    if (this.big.textContent !== state.room) {
      this.big.textContent = state.room;
      this.link.textContent = state.link;
      this.link.href = state.link;
      if (role === "teacher") this.image.src = this.room.picture;
    }
    this.starts.checked = state.starts;
  }
}
