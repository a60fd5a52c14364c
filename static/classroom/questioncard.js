// @ts-check
/** The class's question on the page: students tap tokens, the teacher shows the tally against the truth. */

/** @import { Inspector } from "../inspector/inspector.js" */
/** @import { Lane } from "../lane/lane.js" */
/** @import { Question, Room } from "./room.js" */
import { h, visible } from "../parts/element.js";
import { asked, tallied, truthOf } from "../run/question.js";

const MOST_PICKS = 8;
const ROWS = 8;

export class QuestionCard {
  /**
   * @param {Room} room
   * @param {Lane} lane
   * @param {Inspector} inspector
   */
  constructor(room, lane, inspector) {
    this.room = room;
    this.lane = lane;
    this.inspector = inspector;
    /** What this student has tapped. @type {Set<number>} */
    this.picks = new Set();
    this.id = 0;
    /** Whether there may be marks on the canvas. */
    this.marked = false;
    /** Whether a tap is an answer now. */
    this.taking = false;
    this.title = h("h3", {}, "Which positions will be accepted next?");
    this.count = h("span.hint", { "aria-live": "polite" });
    this.lead = h("p.question-lead");
    this.rows = h("ol.votes");
    this.yours = h("p.hint", { "aria-live": "polite" });
    this.reveal = h("button.chip.go", { type: "button", onclick: () => this.#reveal() }, "Show the answer");
    this.away = h("button.chip.small", { type: "button", onclick: () => this.room.say({ type: "tally", shown: false }) }, "Put it away");
    this.clear = h("button.chip.small", { type: "button", onclick: () => this.#set([]) }, "Start over");
    this.element = h("section.card.question", { "aria-label": "The question" }, h("header.card-head", {}, this.title, this.count), this.lead, this.rows, this.yours, h("div.edit-row", {}, this.reveal, this.away, this.clear));
    this.element.hidden = true;
    lane.text.addEventListener("click", (/** @type {MouseEvent} */ event) => this.#tap(event), { capture: true });
    lane.text.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (!this.taking || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      event.stopPropagation();
      this.#toggle(inspector.chosen.position);
    });
    lane.addEventListener("paint", () => this.#mark());
  }

  /** Whether a question can be asked about what the lane shows. */
  get can() {
    const { frame, log } = this.lane.player;
    const next = frame && asked(log, frame.seq);
    return Boolean(next && next.left.size);
  }

  ask() {
    const { frame, log } = this.lane.player;
    if (!frame || !log.run || !this.can) return;
    this.lane.player.seek(this.lane.player.index);
    this.room.say({ type: "ask", run: log.run, seq: frame.seq, positions: log.started?.canvas_length ?? 1 });
  }

  /** Who is asked sees what to tap, wherever the page was. */
  #bring() {
    const { top } = this.lane.text.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) this.lane.element.scrollIntoView({ block: "start" });
  }

  /** The answer is on the canvas too: the page goes one step on. */
  #reveal() {
    this.room.say({ type: "tally", shown: true });
    this.lane.player.nudge(1);
  }

  /** @param {MouseEvent} event */
  #tap(event) {
    if (!this.taking) return;
    const mark = /** @type {HTMLElement} */ (event.target).closest("[data-p]");
    if (!(mark instanceof HTMLElement)) return;
    event.stopPropagation();
    const position = Number(mark.dataset.p);
    const left = this.#left();
    this.#toggle(mark.classList.contains("tail-chip") ? [...left].find((each) => each >= position) ?? position : position);
  }

  #left() {
    const { question } = /** @type {any} */ (this.room.state);
    return asked(this.lane.player.log, question.seq)?.left ?? new Set();
  }

  /** @param {number} position */
  #toggle(position) {
    if (!this.#left().has(position)) return this.#say("That one is accepted already; choose among those in grey.");
    if (!this.picks.has(position) && this.picks.size >= MOST_PICKS) return this.#say(`At most ${MOST_PICKS}; tap one of yours to take it back.`);
    const next = new Set(this.picks);
    if (!next.delete(position)) next.add(position);
    this.#set([...next]);
  }

