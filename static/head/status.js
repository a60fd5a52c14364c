// @ts-check
/** The bar at the top: which model, whether what is seen is live, and how the connection stands. Also speaks to screen readers. */

/** @import { Models } from "./modelmenu.js" */
/** @import { Room } from "../classroom/room.js" */
/** @import { Socket } from "../live/socket.js" */
import { Toolbox } from "./toolbox.js";
import { h } from "../parts/element.js";
import { ModelMenu } from "./modelmenu.js";
import { called } from "../live/introduction.js";
import { address } from "../run/wire.js";

const ASK_EVERY_MS = 1000;
/** A short loss heals before anybody needs to be told. */
const QUIET_MS = 700;

export class Status extends EventTarget {
  /**
   * @param {HTMLElement} element
   * @param {{element: HTMLElement}} views
   * @param {HTMLElement[]} tools what can be done with the run that is shown, and with the page
   */
  constructor(element, views, tools) {
    super();
    /** @type {any} the model the server runs, once it is loaded */
    this.model = null;
    this.models = new ModelMenu();
    this.asking = false;
    this.sourceChip = h("span.chip.flat", { "data-source": "" });
    this.connectionChip = h("span.chip.flat.warn", { role: "status" });
    this.connectionChip.hidden = true;
    this.sourceChip.hidden = true;
    this.toolbox = new Toolbox(tools);
    this.speech = h("p.sr-only", { "aria-live": "polite", "data-speech": "" });
    element.append(
      h("div.bar", {}, h("h1", {}, "Denoise"), ...this.models.elements, this.sourceChip, this.connectionChip, h("span.grow"), views.element, this.toolbox.element),
      this.speech,
    );
    this.#ask();
  }

  /**
   * Says something to who cannot see it; not too often.
   * @param {string} sentence
   */
  announce(sentence) {
    this.speech.textContent = sentence;
  }

  /** @param {"live" | "paused" | "recording" | "finished" | ""} source */
  source(source) {
    this.sourceChip.hidden = !source;
    this.sourceChip.dataset.source = source;
    this.sourceChip.textContent = source;
  }

  /** Asks which model there is, until there is one or none can be had. */
  async #ask() {
    if (this.asking) return;
    this.asking = true;
    for (let status = "loading"; status === "loading"; ) {
      try {
        const answer = await (await fetch(address("api/models"))).json();
        this.#show(answer);
        status = answer.status;
      } catch {
        // the connection's own line says that the server is away
      }
      if (status === "loading") await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
    this.asking = false;
  }

  /** @param {Models} told */
  #show(told) {
    const { status, message, models } = told;
    this.models.paint(told);
    if (models.length) this.toolbox.note.textContent = `${this.models.chip.textContent}: ${this.models.chip.title}`;
    const before = this.model?.name;
    if (status === "ready" && models.length) this.model = { ...models[0], choices: told.choices ?? [] };
    else if (status === "failed") this.model = null;
    if (this.model && before && this.model.name !== before) this.announce(`The model is now ${called(this.model.name)}.`);
    else if (told.switch && told.switch.failed && told.switch.message !== this.failure) this.announce(told.switch.message);
    this.failure = told.switch?.failed ? told.switch.message : "";
    this.dispatchEvent(new CustomEvent("model", { detail: { status, message, model: this.model } }));
  }

  /**
   * @param {Socket} socket
   * @param {Room} room
   */
  watch(socket, room) {
    this.models.connect(socket, room);
    socket.addEventListener("models", (/** @type {any} */ event) => this.#show(event.detail));
    socket.addEventListener("connection", (/** @type {any} */ event) => event.detail === "open" && void this.#ask()); // what was told meanwhile was missed
    const show = () => {
      clearTimeout(this.timer);
      const lost = socket.state === "lost";
      if (!lost && socket.state !== "connecting") {
        this.connectionChip.hidden = true;
        return;
      }
      const seconds = Math.max(0, Math.ceil((socket.retryAt - performance.now()) / 1000));
      this.connectionChip.textContent = lost ? `Connection lost · trying again${seconds > 0 ? ` in ${seconds} s` : ""}` : "Connecting…";
      this.timer = setTimeout(() => {
        this.connectionChip.hidden = socket.state === "open";
        if (socket.state !== "open") show();
      }, QUIET_MS);
    };
    socket.addEventListener("connection", show);
    show();
  }
}
