/** Does something once the frame that is being made has been shown. */
export function afterPaint(work) {
  requestAnimationFrame(() => setTimeout(work, 0));
}
