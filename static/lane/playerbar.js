// @ts-check
/** The player's buttons, its timeline and its keys. */

/** @import { Pace } from "../live/pace.js" */
/** @import { Player } from "./player.js" */
import { h, icon } from "../parts/element.js";
import { Timeline } from "./timeline.js";

/** Elements that have their own use for the player's keys. */
const OWN_KEYS = "input, textarea, select, [contenteditable], .js-plotly-plot, [role=dialog], [data-own-keys]";

export class PlayerBar {
  /**
   * @param {Player} player
   * @param {Pace} pace
   */
  constructor(player, pace) {
    this.player = player;
    this.timeline = new Timeline(player);
    this.toggle = h("button.round", { type: "button", onclick: () => this.player.toggle() });
    this.back = h("button.ghost", { type: "button", "aria-label": "One step back", title: "One step back (←)", onclick: () => this.player.nudge(-1) }, icon("back"));
    this.forward = h("button.ghost", { type: "button", "aria-label": "One step on", title: "One step on (→)", onclick: () => this.player.nudge(1) }, icon("forward"));
    this.live = h("button.chip", { type: "button", "aria-pressed": "false", title: "Keep up with the run", onclick: () => this.player.followLive() }, "Follow live");
    this.element = h("div.player", {}, this.toggle, this.back, this.timeline.element, this.forward, pace.control(), this.live);
    this.showing = "";
    this.paintState();
  }

  /** @param {Player} player */
  show(player) {
    this.player = player;
    this.timeline.show(player);
    this.paintState();
  }

  paint() {
    this.timeline.paint();
    this.paintState();
  }

  paintState() {
    const { player } = this;
    const again = player.atEnd && !player.log.live && player.log.frames.length > 0;
    const empty = player.log.frames.length === 0;
    for (const button of [this.toggle, this.back, this.forward]) button.disabled = empty;
    const showing = empty ? "play" : player.playing && !again ? "pause" : again ? "again" : "play";
    if (showing !== this.showing) {
      this.showing = showing;
      this.toggle.replaceChildren(icon(/** @type {"play"} */ (showing)));
      const label = { play: "Play", pause: "Pause playback", again: "Play again" }[showing];
      this.toggle.setAttribute("aria-label", label);
      this.toggle.title = `${label} (space)`;
    }
    const live = player.log.live && player.log.started !== null;
    this.live.hidden = !live;
    this.element.classList.toggle("live", live);
    this.live.setAttribute("aria-pressed", String(player.following));
  }

  /**
   * A key of the player; whether it was one.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (this.element.inert) return false;
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest(OWN_KEYS)) return false;
    if (event.key === " " && target.closest("button, a, summary")) return false;
    if (event.key === " ") this.player.toggle();
    else if (event.key === "ArrowLeft") this.player.nudge(-1);
    else if (event.key === "ArrowRight") this.player.nudge(1);
    else if (event.key === "Home") this.player.home();
    else if (event.key === "End") this.player.end();
    else return false;
    event.preventDefault();
    return true;
  }
}
