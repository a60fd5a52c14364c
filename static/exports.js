// @ts-check
/** The run as a file: trace, table, or a page that plays it with no server. */

/** @import { RunLog } from "./log.js" */
import { h } from "./element.js";
import { Menu } from "./menu.js";
import { address } from "./wire.js";

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
    if (!log.finished) return h("p.hint", {}, "The run is still going on; it can be had as a file once it has ended.");
    if (!log.server) return h("ul.exports", {}, h("li", {}, this.#ownTrace(log)), h("li.hint", {}, "This recording is not on the server, so the other kinds of file cannot be made of it."));
    return h(
      "ul.exports",
      {},
      ...KINDS.map(([kind, table, name, what]) =>
        h("li", {}, h("a", { href: address(`api/runs/${log.run}/export.${kind}${table ? `?table=${table}` : ""}`), download: "", onclick: () => this.menu.close() }, h("b", {}, name), h("span.hint", {}, what))),
      ),
    );
  }

  /** A recording's own lines, as they came. @param {RunLog} log */
  #ownTrace(log) {
    const lines = Array.from(log.events.keys(), Number).sort((a, b) => a - b).map((seq) => JSON.stringify(log.events.get(seq)));
    const url = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "application/jsonl" }));
    return h("a", { href: url, download: `${log.run}.jsonl`, onclick: () => setTimeout(() => URL.revokeObjectURL(url), 60_000) }, h("b", {}, "Trace, JSONL"), h("span.hint", {}, "every event; plays here and in a terminal"));
  }
}
