// @ts-check
/** The run as a file: trace, table, or a page that plays it with no server. */

/** @import { RunLog } from "../run/log.js" */
import { h } from "../parts/element.js";
import { Menu } from "../parts/menu.js";
import { address } from "../run/wire.js";

const KINDS = /** @type {const} */ ([
  ["html", "", "HTML page", "plays anywhere, with no server and no network"],
  ["jsonl", "", "Trace, JSONL", "every event; plays here and in a terminal"],
  ["csv", "steps", "Steps, CSV", "one row a step"],
  ["csv", "positions", "Positions, CSV", "one row a position and step"],
  ["parquet", "steps", "Steps, Parquet", "one row a step"],
  ["parquet", "positions", "Positions, Parquet", "one row a position and step"],
]);

export class Exports {
  /** @param {() => {title: string, log: RunLog}[]} shown the runs that are shown */
  constructor(shown) {
    this.shown = shown;
    this.menu = new Menu("Export", "Export the run as a file");
    this.menu.addEventListener("open", () => this.#fill());
  }

  #fill() {
    const lanes = this.shown().filter(({ log }) => log.started);
    const parts = lanes.flatMap(({ title, log }) => [...(lanes.length > 1 ? [h("h3", {}, title)] : []), this.#links(log)]);
    this.menu.panel.replaceChildren(...(parts.length ? parts : [h("p.hint", {}, "There is no run yet.")]));
  }

  /** @param {RunLog} log */
  #links(log) {
    if (!log.finished) return h("p.hint", {}, log.lost ? "The run broke off, so there is no whole trace of it." : "The run is still going on; it can be had as a file once it has ended.");
    if (!log.server) return this.#ofOwn(log);
    return h(
      "ul.exports",
      {},
      ...KINDS.map(([kind, table, name, what]) =>
        h("li", {}, h("a", { href: address(`api/runs/${log.run}/export.${kind}${table ? `?table=${table}` : ""}`), download: "", onclick: () => this.menu.close() }, h("b", {}, name), h("span.hint", {}, what))),
      ),
    );
  }

  /**
   * A recording that the server does not have: its trace is here, the other kinds the server makes of it.
   * @param {RunLog} log
   */
  #ofOwn(log) {
    const note = h("li.hint", { role: "status" });
    note.hidden = true;
    const make = async (/** @type {string} */ kind, /** @type {string} */ table) => {
      const say = (/** @type {string} */ words) => ((note.hidden = !words), (note.textContent = words));
      say("The server turns the trace into this kind of file…");
      try {
        const response = await fetch(address(`api/traces/export.${kind}${table ? `?table=${table}` : ""}`), { method: "POST", body: traceOf(log) });
        if (!response.ok) return say(`The file cannot be made: ${(await response.json()).message ?? `status ${response.status}`}`);
        save(await response.blob(), `${log.run}${table ? `-${table}` : ""}.${kind}`);
        say("");
        this.menu.close();
      } catch {
        say("The file cannot be made: the server does not answer.");
      }
    };
    const choice = (/** @type {typeof KINDS[number]} */ [kind, table, name, what]) => {
      const act = () => (kind === "jsonl" ? (save(traceOf(log), `${log.run}.jsonl`), this.menu.close()) : void make(kind, table));
      return h("li", {}, h("button", { type: "button", "data-kind": kind, onclick: act }, h("b", {}, name), h("span.hint", {}, what)));
    };
    return h("ul.exports", {}, ...KINDS.map(choice), note);
  }
}

/**
 * A run's own lines, as they came.
 * @param {RunLog} log
 */
function traceOf(log) {
  const lines = Array.from(log.events.keys(), Number).sort((a, b) => a - b).map((seq) => JSON.stringify(log.events.get(seq)));
  return new Blob([`${lines.join("\n")}\n`], { type: "application/jsonl" });
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function save(blob, name) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
