// @ts-check
/** The race: two runs replayed on the device's clock, and how they stand at every moment. It drives the players of its lanes. */

/** @import { Lane } from "../lane/lane.js" */
import { h, icon, number, write } from "../parts/element.js";
import { RaceClock, Track, ahead, shortAnswerTax } from "../run/race.js";
import { RaceStrip } from "./racestrip.js";

/** Device seconds per second of the person's. */
const FACTORS = [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64];
const COLUMNS = ["forward passes", "tokens", "first token", "tokens/s"];
/** A race should last about so long at first. */
const LASTS_MS = 6000;
const NUDGE = 40;

export class RaceCard extends EventTarget {
  constructor() {
    super();
    /** @type {[Lane, Lane] | null} */
    this.lanes = null;
    /** @type {[Track, Track] | null} */
    this.tracks = null;
    this.clock = new RaceClock(0);
    this.on = false;
    this.offersAr = false;
    this.note = h("p.race-note");
    this.start = h("button.chip.go.ready", { type: "button", onclick: () => this.open() }, "Race");
    this.stop = h("button.chip.small", { type: "button", onclick: () => this.close() }, "End race");
    this.other = h("button.chip.small", { type: "button", onclick: () => this.dispatchEvent(new CustomEvent("against-ar")) }, "Run AR and race it");
    this.lead = h("p.race-lead");
    this.rows = [0, 1].map(() => ({ name: h("th", { scope: "row" }), cells: COLUMNS.map((name) => h("td", { "data-label": name })), row: h("tr") }));
    for (const { row, name, cells } of this.rows) row.append(name, ...cells);
    this.strip = new RaceStrip((ms) => this.seek(ms));
    this.toggle = h("button.round", { type: "button", onclick: () => this.press() });
    this.time = h("output.race-time", { "aria-label": "Device time" });
    this.speed = h("select.chip.speed", { "aria-label": "Speed of the race", title: "Device time against yours", onchange: () => (this.clock.factor = Number(this.speed.value)) });
    for (const factor of FACTORS) this.speed.append(h("option", { value: factor }, factor === 1 ? "real time × 1" : `real time × 1/${1 / factor}`));
    this.fine = h("p.hint.race-fine");
    this.body = h(
      "div.race-body",
      {},
      this.lead,
      h("div.race-table", {}, h("table", {}, h("thead", {}, h("tr", {}, h("td"), ...COLUMNS.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...this.rows.map(({ row }) => row)))),
      this.fine,
      h("div.player.race-player", {}, this.toggle, this.strip.element, this.time, this.speed),
    );
    this.element = h("section.card.race", { "aria-label": "Race" }, h("header.card-head", {}, h("h2", {}, "Race"), this.note, this.other, this.start, this.stop), this.body);
    this.element.hidden = true;
    this.playing = "";
  }

  /**
   * The lanes that could race; none where nothing has ended.
   * @param {[Lane, Lane] | null} lanes
   * @param {boolean} offersAr whether the autoregressive run is still to be made
   */
  offer(lanes, offersAr) {
    const same = lanes !== null && this.lanes !== null && lanes.every((lane, at) => lane === this.lanes?.[at] && this.tracks?.[at].log === lane.player.log);
    if (!same) {
      this.close();
      this.lanes = lanes;
      this.tracks = lanes && [new Track(lanes[0].player.log), new Track(lanes[1].player.log)];
    }
    this.offersAr = offersAr;
    this.#layOut();
  }

  #layOut() {
    const { lanes, offersAr } = this;
    this.element.hidden = !lanes && !offersAr;
    this.start.hidden = !lanes || this.on;
    this.other.hidden = !offersAr || this.on;
    this.stop.hidden = !this.on;
    this.body.hidden = !this.on;
    this.note.textContent = this.on ? "" : lanes ? `${lanes[0].title} and ${lanes[1].title.toLowerCase()}, replayed on one clock.` : "One canvas at a time against one token at a time, on one clock.";
  }

  open() {
    if (!this.lanes || !this.tracks) return;
    const [left, right] = this.tracks;
    this.on = true;
    this.clock = new RaceClock(Math.max(left.end, right.end));
    const factor = FACTORS.find((each) => this.clock.length / each >= LASTS_MS) ?? FACTORS[FACTORS.length - 1];
    this.clock.factor = factor;
    this.speed.value = String(factor);
    for (const lane of this.lanes) {
      lane.player.pause();
      lane.driven = true;
    }
    this.rows.forEach(({ name }, at) => (name.textContent = this.lanes?.[at].title ?? ""));
    this.strip.show(this.tracks, this.clock.length);
    this.fine.textContent = this.#fine();
    this.#layOut();
    this.dispatchEvent(new CustomEvent("on", { detail: true }));
    this.clock.play();
    this.#run();
    this.toggle.focus({ preventScroll: true });
  }

