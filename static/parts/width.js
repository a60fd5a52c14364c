// @ts-check
/** The width of the page. */

/** @param {() => void} changed called when it has another width; a phone's bars change the height alone */
export function onWidth(changed) {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    changed();
  });
}
