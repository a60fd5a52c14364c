// @ts-check
/** "Room" in the head of the page: open one, join one; for its teacher the code, the link and the QR code. */

/** @import { Room, RoomState } from "./room.js" */
import { h } from "./element.js";
import { Menu } from "./menu.js";

const COPIED_MS = 2000;
const NEARBY = "This link works on this machine only, because the server listens here alone. Start it with PLAYGROUND_HOST=0.0.0.0, and students on the same network can come in.";

export class RoomMenu {
  /** @param {Room} room */
  constructor(room) {
    this.room = room;
    this.menu = new Menu("Room", "Room: a class that sees the same run");
    this.menu.panel.classList.add("room-panel");
    this.note = h("p.hint", { role: "status" });
    this.code = h("input.edit-text.room-code", { type: "text", "aria-label": "Code of the room", placeholder: "code", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", maxlength: 5, size: 6 });
    this.outside = h(
      "div.room-outside",
      {},
      h("form.edit-pin", { onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), this.#join()) }, this.code, h("button.chip", {}, "Join")),
      h("p.hint", {}, "Students join with the code that the teacher shows."),
      h("button.chip.go", { type: "button", onclick: () => void this.#open() }, "Open a room"),
      h("p.hint", {}, "Who opens a room leads it: all who join see the same run and step."),
    );
    this.big = h("p.room-big");
    this.image = h("img.room-qr", { alt: "QR code of the students' link", width: 220, height: 220 });
    this.link = h("a.room-link", { target: "_blank", rel: "noopener" });
    this.starts = h("input", { type: "checkbox", onchange: () => this.room.say({ type: "lead", starts: this.starts.checked }) });
    this.teachers = h(
      "div.room-inside",
      {},
      this.big,
      this.image,
      this.link,
      h("div.edit-row", {}, this.#copy("Copy the link", () => this.room.state?.link ?? ""), this.#copy("Copy the teacher's link", () => this.room.teachersLink)),
      h("label.room-switch", {}, this.starts, "Students may start runs of their own"),
      h("button.chip.small", { type: "button", onclick: () => this.room.say({ type: "close" }) }, "Close the room"),
    );
    this.students = h("div.room-inside", {}, h("button.chip.small", { type: "button", onclick: () => this.room.leave() }, "Leave the room"));
    this.menu.panel.append(this.outside, this.teachers, this.students, this.note);
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
    const code = this.code.value.trim().toUpperCase();
    this.note.textContent = "";
    if (!/^[A-Z0-9]{5}$/.test(code)) this.note.textContent = "A code has five letters and digits.";
    else this.room.enter(code);
  }

  /**
   * @param {string} words
   * @param {() => string} text
   */
  #copy(words, text) {
    const button = h("button.chip.small", { type: "button" }, words);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text());
        button.textContent = "Copied";
      } catch {
        this.note.textContent = `The clipboard cannot be used here. The link: ${text()}`;
      }
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
