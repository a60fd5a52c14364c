// @ts-check
/** Light or dark: follows the system until the person chooses. Also the colours for what is drawn and not styled. */

import { h, icon } from "./element.js";

const NAMES = ["ink", "muted", "line", "card", "accent", "accent-soft", "accent-faint", "amber", "amber-soft", "draft", "draft-soft"];
const KEY = "denoise-theme";

/** @type {Record<string, string> | null} */
let colours = null;

/** The colours in force, by name. @returns {Record<string, string>} */
export function palette() {
  if (!colours) {
    const style = getComputedStyle(document.body);
    colours = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim() || "#888"]));
  }
  return colours;
}

/** A choice stays in this browser, where the browser lets a page keep anything. */
function kept() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param {string} choice */
function keep(choice) {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // in an embed without storage the choice lasts as long as the page
  }
}

export class Theme extends EventTarget {
  constructor() {
    super();
    const system = matchMedia("(prefers-color-scheme: dark)");
    /** @type {string | null} */
    this.choice = kept();
    this.button = h("button.ghost.theme", { type: "button", onclick: () => this.#choose() }, icon("theme"));
    const apply = () => this.#apply(system.matches);
    system.addEventListener("change", apply);
    // Gradio sets its own class once it has loaded; ours has the last word.
    new MutationObserver(() => document.body.classList.contains("dark") !== this.dark && apply()).observe(document.body, {
      attributes: true,
      attributeFilter: ["class"],
    });
    this.dark = false;
    this.system = system;
    apply();
  }

  #choose() {
    this.choice = this.dark ? "light" : "dark";
    keep(this.choice);
    this.#apply(this.system.matches);
  }

  /** @param {boolean} systemDark */
  #apply(systemDark) {
    this.dark = this.choice ? this.choice === "dark" : systemDark;
    document.body.classList.toggle("dark", this.dark);
    const label = this.dark ? "Switch to the light theme" : "Switch to the dark theme";
    this.button.setAttribute("aria-label", label);
    this.button.title = label;
    colours = null;
    this.dispatchEvent(new CustomEvent("change"));
  }
}
