// @ts-check
/** Traces from files: dropped on the page or chosen; read, checked, and handed on as a log. */

import { h } from "../parts/element.js";
import { isRunId } from "../run/hash.js";
import { logOf, shelve } from "./shelf.js";
import { BadTrace, MOST_BYTES, checkBeginning } from "./tracefile.js";

const BEGINNING = 16_384;

export class Opener extends EventTarget {
  /** @param {string} version of this page */
  constructor(version) {
    super();
    this.version = version;
    this.input = h("input", { type: "file", accept: ".jsonl,.json,.ndjson,application/jsonl", "aria-label": "Trace file", tabindex: "-1" });
    this.input.hidden = true;
    this.button = h("button.chip.small", { type: "button", title: "Play a trace from a file; it can also be dropped on the page", "data-leaves": "", onclick: () => this.input.click() }, "Open file");
    this.veil = h("div.drop-veil", { "aria-hidden": "true" }, h("p", {}, "Drop a trace to play it"));
    this.veil.hidden = true;
    this.input.addEventListener("change", () => {
      const file = this.input.files?.[0];
      this.input.value = "";
      if (file) void this.open(file);
    });
    document.body.append(h("div", { id: "drop" }, this.veil, this.input));
    this.#listen();
  }

  #listen() {
    const files = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
    document.addEventListener("dragover", (event) => {
      if (!files(event)) return;
      event.preventDefault();
      this.veil.hidden = false;
    });
    document.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) this.veil.hidden = true;
    });
    document.addEventListener("drop", (event) => {
      this.veil.hidden = true;
      if (!files(event)) return;
      event.preventDefault();
      const dropped = event.dataTransfer?.files ?? [];
      const folder = event.dataTransfer?.items[0]?.webkitGetAsEntry?.()?.isDirectory;
      if (folder) this.#refuse("That is a folder. Drop the trace itself, a file.");
      else if (dropped.length > 1) this.#refuse("Drop one trace at a time.");
      else if (dropped[0]) void this.open(dropped[0]);
    });
  }

  /** @param {string} sentence */
  #refuse(sentence) {
    this.dispatchEvent(new CustomEvent("refused", { detail: sentence }));
  }

  /** @param {File} file */
  async open(file) {
    const named = (/** @type {string} */ sentence) => this.#refuse(`${file.name.slice(0, 80)} was not opened. ${sentence}`);
    if (file.size > MOST_BYTES) return named(`It has ${Math.round(file.size / 2 ** 20)} MB; at most ${MOST_BYTES / 2 ** 20} MB are read here.`);
    try {
      checkBeginning(await file.slice(0, BEGINNING).text());
      const text = await file.text();
      const log = logOf(text, this.version);
      log.shelved = isRunId(log.run) && (await shelve(/** @type {string} */ (log.run), text)); // or no link could name it
      this.dispatchEvent(new CustomEvent("opened", { detail: log }));
    } catch (error) {
      if (error instanceof BadTrace) named(error.message);
      else named("It cannot be read.");
    }
  }
}