  close() {
    if (!this.on) return;
    this.on = false;
    this.clock.pause();
    for (const lane of this.lanes ?? []) lane.driven = false;
    this.#layOut();
    this.dispatchEvent(new CustomEvent("on", { detail: false }));
  }

  press() {
    if (this.clock.playing) this.clock.pause();
    else this.clock.play();
    this.#run();
  }

  /** @param {number} ms */
  seek(ms) {
    this.clock.pause();
    this.clock.seek(ms);
    this.paint();
  }

  #run() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => {
      this.asked = false;
      if (!this.on) return;
      const wasPlaying = this.clock.playing;
      const more = this.clock.tick(now);
      this.paint();
      if (more) this.#run();
      else if (wasPlaying && this.clock.over) this.dispatchEvent(new CustomEvent("over", { detail: this.lead.textContent }));
    });
  }

  paint() {
    if (!this.lanes || !this.tracks) return;
    const { ms } = this.clock;
    const [left, right] = this.tracks;
    this.tracks.forEach((track, at) => {
      const standing = track.at(ms);
      this.lanes?.[at].player.drive(standing.index);
      const first = track.first !== null && track.first <= ms ? `${number(track.first / 1000, 3)} s` : "–";
      const accepted = standing.accepted > 0 && !standing.done ? ` + ${standing.accepted} accepted` : "";
      const texts = [String(standing.passes), `${standing.tokens}${accepted}`, first, standing.rate === null ? "–" : number(standing.rate, 0)];
      texts.forEach((text, cell) => write(this.rows[at].cells[cell], text));
      this.rows[at].row.dataset.done = String(standing.done);
    });
    const { who, by, unit, over } = ahead(left, right, ms);
    const name = who === "nobody" ? "" : this.lanes[who === "left" ? 0 : 1].title;
    this.rows.forEach(({ row }, at) => row.toggleAttribute("data-ahead", who === (at === 0 ? "left" : "right")));
    const reading = this.tracks.every((track) => track.at(ms).index < 0);
    write(this.lead, reading ? "Both are still reading the prompt." : leadOf(name, by, unit, over));
    write(this.time, `${number(ms / 1000, 3)} s`);
    this.strip.paint(ms);
    const playing = this.clock.playing ? "pause" : this.clock.over ? "again" : "play";
    if (playing === this.playing) return;
    this.playing = playing;
    this.toggle.replaceChildren(icon(/** @type {"play"} */ (playing)));
    this.toggle.setAttribute("aria-label", { play: "Play the race", pause: "Pause the race", again: "Race again" }[playing]);
  }

  /** What has to be said of these two runs. */
  #fine() {
    if (!this.lanes || !this.tracks) return "";
    const logs = this.tracks.map(({ log }) => log);
    const words = this.lanes.map((lane, at) => {
      const tax = shortAnswerTax(logs[at]);
      return tax && `${lane.title}: ${tax.charAt(0).toLowerCase()}${tax.slice(1)}`;
    });
    if (logs.some((log) => log.finished?.metrics.shared_device)) words.push("A run shared the device with others, so its times are not its own.");
    else words.push("Each run had the device to itself; waiting and pace are left out.");
    if (logs[0].started?.device !== logs[1].started?.device || logs[0].started?.model_revision !== logs[1].started?.model_revision) words.push("The two were made on different devices or with different weights.");
    if (logs.some((log) => log.started?.recipe.mode === "diffusion") && logs.some((log) => log.started?.recipe.mode !== "diffusion")) words.push("Tokens are final ones: diffusion has its first when its first canvas is committed.");
    return words.filter(Boolean).join(" ");
  }

  /**
   * A key of the race; whether it was one.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, [data-own-keys]")) return;
    if (event.key === " " && target.closest("button, a, summary")) return;
    const step = this.clock.length / NUDGE;
    if (event.key === " ") this.press();
    else if (event.key === "ArrowLeft") this.seek(this.clock.ms - step);
    else if (event.key === "ArrowRight") this.seek(this.clock.ms + step);
    else if (event.key === "Home") this.seek(0);
    else if (event.key === "End") this.seek(this.clock.length);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }
}

/**
 * Who is ahead, in a sentence.
 * @param {string} name empty for nobody
 * @param {number} by
 * @param {"ms" | "tokens" | "accepted"} unit
 * @param {boolean} over
 */
function leadOf(name, by, unit, over) {
  if (!name) return over ? "Both were done at the same moment." : "Nobody is ahead.";
  const seconds = `${number(by / 1000, 3)} s`;
  if (unit === "ms") return over ? `${name} was done first, by ${seconds}.` : `${name} has been done for ${seconds}.`;
  const tokens = by === 1 ? "1 token" : `${by} tokens`;
  return unit === "tokens" ? `${name} is ahead by ${tokens}.` : `${name} is ahead by ${tokens} accepted, none of them final yet.`;
}
