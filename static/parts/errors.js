// @ts-check
/** Where an error stands: at the control it concerns, or under the Run button. Clears itself when the control moves. */

/** @import { Refused } from "../live/socket.js" */
import { h } from "./element.js";

/** What a control is called on the page, by the name of its field. */
const LABELS = {
  prompt: "the prompt",
  entropy_bound: "the entropy bound",
  top_probability: "the probability to accept from",
  margin: "the margin to accept from",
  k: "the number of positions more a step",
  kappa: "the schedule",
  t_max: "the temperature of the first step",
  t_min: "the temperature of the last step",
  max_denoising_steps: "the most steps",
  confidence_threshold: "the mean entropy to stop below",
  stability_threshold: "the number of stable steps",
  temperature: "the temperature",
  top_k: "top-k",
  top_p: "top-p",
  seed: "the seed",
  max_new_tokens: "the number of new tokens",
};

/** These two are only valid together: an error of one is an error of the other. */
const PAIR = ["t_min", "t_max"];

export class Errors {
  constructor() {
    /** @type {Map<string, HTMLElement>} */
    this.shown = new Map();
    /** Which of the two was moved last: that is where the person looks. */
    this.moved = "";
    document.addEventListener("denoise:set", (/** @type {any} */ event) => {
      const names = event.detail.map((/** @type {[string, any]} */ [path]) => path.split(".").at(-1));
      this.moved = names.findLast((/** @type {string} */ name) => PAIR.includes(name)) ?? this.moved;
    });
    /** Where edits stand: `start` above the Run button, `edits` below the inspector. */
    this.edits = "start";
  }

  /**
   * Shows a refusal where it belongs.
   * @param {Refused} error
   * @param {string[]} [about] fields that the refused message named
   */
  place(error, about = []) {
    const ofEdits = /\bedits\b/.test(error.field ?? "") || /\bedits\[/.test(error.message);
    let name = ofEdits ? this.edits : fieldOf(error, about);
    if (name && PAIR.includes(name) && this.moved) name = this.moved;
    this.show(name ?? (this.edits === "edits" ? "edits" : "run"), sentence(error.message));
  }

  /**
   * @param {string} name a field, or `run`
   * @param {string} words
   */
  show(name, words) {
    this.clear(name);
    const anchor = document.getElementById(name === "run" ? "run-buttons" : name);
    if (!anchor) return;
    const message = h("p.field-error", { role: "alert", id: `error-${name}` }, words);
    anchor.append(message);
    for (const each of concerned(name, anchor)) {
      each.classList.add("has-error");
      for (const input of each.querySelectorAll("input, textarea")) {
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-describedby", message.id);
      }
    }
    this.shown.set(name, message);
    if (innerWidth < 760) message.scrollIntoView({ block: "nearest" });
  }

  /** @param {string} name */
  clear(name) {
    for (const each of PAIR.includes(name) ? PAIR : [name]) this.#remove(each);
  }

  /** @param {string} name */
  #remove(name) {
    const message = this.shown.get(name);
    if (!message) return;
    this.shown.delete(name);
    const anchor = message.parentElement;
    message.remove();
    for (const each of anchor ? concerned(name, anchor) : []) {
      each.classList.remove("has-error");
      for (const input of each.querySelectorAll("input, textarea")) {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-describedby");
      }
    }
  }

  clearAll() {
    for (const name of [...this.shown.keys()]) this.clear(name);
  }
}

/**
 * The controls that an error marks: the one that it stands at, and its other half.
 * @param {string} name
 * @param {HTMLElement} anchor
 * @returns {HTMLElement[]}
 */
function concerned(name, anchor) {
  if (!PAIR.includes(name)) return [anchor];
  return PAIR.map((each) => document.getElementById(each)).filter((each) => each !== null);
}

/**
 * The control that an error is about.
 * @param {Refused} error
 * @param {string[]} about
 */
function fieldOf(error, about) {
  const path = (error.field ?? "").split(".");
  if (path.includes("messages")) return "prompt";
  const named = path.reverse().find((part) => part in LABELS);
  if (named) return named;
  const mentioned = Object.keys(LABELS).filter((name) => new RegExp(`\\b${name}\\b`).test(error.message));
  return mentioned.find((name) => about.includes(name)) ?? mentioned[0] ?? about[0] ?? null;
}

/**
 * The server's sentence in the page's words: no paths, controls by their labels.
 * @param {string} message
 */
function sentence(message) {
  let words = message.replace(/^Edit \d+: /, "").replace(/^recipe: edits\[\d+\]: /, "").replace(/^[\w.]+: /, "").replace(/\brecipe\.edits\.\d+\.(?:\w+\.)?/g, "").replace(/\b(recipe|sampler|decoding)\.(?=\w)/g, "");
  words = words.replace(/\b(positions? )?from (position )?(\d+) on\b/, (_, many = "", one = "", start) => `${many}from ${one}${Number(start) + 1} on`); // the page counts from 1
  words = words.replace(/^the prompt is empty.*$/i, "The prompt is empty: write what the model should answer.");
  for (const [name, label] of Object.entries(LABELS)) {
    if (name.includes("_") || name === "seed") words = words.replace(new RegExp(`(?<!the )\\b${name}\\b`, "g"), label);
  }
  return words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]\)?$/.test(words) ? "" : ".");
}
