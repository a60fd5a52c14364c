// @ts-check
/** The height of a text that changes: what was needed once is kept free, so that nothing below moves. */

export class KeptHeight {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    /** In pixels: what was needed so far, and what is kept free. */
    this.tallest = this.kept = 0;
    new ResizeObserver(([{ borderBoxSize }]) => (this.tallest = Math.max(this.tallest, borderBoxSize[0].blockSize))).observe(element);
  }

  /** Call before the text changes: said as soon as it is seen, it would have everything laid out twice in one frame. */
  keep() {
    if (this.tallest <= this.kept) return;
    this.kept = this.tallest;
    this.element.style.minHeight = `${this.kept}px`;
  }

  /** Forgets it, for another run or another width of the page. */
  free() {
    this.tallest = this.kept = 0;
    this.element.style.minHeight = "";
  }
}
