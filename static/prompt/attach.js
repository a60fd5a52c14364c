// @ts-check
/** What goes with the prompt besides its text: pictures and text files, a thought, and the answer it replies to. */

/** @import { Controls } from "./controls.js" */
/** @import { RunLog } from "../run/log.js" */
/** @import { Status } from "../head/status.js" */
import { h } from "../parts/element.js";
import { address } from "../run/wire.js";

const KINDS = "image/png,image/jpeg,image/webp,image/gif,image/bmp,text/*,.md,.csv,.json,.py,.js";

export class Attach {
  /**
   * @param {HTMLElement} element
   * @param {Controls} controls
   * @param {Status} status
   * @param {() => RunLog | null} shown the run whose answer may be replied to
   */
  constructor(element, controls, status, shown) {
    this.controls = controls;
    this.status = status;
    this.shown = shown;
    this.file = h("input", { type: "file", accept: KINDS, multiple: true, hidden: true, "aria-hidden": "true", tabindex: "-1", onchange: () => this.#chosen() });
    this.add = h("button.chip.small", { type: "button", title: "A picture (PNG, JPEG, WebP, GIF) or a text file; pictures can be pasted into the prompt too", onclick: () => this.file.click() }, "Add a file");
    this.think = h("button.chip.small", { type: "button", "aria-pressed": "false", title: "Have the model think before it answers", onclick: () => this.#set(() => (controls.rest.thinking = !controls.rest.thinking)) }, "Think first");
    this.reply = h("button.chip.small", { type: "button", title: "Ask on: the next run gets this conversation before its prompt", onclick: () => this.#reply() }, "Reply");
    this.message = h("p.hint", { role: "alert" });
    this.message.hidden = true;
    element.append(h("div.edit-row.attach-row", {}, this.add, this.think, this.reply, this.file), this.message);
    controls.addEventListener("taken", () => this.paint());
    status.addEventListener("model", () => this.paint());
    document.getElementById("prompt")?.addEventListener("paste", (event) => this.#pasted(event));
    this.think.hidden = this.reply.hidden = true;
  }

  paint() {
    const { thinking } = this.controls.rest;
    this.think.hidden = !this.status.model?.supports_thinking && !thinking;
    this.think.setAttribute("aria-pressed", String(thinking));
    this.reply.hidden = !this.#answered;
    const { model } = this.status;
    const unseen = Boolean(model) && !model.supports_images && this.controls.rest.uploads.some(({ type }) => type === "image");
    if (unseen) this.#say(`The model ${model.name} takes no pictures: remove them, or the run is refused.`);
    else if (this.unseen) this.#say("");
    this.unseen = unseen;
  }

  /** The run whose answer is there to be replied to. */
  get #answered() {
    const log = this.shown();
    return log?.started && log.finished?.text ? log : null;
  }

  /** @param {() => void} change of what goes with the prompt */
  #set(change) {
    change();
    this.controls.dispatchEvent(new CustomEvent("taken"));
  }

  #reply() {
    const log = this.#answered;
    if (!log?.started || !log.finished) return;
    const said = [...log.started.recipe.messages, { role: "assistant", content: log.finished.text }];
    const { controls } = this;
    controls.rest.thinking = log.started.recipe.thinking ?? false;
    controls.rest.edits = [];
    controls.rest.uploads = [];
    this.#set(() => (controls.rest.earlier = said));
    controls.write("");
    document.querySelector("#prompt textarea")?.focus();
  }

  #chosen() {
    void this.upload(Array.from(this.file.files ?? []));
    this.file.value = "";
  }

  /** @param {ClipboardEvent} event */
  #pasted(event) {
    const pictures = Array.from(event.clipboardData?.files ?? []).filter((file) => file.type.startsWith("image/"));
    if (!pictures.length) return;
    event.preventDefault();
    void this.upload(pictures);
  }

  /** @param {File[]} files */
  async upload(files) {
    this.#say("");
    for (const file of files) {
      this.#say(`Uploading ${file.name}…`);
      try {
        const answer = await fetch(address("api/uploads"), { method: "POST", body: file });
        const told = await answer.json();
        if (!answer.ok) return this.#say(`${file.name}: ${told.message ?? "it was refused."}`);
        if (told.kind === "image" && this.status.model && !this.status.model.supports_images) return this.#say(`${file.name}: the model ${this.status.model.name} takes no pictures.`);
        this.controls.uploadNames.set(told.sha256, file.name);
        this.#set(() => this.controls.rest.uploads.push({ type: told.kind, sha256: told.sha256 }));
      } catch {
        return this.#say(`${file.name} could not be uploaded: the server is away.`);
      }
    }
    this.#say("");
  }

  /** @param {string} sentence */
  #say(sentence) {
    this.message.textContent = sentence;
    this.message.hidden = !sentence;
  }
}
