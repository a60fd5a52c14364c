// @ts-check
/** The browser's own secret, by which the server finds its runs again. It stays in this browser; the server stores a hash of it. */

const KEY = "denoise-owner";
const FITS = /^[\w-]{22,128}$/;

/** @type {string | null} */
let secret = null;

/** @returns {string} */
export function owner() {
  if (secret) return secret;
  try {
    secret = localStorage.getItem(KEY);
  } catch {
    // in an embed without storage the secret lasts as long as the page
  }
  if (secret && FITS.test(secret)) return secret;
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  secret = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    localStorage.setItem(KEY, secret);
  } catch {
    // as above
  }
  return secret;
}
