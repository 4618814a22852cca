// Makes the workbench's region a practice one: it is handed in elsewhere, nothing is claimed ahead, and it can't be
// passed on to somebody else, since it is nobody else's.

const EMPTY = "00000000-0000-0000-0000-000000000000";

function practise() {
  const bench = document.getElementById("bench");
  const head = document.querySelector("[data-practice]");
  if (!bench?.dataset.assignment || !head) return;
  bench.dataset.submitUrl = head.dataset.submit.replace(EMPTY, bench.dataset.assignment);
  delete bench.dataset.aheadUrl;
  bench.dataset.skipUrl = location.pathname; // which takes none
  for (const button of bench.querySelectorAll("[data-command=skip]")) button.remove();
  const submit = bench.querySelector(".submit-long");
  if (submit) submit.textContent = head.dataset.compare;
}

const skipKey = () => JSON.parse(document.documentElement.dataset.keys ?? "{}").skip ?? "s";

document.addEventListener(
  "keydown",
  (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    if (event.key.toLowerCase() === skipKey()) event.stopImmediatePropagation();
  },
  { capture: true },
);
document.addEventListener("htmx:afterSwap", practise); // the workbench mounts after settling
practise();
