// @ts-check
/** The form of a new sweep: what varies, on which tasks or prompts, with which seeds; how many runs that is, and about how long. */

/** @import { Spec } from "./labspec.js" */
import { Refusal, check } from "./labapi.js";
import { BadForm, LABELS, duration, fieldsOf, formOf, runsOf, specOf } from "./labspec.js";
import { RULES, ruleOf } from "../run/rules.js";
import { h } from "../parts/element.js";

const CHECK_AFTER_MS = 900;

/** @type {Spec} */
const BEGINNING = {
  name: "bounds and caps",
  recipe: { max_new_tokens: 64 },
  vary: { "sampler.entropy_bound": [0.02, 0.1, 0.5, 2], "sampler.max_denoising_steps": [16, 48] },
  tasks: { families: ["add", "sort", "story", "list"], count: 10 },
  seeds: [0],
};

export class LabForm extends EventTarget {
  /**
   * @param {Record<string, any>} usual the released sampler
   * @param {number} tokens usual number of new tokens
   */
  constructor(usual, tokens) {
    super();
    this.usual = usual;
    this.tokens = tokens;
    this.written = false;
    const input = (/** @type {string} */ id, /** @type {string} */ label, attributes = {}) => h("input.lab-input", { id: `lab-${id}`, type: "text", autocomplete: "off", spellcheck: "false", "aria-label": label, ...attributes });
    this.name = input("name", "Name of the sweep", { maxlength: 200 });
    this.rule = h("select.chip.small.speed", { id: "lab-rule", "aria-label": "Rule of acceptance", onchange: () => this.#rows() }, ...Object.entries(RULES).map(([value, { title }]) => h("option", { value }, title)));
    /** @type {Record<string, HTMLInputElement>} */
    this.fields = {};
    for (const field of [...Object.values(RULES).map((rule) => rule.field), ...Object.keys(LABELS)]) {
      const label = LABELS[field] ?? Object.values(RULES).find((rule) => rule.field === field)?.label ?? field;
      this.fields[field] = input(field, label);
    }
    this.rows = h("div.lab-rows");
    this.newTokens = input("tokens", "New tokens, at most", { inputmode: "numeric" });
    /** @type {HTMLElement[]} */
    this.families = [];
    this.kinds = h("div.example-row", { role: "group", "aria-label": "Kinds of tasks" });
    this.count = input("count", "Tasks of each kind", { inputmode: "numeric" });
    this.prompts = h("textarea.lab-input", { id: "lab-prompts", rows: 2, "aria-label": "Prompts of your own, one a line", placeholder: "What is the opposite of hot? => cold\nSay hello. => /(?i)hello/" });
    this.seeds = input("seeds", "Seeds");
    this.json = h("textarea.lab-input.lab-json", { id: "lab-spec", rows: 14, spellcheck: "false", "aria-label": "The spec as JSON" });
    this.asJson = h("button.chip.small", { type: "button", "aria-pressed": "false", title: "Ranges, random search and every other field of a recipe", onclick: () => this.#switch() }, "JSON");
    this.runs = h("dd", {}, "–");
    this.time = h("dd", {}, "–");
    this.error = h("p.lab-error", { role: "alert", id: "lab-error" });
    this.error.hidden = true;
    this.go = h("button.lab-go", { type: "button", id: "lab-start", onclick: () => this.#start() }, "Start");
    const row = (/** @type {string} */ label, /** @type {HTMLElement} */ control) => h("label.lab-row", {}, h("span", {}, label), control);
    this.form = h(
      "div.lab-form",
      {},
      row("Name", this.name),
      row("Rule", this.rule),
      this.rows,
      row("New tokens, at most", this.newTokens),
      h("div.lab-row.lab-across", { id: "lab-families" }, h("span", {}, "Tasks, held out"), this.kinds),
      row("Of each kind", this.count),
      row("Seeds", this.seeds),
      h("label.lab-row.lab-across", {}, h("span", {}, "Prompts of your own, one a line. Behind an arrow what is expected, if anything: the whole answer, or a pattern between slashes"), this.prompts),
    );
    this.json.hidden = true;
    this.element = h(
      "section.card.lab-card",
      { "aria-label": "New sweep", id: "lab-new", "data-own-keys": "" },
      h("div.card-head", {}, h("h3", {}, "New sweep"), this.asJson),
      h("p.hint", {}, "Give a field several values, with commas between them, to have it varied."),
      this.form,
      this.json,
      h("div.lab-end", {}, h("dl.pairs", {}, h("div", {}, h("dt", {}, "runs"), this.runs), h("div", {}, h("dt", {}, "time, about"), this.time)), this.error, this.go),
    );
    this.element.addEventListener("input", () => this.#changed());
  }

  /**
   * Puts a spec into the form; as JSON where the form cannot say it.
   * @param {Spec} spec
   */
  fill(spec) {
    const form = formOf(spec, this.usual, this.tokens);
    this.json.value = JSON.stringify(lean(spec), null, 2);
    if (form) {
      this.name.value = form.name;
      this.rule.value = form.rule;
      for (const [field, text] of Object.entries(form.fields)) this.fields[field].value = text;
      this.newTokens.value = form.tokens;
      for (const button of this.families) button.setAttribute("aria-pressed", String(form.families.includes(button.dataset.family ?? "")));
      this.count.value = form.count;
      this.prompts.value = form.prompts;
      this.seeds.value = form.seeds;
    }
    this.#show(!form);
    this.#rows();
  }

  /**
   * The kinds of tasks that there are.
   * @param {string[]} families
   */
  offer(families) {
    if (this.families.length) return;
    this.families = families.map((name) => h("button.chip.small", { type: "button", "aria-pressed": "false", "data-family": name, onclick: (/** @type {any} */ event) => this.#toggle(event.currentTarget) }, name.replaceAll("_", " ")));
    this.kinds.append(...this.families);
    this.fill(BEGINNING);
  }

  /** @param {boolean} written whether the JSON is what counts */
  #show(written) {
    this.written = written;
    this.asJson.setAttribute("aria-pressed", String(written));
    this.json.hidden = !written;
    this.form.hidden = written;
  }

  #switch() {
    const written = !this.written;
    try {
      const spec = this.#spec();
      if (!written && !formOf(spec, this.usual, this.tokens)) return this.#say("The form cannot say all of this spec. It can be started as it is.", "spec");
      this.fill(spec);
      this.#show(written);
    } catch (error) {
      this.#fail(error);
    }
  }

  #rows() {
    const rule = this.rule.value;
    this.rows.replaceChildren(
      ...fieldsOf(rule).map((field) => {
        const control = this.fields[field];
        if (!control.value) control.value = String(this.usual[field] ?? ruleOf({ name: rule }).usual);
        return h("label.lab-row", {}, h("span", {}, control.getAttribute("aria-label") ?? field), control);
      }),
    );
    this.#changed();
  }

  /** @param {HTMLElement} button */
  #toggle(button) {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    this.#changed();
  }

  /** @returns {Spec} */
  #spec() {
    if (this.written) {
      try {
        return JSON.parse(this.json.value);
      } catch (error) {
        throw new BadForm("spec", `That is no JSON: ${/** @type {Error} */ (error).message}.`);
      }
    }
    return specOf(
      {
        name: this.name.value,
        rule: this.rule.value,
        fields: Object.fromEntries(fieldsOf(this.rule.value).map((field) => [field, this.fields[field].value])),
        tokens: this.newTokens.value,
        families: this.families.filter((button) => button.getAttribute("aria-pressed") === "true").map((button) => button.dataset.family ?? ""),
        count: this.count.value,
        prompts: this.prompts.value,
        seeds: this.seeds.value,
      },
      this.usual,
    );
  }

  #changed() {
    clearTimeout(this.timer);
    this.#say("");
    this.time.textContent = "–";
    try {
      const runs = runsOf(this.#spec());
      this.runs.textContent = runs === null ? "–" : runs.toLocaleString("en");
      this.timer = setTimeout(() => this.estimate(), CHECK_AFTER_MS);
    } catch (error) {
      this.runs.textContent = "–";
      this.#fail(error);
    }
  }

  /** Asks the server what the sweep would cost, once the form is looked at. */
  async estimate() {
    if (!this.element.isConnected || this.element.offsetParent === null) return;
    const text = JSON.stringify(this.#quietly() ?? "");
    if (text === '""') return;
    this.time.textContent = "some runs are tried…";
    try {
      const { runs, seconds } = await check(text);
      if (text !== JSON.stringify(this.#quietly() ?? "")) return;
      this.runs.textContent = runs.toLocaleString("en");
      this.time.textContent = duration(seconds);
    } catch (error) {
      if (text !== JSON.stringify(this.#quietly() ?? "")) return;
      this.time.textContent = "–";
      this.#fail(error);
    }
  }

  #quietly() {
    try {
      return this.#spec();
    } catch {
      return null;
    }
  }

  #start() {
    try {
      this.dispatchEvent(new CustomEvent("start", { detail: JSON.stringify(this.#spec()) }));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Shows what is wrong at the field that it is about.
   * @param {unknown} error
   */
  #fail(error) {
    if (error instanceof BadForm) this.#say(error.message, error.field);
    else if (error instanceof Refusal) this.#say(error.message, error.field ?? "");
    else throw error;
  }

  /** @param {unknown} error */
  refuse(error) {
    this.#fail(error);
  }

  /**
   * @param {string} words
   * @param {string} [field]
   */
  #say(words, field = "") {
    for (const marked of this.element.querySelectorAll("[aria-invalid]")) {
      marked.removeAttribute("aria-invalid");
      marked.removeAttribute("aria-describedby");
    }
    this.error.hidden = !words;
    this.error.textContent = words;
    if (!words) return;
    const place = this.written ? this.json : this.#control(field);
    place?.setAttribute("aria-invalid", "true");
    place?.setAttribute("aria-describedby", this.error.id);
    if (place && place.parentElement) place.insertAdjacentElement("afterend", this.error);
    else this.go.insertAdjacentElement("beforebegin", this.error);
  }

  /**
   * The control of a field, by the form's name of it or the server's.
   * @param {string} field
   * @returns {HTMLElement | null}
   */
  #control(field) {
    const parts = field.split(".");
    const named = parts.find((part) => this.fields[part]?.isConnected);
    if (named) return this.fields[named];
    const controls = { name: this.name, tokens: this.newTokens, max_new_tokens: this.newTokens, count: this.count, prompts: this.prompts, seeds: this.seeds, families: this.kinds };
    const found = parts.find((part) => Object.hasOwn(controls, part));
    return found ? /** @type {any} */ (controls)[found] : null;
  }
}

/** @param {Spec} spec */
function lean(spec) {
  const { search, tasks, prompts, ...rest } = spec;
  const own = { ...rest, ...(search && search.kind !== "grid" ? { search } : {}), ...(tasks ? { tasks: { ...tasks, seed: tasks.seed || undefined } } : {}), ...(prompts?.length ? { prompts } : {}) };
  return JSON.parse(JSON.stringify(own, (_, value) => (value === null ? undefined : value)));
}
