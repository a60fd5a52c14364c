// @ts-check
/** Plotly's figures in the page's own colours. The library is loaded when the first figure is drawn. */

import { h } from "../parts/element.js";
import { address } from "../run/wire.js";

/** Colours of `playground/lab/figures.py`, and whose place they take here. */
const COLOURS = { "#2563eb": "--accent", "#b45309": "--amber", "#8a857c": "--muted", "#b5afa5": "--draft-soft" };

/** @type {Promise<any> | null} */
let library = null;

function plotly() {
  library ??= new Promise((resolve, reject) => {
    const present = /** @type {any} */ (window).Plotly;
    if (present?.react) return resolve(present);
    const script = h("script", { src: address("page/plotly.min.js"), onload: () => resolve(/** @type {any} */ (window).Plotly), onerror: () => reject(new Error("The figures' library could not be loaded.")) });
    document.head.append(script);
  });
  return library;
}

/**
 * Draws a figure, or draws it anew.
 * @param {HTMLElement} element
 * @param {any} figure plotly's JSON
 * @param {string} chosen the setting to mark, as JSON
 * @param {(setting: string) => void} choose called with a point's own data when it is clicked
 */
export async function draw(element, figure, chosen, choose) {
  const Plotly = await plotly();
  const style = getComputedStyle(/** @type {Element} */ (document.getElementById("denoise")));
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  let text = JSON.stringify(figure);
  for (const [from, name] of Object.entries(COLOURS)) text = text.replaceAll(from, colour(name));
  const { data, layout } = JSON.parse(text);
  for (const trace of data) {
    const at = trace.customdata?.findIndex?.((/** @type {string} */ setting) => same(setting, chosen)) ?? -1;
    if (at >= 0) Object.assign(trace, { selectedpoints: [at], selected: { marker: { size: 15 } }, unselected: { marker: { opacity: 1 } } });
  }
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--line"), automargin: true };
  const own = {
    ...layout,
    template: undefined,
    autosize: true,
    width: undefined,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: colour("--sans"), size: 12, color: colour("--muted") },
    hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--ink"), family: colour("--sans") } },
    xaxis: { ...layout.xaxis, ...axis },
    yaxis: { ...layout.yaxis, ...axis },
  };
  const drawn = element.classList.contains("js-plotly-plot");
  element.style.height = `${layout.height ?? 420}px`; // plotly forgets its own when the width changes
  await Plotly.react(element, data, own, { displayModeBar: false, responsive: true });
  if (!drawn) {
    new ResizeObserver(() => element.isConnected && element.offsetParent && Plotly.Plots.resize(element)).observe(element); // cards come and go beside it
    /** @type {any} */ (element).on("plotly_click", (/** @type {any} */ event) => {
      const setting = event.points.find((/** @type {any} */ point) => typeof point.customdata === "string")?.customdata;
      if (setting) choose(setting);
    });
  }
}

/**
 * Whether two settings are the same, however their fields are ordered.
 * @param {string} one JSON
 * @param {string} other
 */
export function same(one, other) {
  if (!one || !other) return false;
  const sorted = (/** @type {string} */ text) => JSON.stringify(Object.entries(JSON.parse(text)).sort(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}
