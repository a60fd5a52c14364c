// @ts-check
/** A part of a lesson: text, something to run, something to see, a question. Builds it from known elements and text nodes alone. */

/** @import { Claim } from "../run/measures.js" */
import { h, icon } from "../parts/element.js";

/**
 * A text as the server read it: a piece of text, or a tag with children, and for a link its address.
 * @typedef {string | [string, any[], string?]} Node
 * @typedef {{title: string, text: Node[], recipe: any, recording: string | null, seen: Claim[], then: Node[], choices: {text: Node[], right: boolean}[], because: Node[]}} Part
 * @typedef {{name: string, title: string, minutes: number, mode: "diffusion" | "autoregressive" | "side_by_side", controls: string[], summary: Node[], recipe: any, recording: string | null, parts: Part[]}} Lesson
 */

const TAGS = new Set(["p", "em", "strong", "ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "br"]);

/**
 * @param {Node[]} tree
 * @returns {(HTMLElement | string)[]}
 */
export function built(tree) {
  return tree.map((node) => {
    if (typeof node === "string") return node;
    const [tag, children, to] = node;
    if (tag === "a" && /^https?:\/\//.test(to ?? "")) return h("a", { href: to, target: "_blank", rel: "noopener" }, ...built(children));
    return TAGS.has(tag) ? h(tag, {}, ...built(children)) : h("span", {}, ...built(children));
  });
}

/**
 * The run id of the recording that a part shows; null where it sets a recipe.
 * @param {Lesson} lesson
 * @param {number} at
 */
export function recordingOf(lesson, at) {
  const part = lesson.parts[at];
  return part.recording ?? (part.recipe ? null : lesson.recording);
}

export class LessonCard extends EventTarget {
  constructor() {
    super();
    const tell = (/** @type {string} */ name) => () => this.dispatchEvent(new CustomEvent(name));
    this.name = h("p.lesson-name");
    this.title = h("h2", { tabindex: "-1" });
    this.text = h("div.lesson-text");
    this.run = h("button.chip.lesson-run.go.ready", { type: "button", onclick: tell("run") }, "Set it and run");
    /** Whether what a part shows is a recording, and whether who follows would step out for it. */
    this.recorded = false;
    this.following = false;
    this.seen = h("ul.lesson-seen", { "aria-live": "polite" });
    this.then = h("div.lesson-text");
    this.check = h("div.lesson-check");
    this.back = h("button.chip", { type: "button", onclick: tell("back") }, "Back");
    this.next = h("button.chip", { type: "button", onclick: tell("next") }, "Next");
    this.place = h("span.hint");
    this.whole = h("button.chip.small.flat", { type: "button", onclick: tell("whole") }, "Show the whole page");
    this.link = h("button.chip.small.flat", { type: "button", title: "Copy a link to this lesson with a page that has only the controls it needs", onclick: tell("link") }, "Link");
    this.element = h(
      "section.card.lesson",
      { "aria-label": "Lesson" },
      h("header.card-head", {}, this.name, this.link, h("button.ghost", { type: "button", "aria-label": "Close the lesson", title: "Close the lesson", onclick: tell("close") }, icon("close"))),
      this.title,
      this.text,
      this.run,
      this.seen,
      this.then,
      this.check,
      h("div.lesson-foot", {}, this.back, this.place, this.next),
      this.whole,
    );
    this.element.hidden = true;
    /** Which questions were answered rightly, by part. @type {Set<Part>} */
    this.right = new Set();
  }

  /**
   * @param {Lesson} lesson
   * @param {number} at
   * @param {boolean} trimmed
   */
  show(lesson, at, trimmed) {
    const part = lesson.parts[at];
    this.element.hidden = false;
    this.name.textContent = `Lesson · ${lesson.title}`;
    this.title.textContent = part.title;
    this.text.replaceChildren(...(at === 0 ? built(lesson.summary) : []), ...built(part.text));
    this.then.replaceChildren(...built(part.then));
    this.then.hidden = part.then.length === 0;
    this.run.hidden = !(part.recipe ?? part.recording ?? at === 0);
    this.recorded = recordingOf(lesson, at) !== null;
    this.paintRun(this.following);
    this.place.textContent = `${at + 1} of ${lesson.parts.length}`;
    this.back.disabled = at === 0;
    this.next.disabled = at === lesson.parts.length - 1;
    this.whole.hidden = !trimmed;
    this.#question(part);
  }

  /**
   * What the button says.
   * @param {boolean} following as a student: pressing it is stepping out
   */
  paintRun(following) {
    this.following = following;
    this.run.classList.toggle("ready", !following);
    this.run.classList.toggle("go", !following);
    this.run.textContent = following ? (this.recorded ? "Look at the recording on your own" : "Try it on your own") : this.recorded ? "Show the recording" : "Set it and run";
  }

  /** @param {Part} part */
  #question(part) {
    this.check.hidden = part.choices.length === 0;
    const answer = h("div.lesson-answer", { role: "status" });
    const buttons = part.choices.map((choice) => {
      const button = h("button.lesson-choice", { type: "button", "aria-pressed": "false" }, ...built(choice.text));
      button.addEventListener("click", () => {
        for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
        if (choice.right) this.right.add(part);
        button.dataset.right = String(choice.right);
        answer.replaceChildren(...(choice.right ? [h("b", {}, "Yes."), ...built(part.because)] : [h("p", {}, "Not that one. Look again.")]));
      });
      if (choice.right && this.right.has(part)) Object.assign(button.dataset, { right: "true" });
      return button;
    });
    if (this.right.has(part)) answer.replaceChildren(...built(part.because));
    this.check.replaceChildren(...buttons, answer);
  }

  /**
   * What is to be seen, and whether it was.
   * @param {{text: string, done: boolean}[]} lines
   */
  paintSeen(lines) {
    this.seen.hidden = lines.length === 0;
    this.seen.replaceChildren(...lines.map(({ text, done }) => h("li", { "data-done": String(done) }, h("span", { "aria-hidden": "true" }, done ? "✓" : "○"), h("span.sr-only", {}, done ? "Seen: " : "To see: "), text)));
  }
}
