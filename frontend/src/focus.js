// The focus stays where a person left it: in parts that renew themselves, and after a dialog.

const STOPS = "a[href], button, summary, input:not([type=hidden]), select, textarea, [tabindex='0']";
let left = null;

function stops(region) {
  return [...region.querySelectorAll(STOPS)].filter((each) => !each.disabled);
}

function said(element) {
  return `${element.closest("form")?.getAttribute("action") ?? element.getAttribute("href")} ${element.textContent.trim()}`;
}

/** Parts marked data-live are swapped whole, with what has the focus in them. */
export function keepInLiveParts() {
  document.addEventListener("htmx:beforeSwap", (event) => {
    const region = event.detail.target;
    const focused = document.activeElement;
    left = region.matches("[data-live]") && region.contains(focused)
      ? { region: region.id, at: stops(region).indexOf(focused), said: said(focused) }
      : null;
  });
  document.addEventListener("htmx:afterSwap", () => {
    const region = left && document.getElementById(left.region);
    if (!region || region.contains(document.activeElement)) return;
    const now = stops(region);
    // The same one; where it is gone ("Pause" when something is paused), what took its place.
    (now.find((each) => said(each) === left.said) ?? now[Math.min(Math.max(left.at, 0), now.length - 1)])?.focus();
    left = null;
  });
}

/** A dialog gives the focus back to what opened it, or to the menu that held it and is closed by now. */
export function openDialog(dialog, opener) {
  const menu = opener.closest("details[data-menu]");
  dialog.addEventListener("close", () => (menu?.querySelector("summary") ?? opener).focus(), { once: true });
  dialog.showModal();
}
