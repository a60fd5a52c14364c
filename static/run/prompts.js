// @ts-check
/** What was said in a turn: plain text, or parts with pictures and text files among them. */

/** @import { Content, Prefill, RunStarted, Upload } from "./wire.js" */
import { h } from "../parts/element.js";

const HASH = /^[0-9a-f]{64}$/;

/**
 * The text that was written; uploads are left out.
 * @param {Content | undefined} content
 * @returns {string}
 */
export function textOf(content) {
  if (!Array.isArray(content)) return content ?? "";
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/**
 * What was uploaded with a turn.
 * @param {Content | undefined} content
 * @returns {Upload[]}
 */
export function uploadsOf(content) {
  return Array.isArray(content) ? content.flatMap((part) => (part.type === "text" ? [] : [part])) : [];
}

/**
 * A turn of uploads and text.
 * @param {Upload[]} uploads
 * @param {string} text
 * @returns {Content}
 */
export function contentOf(uploads, text) {
  return uploads.length ? [...uploads, ...(text.trim() ? [{ type: /** @type {const} */ ("text"), text }] : [])] : text;
}

/**
 * Whether a value is what a turn may say.
 * @param {any} value
 * @returns {boolean}
 */
export function isContent(value) {
  if (typeof value === "string") return true;
  return Array.isArray(value) && value.length > 0 && value.every(isPart);
}

/** @param {any} part */
function isPart(part) {
  if (typeof part !== "object" || part === null) return false;
  return part.type === "text" ? typeof part.text === "string" : ["image", "file"].includes(part.type) && HASH.test(part.sha256);
}

/**
 * Whether a thumbnail is one of ours, to be shown as a picture and nothing else.
 * @param {unknown} url
 */
export function isThumbnail(url) {
  return typeof url === "string" && /^data:image\/jpeg;base64,[A-Za-z0-9+/]+=*$/.test(url);
}

/**
 * How far a long prompt is read.
 * @param {Prefill} event
 */
export function readingWords({ tokens, total }) {
  return `Reading the prompt: ${tokens.toLocaleString("en")} of ${total.toLocaleString("en")} tokens.`;
}

/**
 * Shows the pictures of a prompt, in small.
 * @param {HTMLElement} place
 * @param {RunStarted | null} started
 */
export function showThumbnails(place, started) {
  const shown = (started?.pictures ?? []).filter((picture) => isThumbnail(picture.thumbnail));
  const images = shown.map(({ thumbnail, width, height, tokens }) => h("img", { src: thumbnail, alt: `Picture in the prompt: ${width} × ${height} pixels, ${tokens} tokens` }));
  place.replaceChildren(...images);
  place.hidden = images.length === 0;
}