  /** @param {number[]} positions */
  #set(positions) {
    this.picks = new Set(positions);
    this.room.say({ type: "answer", question: this.id, positions });
    this.#sayPicks();
    this.#mark();
  }

  /** @param {string} sentence */
  #say(sentence) {
    this.yours.textContent = sentence;
  }

  #sayPicks() {
    const count = this.picks.size;
    this.#say(count ? `${count} chosen. Tap a token again to take it back.` : "Nothing chosen yet.");
    this.clear.hidden = count === 0;
  }

  /**
   * @param {Question | null} question
   * @param {boolean} here whether the page shows what the teacher's shows
   */
  show(question, here) {
    const teaching = this.room.teaching;
    this.element.hidden = !question || !here;
    this.taking = Boolean(question?.open && here && !teaching);
    this.lane.text.classList.toggle("asking", this.taking);
    if (!question || !here) return this.#mark();
    if (question.id !== this.id) {
      this.id = question.id;
      if (this.taking) this.#bring();
      this.picks = new Set(question.yours ?? []);
    }
    const { log } = this.lane.player;
    const next = asked(log, question.seq);
    this.title.textContent = question.open ? "Which positions will be accepted next?" : "What was accepted, and what the class said";
    this.count.textContent = question.answers === 1 ? "1 answer" : `${question.answers} answers`;
    this.reveal.hidden = !(teaching && question.open);
    this.away.hidden = !teaching;
    this.clear.hidden = true;
    this.rows.hidden = question.open || !question.tally;
    if (question.open) {
      this.lead.textContent = next ? `${next.left.size} positions are open before step ${next.step}. ${teaching ? "The class is choosing." : "Tap the tokens that you think will be accepted in it."}` : "";
      if (teaching) this.#say("");
      else this.#sayPicks();
    } else this.#paintTally(question);
    this.#mark();
  }

  /** @param {Question} question */
  #paintTally(question) {
    const { log } = this.lane.player;
    const truth = truthOf(log, question.seq);
    const { rows, votes, right } = tallied(question.tally ?? {}, truth);
    const event = log.events.get(question.seq);
    const drafts = event?.type === "step" ? event.predicted : event?.type === "canvas_started" ? event.canvas_ids : [];
    this.lead.textContent = !truth
      ? "The step that was asked about has not been taken yet."
      : `Step ${truth.step} accepted ${truth.fresh.size} of the ${truth.left.size} positions that were open. ${votes ? `${right} of ${votes} votes were right.` : "Nobody answered."}`;
    const most = rows[0]?.votes ?? 1;
    this.rows.replaceChildren(
      ...rows.slice(0, ROWS).map((row) =>
        h(
          "li",
          { "data-right": String(row.right) },
          h("span.token", {}, visible(log.text(drafts[row.position]))),
          h("span.hint", {}, `position ${row.position + 1}`),
          h("span.bar", {}, h("i", { style: `width:${((100 * row.votes) / most).toFixed(1)}%` })),
          h("span.vote-count", {}, String(row.votes)),
          h("span.verdict", {}, row.right === null ? "" : row.right ? "accepted ✓" : "not yet"),
        ),
      ),
    );
    const mine = question.yours ?? [];
    this.#say(truth && mine.length ? `Yours: ${mine.filter((position) => truth.fresh.has(position)).length} of ${mine.length} right.` : "");
  }

  /** Marks what was chosen, and how often, on the canvas itself. */
  #mark() {
    const question = this.element.hidden ? null : this.room.state?.question ?? null;
    if (!question && !this.marked) return;
    this.marked = question !== null;
    const canvas = question && asked(this.lane.player.log, question.seq)?.canvas;
    for (const [index, text] of this.lane.texts) {
      const mine = question !== null && index === canvas;
      for (const [position, { element }] of text.cells.entries()) {
        const picked = mine && this.picks.has(position);
        const votes = mine && !question.open ? question.tally?.[position] : undefined;
        if (picked !== ("pick" in element.dataset)) element.toggleAttribute("data-pick", picked);
        if (String(votes ?? "") !== (element.dataset.votes ?? "")) {
          if (votes) element.dataset.votes = String(votes);
          else delete element.dataset.votes;
        }
      }
    }
  }
}
