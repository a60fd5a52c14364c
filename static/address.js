// @ts-check
/** The page's address: writes what is shown into its hash, reads a hash when it changes, and shares it as a link. */

/** @import { PageState } from "./run/hash.js" */
/** @import { Recipe } from "./run/wire.js" */
import { copied } from "./parts/copy.js";
import { said, unsaid } from "./live/control.js";
import { h } from "./parts/element.js";
import { BadLink, MOST_CHARACTERS, decode, encode } from "./run/hash.js";

const WRITE_AFTER_MS = 350;
const COPIED_MS = 2000;

export class Address extends EventTarget {
  /**
   * @param {() => PageState} gather what the page shows
   * @param {Recipe} usual the recipe of an untouched page
   */
  constructor(gather, usual) {
    super();
    this.gather = gather;
    this.usual = usual;
    this.written = location.hash;
    this.push = false;
    /** What the entry of the history said before the person began to change things for the next run. */
    this.settled = "";
    /** While a state is being put on the page nothing is written. */
    this.quiet = true;
    /** What the address says whatever is shown, as in a room. @type {string | null} */
    this.pinned = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.share = h("button.chip.small", { type: "button", title: "Copy a link to what is shown", onclick: () => this.#share() }, "Share");
    addEventListener("popstate", () => this.#look());
    addEventListener("hashchange", () => this.#look());
  }

  /** Reads the hash that the page was opened with. */
  async begin() {
    const found = this.#forgotten() || (await this.#read());
    this.quiet = false;
    return found;
  }

  /** Opens what was started just before a reload, when the address did not say it yet; whether there was such a thing. */
  #forgotten() {
    const { run, recipe } = unsaid();
    if ((!run && !recipe) || /^#(room|lesson)=/.test(location.hash)) return false;
    const detail = run ? { run } : { state: { mode: recipe?.mode ?? "diffusion", recipe, runs: {}, view: [] }, missing: "The page was loaded anew before the server had taken the run." };
    this.dispatchEvent(new CustomEvent("open", { detail }));
    queueMicrotask(() => this.changed());
    return true;
  }

  #look() {
    if (location.hash !== this.written) void this.#read();
  }

  /** Whether there was something to open. */
  async #read() {
    const { hash } = location;
    this.written = hash;
    this.settled = "";
    clearTimeout(this.timer);
    this.timer = undefined;
    try {
      const found = await decode(hash, this.usual);
      if (hash !== location.hash || !found) return false;
      this.dispatchEvent(new CustomEvent("open", { detail: found }));
      return !found.lesson; // a lesson stands beside whatever is shown
    } catch (error) {
      if (!(error instanceof BadLink)) throw error;
      this.dispatchEvent(new CustomEvent("bad", { detail: error.message }));
      return false;
    }
  }

  /**
   * Has the address say this and nothing else; null for what is shown again.
   * @param {string | null} hash
   */
  pin(hash) {
    this.pinned = hash;
    if (hash === null) return this.changed();
    this.written = hash;
    history.replaceState(history.state, "", hash);
  }

  /**
   * Something changed that belongs into the address.
   * @param {boolean} [push] whether going back should lead to what was before
   */
  changed(push = false) {
    if (this.quiet || this.pinned !== null) return;
    this.push ||= push;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.#write();
    }, WRITE_AFTER_MS);
  }

  async #write() {
    const before = this.written;
    const state = this.gather();
    const hash = await encode(state, this.usual);
    if (this.pinned !== null || before !== this.written || hash === this.written || hash.length > MOST_CHARACTERS) return;
    const push = this.push && location.hash !== "";
    this.push = false;
    said(Object.values(state.runs ?? {}));
    this.written = hash;
    // Gradio's router keeps its own notes in the history's state; they stay.
    // What was typed for the new run belongs to it: going back leads to the run before as it was.
    if (push && this.settled) history.replaceState(history.state, "", this.settled);
    history[push ? "pushState" : "replaceState"](history.state, "", hash);
    if (push || !state.draft) this.settled = state.draft ? "" : hash;
  }

  async #share() {
    const state = this.gather();
    let hash = await encode(state, this.usual);
    const run = Object.values(state.runs ?? {})[0];
    if (hash.length > MOST_CHARACTERS) {
      if (!run) return this.#say("Too long for a link");
      hash = `#run=${run}`;
    }
    const link = new URL(hash, location.href).href;
    if (await copied(link)) {
      this.#say("Link copied");
      if (state.file) this.dispatchEvent(new CustomEvent("note", { detail: "The link has the recipe of this run. The recording itself stays in this browser: send its file for that." }));
      return;
    }
    if (this.pinned === null) {
      this.written = hash;
      history.replaceState(history.state, "", hash);
    }
    this.dispatchEvent(new CustomEvent("note", { detail: `The clipboard cannot be used here. The link: ${link}` }));
  }

  /** @param {string} words */
  #say(words) {
    this.share.textContent = words;
    this.dispatchEvent(new CustomEvent("said", { detail: words }));
    setTimeout(() => (this.share.textContent = "Share"), COPIED_MS);
  }
}
