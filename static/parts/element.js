// @ts-check
/** Making elements. Text goes in as text nodes only; there is no way here to pass markup. */

/**
 * @param {string} tag for example `button.round#play`
 * @param {Record<string, any>} [attributes] `on…` functions become listeners; false and null are left out
 * @param {...(Node | string)} children
 * @returns {any} the element
 */
export function h(tag, attributes = {}, ...children) {
  const [, name, rest] = /** @type {RegExpExecArray} */ (/^([a-z0-9]+)(.*)$/.exec(tag));
  const element = document.createElement(name);
  for (const [, mark, word] of rest.matchAll(/([.#])([\w-]+)/g)) {
    if (mark === "#") element.id = word;
    else element.classList.add(word);
  }
  set(element, attributes);
  element.append(...children);
  return element;
}

/**
 * The same for SVG.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  set(element, attributes);
  element.append(...children);
  return element;
}

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes
 */
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
}

/**
 * Sets the text of an element that has nothing else in it. A text node that stays costs far less than a new one: with
 * `:has()` in some stylesheet, and Gradio has it, a new node makes the browser look at all styles again.
 * @param {HTMLElement} element
 * @param {string} text
 */
export function write(element, text) {
  const node = element.firstChild;
  if (!(node instanceof Text)) element.textContent = text;
  else if (node.data !== text) node.data = text;
}

/**
 * Shows other children. Those that are built as before stay and only take over what differs, for the same reason; so only for
 * children without listeners.
 * @param {Element} parent
 * @param {...(Element | string)} children
 */
export function renew(parent, ...children) {
  const fresh = children.map((child) => (typeof child === "string" ? document.createTextNode(child) : child));
  for (const [at, child] of fresh.entries()) {
    const old = parent.childNodes[at];
    if (!old) parent.append(child);
    else if (!takeOver(old, child)) old.replaceWith(child);
  }
  while (parent.childNodes.length > fresh.length) parent.lastChild?.remove();
}

/**
 * Whether a node could take over all of another one; if it could not, it has to be replaced.
 * @param {Node} old
 * @param {Node} fresh
 */
function takeOver(old, fresh) {
  if (old.nodeName !== fresh.nodeName) return false;
  if (old instanceof Text && fresh instanceof Text) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return true;
  }
  if (!(old instanceof Element) || !(fresh instanceof Element)) return false;
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  renew(old, .../** @type {Element[]} */ ([...fresh.childNodes]));
  return true;
}

/** Outlines of the icons, on a 16 × 16 grid. */
const ICONS = {
  play: "M4.5 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  back: "M11.5 3v10L5 8zM3.5 3H5v10H3.5z",
  forward: "M4.5 3v10L11 8zM11 3h1.5v10H11z",
  again: "M8 2.5a5.5 5.5 0 1 0 5.3 4h-1.7A3.9 3.9 0 1 1 8 4.1V7l4-3.7L8 0z",
  theme: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm0 1.6v9.8a4.9 4.9 0 0 1 0-9.8z",
  down: "M3.4 5.4 8 10l4.6-4.6 1 1L8 12 2.4 6.4z",
  menu: "M2 3.2h12v1.6H2zM2 7.2h12v1.6H2zM2 11.2h12v1.6H2z",
  close: "M3.3 4.4 4.4 3.3 8 6.9l3.6-3.6 1.1 1.1L9.1 8l3.6 3.6-1.1 1.1L8 9.1l-3.6 3.6-1.1-1.1L6.9 8z",
};

/** @param {keyof typeof ICONS} name */
export function icon(name) {
  return svg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, svg("path", { d: ICONS[name], fill: "currentColor", "fill-rule": "evenodd" }));
}

/**
 * A number with a fixed count of decimals; a dash where there is none.
 * @param {number | null | undefined} value
 * @param {number} decimals
 */
export function number(value, decimals) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/**
 * A piece of text on one line: what cannot be seen is spelled.
 * @param {string} piece
 */
export function visible(piece) {
  if (piece === "") return "∅";
  return piece.replace(/\n/g, "⏎").replace(/\t/g, "⇥").replace(/\r/g, "␍").replace(/^ +$/, (spaces) => "␣".repeat(spaces.length));
}
