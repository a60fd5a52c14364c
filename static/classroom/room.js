// @ts-check
/**
 * A room as the server tells it: comes in, comes back after a loss, says what the teacher leads and what a student
 * answers. It knows messages, not pages.
 */

/** @import { Socket } from "../live/socket.js" */
import { address } from "../run/wire.js";

/**
 * What everybody who follows sees.
 * @typedef {object} Show
 * @property {"diffusion" | "autoregressive" | "side_by_side"} mode
 * @property {Record<string, string>} runs  by lane
 * @property {Record<string, number>} at  `seq` of the event looked at, by lane
 * @property {boolean} playing
 * @property {{canvas: number, position: number} | null} chosen
 * @property {boolean} noise
 *
 * @typedef {object} Question
 * @property {number} id
 * @property {string} run
 * @property {number} seq
 * @property {boolean} open
 * @property {number} answers
 * @property {Record<string, number> | null} tally
 * @property {number[] | null} yours
 *
 * @typedef {object} RoomState
 * @property {string} room
 * @property {boolean} open
 * @property {"teacher" | "student"} role
 * @property {string} link
 * @property {number} students
 * @property {boolean} teacher
 * @property {boolean} leads  whether this page was the last to say what is shown
 * @property {boolean} starts
 * @property {{name: string, part: number} | null} lesson
 * @property {Show} show
 * @property {Question | null} question
 */

const STUDENT = "denoise-student";
const token = (/** @type {string} */ code) => `denoise-room-${code}`;

export class Room extends EventTarget {
  /** @param {Socket} socket */
  constructor(socket) {
    super();
    this.socket = socket;
    this.code = "";
    /** The teacher's; it stays in this tab. @type {string | null} */
    this.token = null;
    /** @type {RoomState | null} */
    this.state = null;
    socket.addEventListener("room", (/** @type {any} */ event) => this.#take(event.detail));
    socket.addEventListener("connection", (/** @type {any} */ event) => event.detail === "open" && this.code && this.#join());
  }

  get teaching() {
    return this.state?.role === "teacher";
  }

  /**
   * Opens a room and comes in as its teacher. Rejects with an Error in a sentence.
   * @returns {Promise<{reachable: boolean}>}
   */
  async open() {
    const page = new URL(document.baseURI);
    const response = await fetch(address("api/rooms"), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ page: `${page.origin}${page.pathname}` }) });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.message ?? `The server answers with status ${response.status}.`);
    this.enter(answer.room, answer.token);
    return { reachable: answer.reachable };
  }

  /**
   * Comes into a room, as its teacher with a token or where this tab had one.
   * @param {string} code
   * @param {string} [given]
   */
  enter(code, given) {
    if (code === this.code && !given) return;
    if (this.code && this.code !== code) this.leave();
    this.code = code;
    this.token = given ?? stored(token(code));
    if (given) store(token(code), given);
    this.#join();
  }

  #join() {
    const { code } = this;
    const who = this.token === null ? { student: student() } : { token: this.token };
    this.socket.say({ type: "join", room: code, ...who }, (error) => {
      if (code !== this.code) return;
      if (error.code === "forbidden" && this.token !== null) store(token(code), null);
      this.#end(error.message);
    });
  }

  leave() {
    if (!this.code) return;
    this.socket.say({ type: "leave" });
    this.#end("");
  }

  /** @param {string} reason a sentence, or none where the person left */
  #end(reason) {
    this.code = "";
    this.token = null;
    this.state = null;
    this.dispatchEvent(new CustomEvent("end", { detail: reason }));
  }

  /** @param {RoomState} state */
  #take(state) {
    if (state.room !== this.code) return;
    if (!state.open) {
      store(token(this.code), null);
      return this.#end(this.teaching ? "" : "The teacher has closed the room.");
    }
    const before = this.state;
    this.state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: { state, before } }));
  }

  /**
   * Says something in the room.
   * @param {{type: string} & Record<string, unknown>} message
   */
  say(message) {
    return this.socket.say(message, (error) => this.dispatchEvent(new CustomEvent("refused", { detail: error })));
  }

  /** The address that makes its holder the teacher. */
  get teachersLink() {
    return `${this.state?.link}&teach=${this.token}`;
  }

  /** The picture of the students' link. */
  get picture() {
    return address(`api/rooms/${this.code}/qr.svg`).href;
  }
}

/** A secret of this tab, so that a student who comes back is the same one. */
function student() {
  const known = stored(STUDENT);
  if (known) return known;
  const made = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  store(STUDENT, made);
  return made;
}

/** @param {string} key */
function stored(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null; // an embed may have no storage
  }
}

/**
 * @param {string} key
 * @param {string | null} value
 */
function store(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // as above: what is kept lasts as long as the page
  }
}
