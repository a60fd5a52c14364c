// @ts-check
/**
 * The editor, below the inspector: pins, renoises, unpins what is chosen, takes over other parameters, and goes on from there.
 * It owns the edits that have not run yet and shows them as chips beside those of the run; what it makes is a fork.
 */

/** @import { Controls } from "./controls.js" */
/** @import { Moment } from "../run/fork.js" */
/** @import { Lane } from "../lane/lane.js" */
/** @import { Session } from "../live/session.js" */
/** @import { RunLog } from "../run/log.js" */
/** @import { Edit } from "../run/wire.js" */
import { h, icon, write } from "../parts/element.js";
import { changeName, editName, editsOf, firstOf, forkName, forkOf, momentName, placeOf, isAfter, seqBefore, setEdit } from "../run/fork.js";

/**
 * What `go` tells: a run to be made, and what it is a fork of.
 * @typedef {{lane: Lane, parent: RunLog, recipe: import("../run/wire.js").Recipe, moment: Moment, seq: number, changes: string, dropped: number}} Fork
 */

export class Editor extends EventTarget {
  /** @param {Controls} controls */
  constructor(controls) {
    super();
    this.controls = controls;
    /** @type {Lane | null} */
    this.lane = null;
    /** @type {RunLog | null} */
    this.log = null;
    /** @type {Moment | null} */
    this.moment = null;
    this.span = { start: 0, length: 1 };
    /** Edits that have not run yet, in the order in which they were made. @type {Edit[]} */
    this.added = [];
    /** Edits of the run that the fork leaves out. @type {Edit[]} */
    this.removed = [];
    this.painted = "";
    const button = (/** @type {string} */ label, /** @type {string} */ title, /** @type {() => void} */ act) => h("button.chip.small", { type: "button", title, onclick: act }, label);
    this.title = h("h3");
    this.where = h("span.edit-where");
    this.text = h("input.edit-text", { type: "text", "aria-label": "Text to pin", placeholder: "a text of your own", autocomplete: "off", spellcheck: "false", maxlength: 2000 });
    /** Whether a space comes before the text: most pieces carry the one before their word. */
    this.spaced = false;
    this.space = h("button.chip.small.edit-space", { type: "button", "aria-label": "A space before the text", title: "A space before the text", onclick: () => this.#spaced(!this.spaced) }, "␣");
    this.pin = button("Pin", "Hold these positions to the text, in this step and all later ones", () => this.#pin());
    this.renoise = button("Renoise", "Feed fresh random tokens here", () => this.#add({ type: "renoise", ...this.#here }));
    this.unpin = button("Unpin", "Let go of the pins here", () => this.#add({ type: "unpin", ...this.#here }));
    this.set = button("", "Take over what the sliders say, from this step on", () => this.#set());
    this.shorter = h("button.ghost", { type: "button", "aria-label": "One position less", title: "One position less (shift ←)", onclick: () => this.#reach(-1) }, "−");
    this.longer = h("button.ghost", { type: "button", "aria-label": "One position more", title: "One position more (shift →)", onclick: () => this.#reach(1) }, "+");
    this.canvasTools = h(
      "div.edit-tools",
      {},
      h("div.edit-span", {}, this.where, this.shorter, this.longer),
      h("form.edit-pin", { onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), this.#pin()) }, this.space, this.text, this.pin),
      h("div.edit-row", {}, this.renoise, this.unpin),
    );
    this.chips = h("ul.edit-chips", { "aria-label": "Edits" });
    this.go = h("button.chip.go", { type: "button", onclick: () => this.#go() });
    this.discard = button("Discard", "Forget the edits that have not run", () => this.clear());
    this.hint = h("p.hint");
    this.element = h("section.card.inspect.edit", { id: "edits", "aria-label": "Change it" }, this.title, this.canvasTools, this.set, this.chips, this.hint, h("div.edit-row", {}, this.go, this.discard));
    // Who begins to change something means the step that is seen, so it stays.
    this.canvasTools.addEventListener("focusin", () => this.lane?.player.playing && this.lane.player.pause());
    controls.addEventListener("change", () => this.#repaint());
  }

  /** The step and the span, as an edit names them. */
  get #here() {
    return { .../** @type {Moment} */ (this.moment), ...this.span };
  }

  /** @param {Edit} edit */
  #add(edit) {
    if (!this.moment) return;
    this.added.push(edit);
    this.#changed();
  }

  /** @param {boolean} spaced */
  #spaced(spaced) {
    this.spaced = spaced;
    this.space.setAttribute("aria-pressed", String(spaced));
  }

  #pin() {
    if (!this.moment || !this.text.value) return this.text.focus();
    const lead = this.spaced && !this.text.value.startsWith(" ") ? " " : "";
    this.#add({ type: "pin", ...this.moment, start: this.span.start, text: lead + this.text.value });
    this.text.value = "";
  }

  #set() {
    const edit = this.log && this.moment && setEdit(this.log, this.moment, this.controls.settings);
    if (edit) this.#add(edit);
  }

  /**
   * Runs a fork from the step that is looked at with other parameters of the sampler, and with what else is waiting.
   * @param {Record<string, number>} sampler
   */
  forkWith(sampler) {
    if (!this.moment) return;
    this.#add({ type: "set", ...this.moment, sampler });
    this.#go();
  }

  /** @param {number} by */
  #reach(by) {
    this.dispatchEvent(new CustomEvent("reach", { detail: by }));
  }

  #go() {
    if (!this.log || !this.moment || !this.lane) return;
    const changed = [...this.added, ...this.removed];
    const { recipe, dropped } = forkOf(this.log, this.added, this.removed);
    const moment = firstOf(changed) ?? this.moment;
    const words = [...this.added.map(editName), ...this.removed.map((edit) => `without ${editName(edit)}`)];
    /** @type {Fork} */
    const fork = { lane: this.lane, parent: this.log, recipe, moment, seq: seqBefore(this.log, moment), changes: words.join("; "), dropped: dropped.length };
    this.dispatchEvent(new CustomEvent("go", { detail: fork }));
  }

  /** Forgets what has not run yet. */
  clear() {
    this.added = [];
    this.removed = [];
    this.#changed();
  }

  #changed() {
    this.#repaint();
    this.dispatchEvent(new CustomEvent("changed"));
  }

  #repaint() {
    this.painted = "";
    if (this.lane) this.paint(this.lane, this.moment, this.span);
  }

  /**
   * @param {Lane} lane
   * @param {Moment | null} moment the step that is looked at; none where there is nothing to change
   * @param {{start: number, length: number}} span
   */
  paint(lane, moment, span) {
    const { log } = lane.player;
    if (log !== this.log) Object.assign(this, { added: [], removed: [], painted: "" });
    Object.assign(this, { lane, log, moment, span });
    this.element.hidden = !moment || !log.started;
    if (!moment || !log.started) return;
    const key = [log.run, moment.canvas, moment.step, span.start, span.length, Boolean(log.finished), log.started.canvas_length].join();
    if (key === this.painted) return;
    this.painted = key;
    write(this.title, `Change ${momentName(moment)}`);
    this.canvasTools.hidden = lane.mode !== "diffusion";
    const last = span.start + span.length;
    write(this.where, span.length > 1 ? `Positions ${span.start + 1}–${last}` : `Position ${last}`);
    this.shorter.disabled = span.length <= 1;
    this.longer.disabled = last >= log.started.canvas_length;
    if (!this.text.value) this.#spaced(this.#pieceHere().startsWith(" "));
    this.unpin.hidden = !this.#pinned(moment, span);
    const change = setEdit(log, moment, this.controls.settings);
    this.set.hidden = !change || this.added.some((edit) => JSON.stringify(edit) === JSON.stringify(change));
    if (change) this.set.textContent = `Set ${changeName(/** @type {any} */ (change.sampler ?? change.decoding))}`;
    this.#paintChips();
  }

  /**
   * @param {Moment} moment
   * @param {{start: number, length: number}} span
   */
  #pinned({ canvas, step }, { start, length }) {
    if (canvas < 0 || !this.log) return false;
    const known = this.log.canvases.get(canvas);
    const held = (step > 0 && known?.steps[step]?.pinned) || (step === 1 && known?.started?.pinned) || [];
    return held.slice(start, start + length).some(Boolean) || this.added.some((edit) => edit.type === "pin");
  }

  /** The piece of text at the first position chosen, as this step draws it. */
  #pieceHere() {
    const { canvas, step } = /** @type {Moment} */ (this.moment);
    const known = this.log?.canvases.get(canvas);
    const id = known?.steps[step]?.predicted[this.span.start];
    return id === undefined ? "" : this.log?.text(id) ?? "";
  }

  #paintChips() {
    const log = /** @type {RunLog} */ (this.log);
    const moment = /** @type {Moment} */ (this.moment);
    const first = firstOf(this.added);
    const own = editsOf(log).map((edit) => this.#chip(edit, this.removed.includes(edit) || (first !== null && isAfter(placeOf(edit), first)) ? "left" : "run"));
    this.chips.replaceChildren(...own, ...this.added.map((edit) => this.#chip(edit, "added")));
    this.chips.hidden = this.chips.childElementCount === 0;
    const waiting = this.added.length + this.removed.length;
    const from = firstOf([...this.added, ...this.removed]) ?? moment;
    write(this.go, `Go on from ${momentName(from)}`);
    this.go.classList.toggle("ready", waiting > 0);
    this.discard.hidden = waiting === 0;
    write(this.hint, waiting > 0 ? `${capital(momentName(from))} is taken again with this; all before it stays.` : log.finished ? "Without a change it goes the same way again." : "Going on from here ends the run that is going on.");
  }

  /**
   * @param {Edit} edit
   * @param {"run" | "added" | "left"} state of the run that is shown, to come, or left out of the fork
   */
  #chip(edit, state) {
    const words = `${editName(edit)} · ${momentName(placeOf(edit))}`;
    const own = this.removed.includes(edit);
    const act = () => {
      if (state === "added") this.added = this.added.filter((each) => each !== edit);
      else if (own) this.removed = this.removed.filter((each) => each !== edit);
      else this.removed = [...this.removed, edit];
      this.#changed();
      this.go.focus();
    };
    const label = own ? `Keep: ${words}` : `Remove: ${words}`;
    const takeOut = h("button.ghost.tiny", { type: "button", "aria-label": label, title: label, onclick: act }, icon(own ? "again" : "close"));
    const note = state === "added" ? "has not run yet" : state === "left" ? "left out when going on" : "of this run";
    return h("li.edit-chip", { "data-state": state, title: note }, h("span.edit-words", {}, words), h("span.sr-only", {}, ` (${note})`), ...(state === "left" && !own ? [] : [takeOut]));
  }
}

/** @param {string} words */
function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Says in its lane what a fork is, with the way back.
 * @param {Fork} fork
 * @param {Session} session
 */
export function sayFork(fork, session) {
  const back = () => fork.lane.show(fork.parent, "Back at the run that was forked.");
  const button = h("button.chip.small", { type: "button", onclick: () => (session.leave(), back(), fork.lane.player.seek(fork.parent.frameAt(fork.seq + 1))) }, "Back to it");
  fork.lane.say(forkName(fork), "note", button);
}
