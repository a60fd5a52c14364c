// @ts-check
/** The bar at the top: which model, whether what is seen is live, and how the connection stands. Also speaks to screen readers. */

/** @import { Socket } from "./socket.js" */
import { Toolbox } from "./toolbox.js";
import { h } from "./element.js";
import { address } from "./wire.js";

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
    this.modelChip = h("span.chip.flat", { "data-model": "loading" }, "model loading…");
    this.sourceChip = h("span.chip.flat", { "data-source": "" });
    this.connectionChip = h("span.chip.flat.warn", { role: "status" });
    this.connectionChip.hidden = true;
    this.sourceChip.hidden = true;
    this.toolbox = new Toolbox(tools);
    this.speech = h("p.sr-only", { "aria-live": "polite", "data-speech": "" });
    element.append(
      h("div.bar", {}, h("h1", {}, "Denoise"), this.modelChip, this.sourceChip, this.connectionChip, h("span.grow"), views.element, this.toolbox.element),
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

  async #ask() {
    for (;;) {
      try {
        const answer = await (await fetch(address("api/models"))).json();
        this.#show(answer);
        if (answer.status !== "loading") return;
      } catch {
        // the connection's own line says that the server is away
      }
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
  }

  /** @param {{status: string, message: string, models: any[]}} answer */
  #show({ status, message, models }) {
    this.modelChip.dataset.model = status;
    this.modelChip.title = message;
    this.modelChip.classList.toggle("warn", status === "failed");
    if (status === "ready" && models.length) {
      this.model = models[0];
      const { name, device, parameters } = this.model;
      const what = name === "embedded" ? "embedded model" : name;
      const where = h("span.device", {}, ` · ${String(device).replace(/^cpu$/, "CPU").replace(/^cuda/, "CUDA")}`);
      this.modelChip.replaceChildren(what, where);
      this.modelChip.title = `${Number(parameters).toLocaleString("en")} parameters, ${this.model.dtype}, canvas of ${this.model.canvas_length} tokens`;
      this.toolbox.note.textContent = `${what}${where.textContent}: ${this.modelChip.title}`;
    } else this.modelChip.textContent = status === "failed" ? "model failed to load" : "model loading…";
    this.dispatchEvent(new CustomEvent("model", { detail: { status, message, model: this.model } }));
  }

  /** @param {Socket} socket */
  watch(socket) {
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
