// One hint at a time, each when it can be used. The words are in the page.

const coach = document.querySelector("[data-coach]");

function hintFor(bench) {
  const judged = [...bench.querySelectorAll("[data-step][data-label]")].filter((step) => step.dataset.label !== "none");
  if (bench.querySelector("[data-step][data-closed]")) return "closed";
  if (bench.querySelector("[data-command=submit][data-ready]")) return "ready";
  return ["start", "one"][judged.length] ?? "two";
}

function show(name) {
  const text = coach.querySelector("[data-coach-text]");
  if (text.dataset.shows === name) return;
  text.dataset.shows = name;
  const hint = coach.querySelector(`[data-when="${name}"]`);
  text.replaceChildren(...hint.cloneNode(true).childNodes);
  coach.hidden = false;
}

if (coach) {
  const bench = document.getElementById("bench");
  const look = () => {
    if (!bench.isConnected) return end();
    show(hintFor(bench));
    const bar = bench.querySelector(".bar");
    coach.style.setProperty("--coach-bar", `${bar.offsetHeight}px`);
  };
  const watcher = new MutationObserver(look);
  const end = () => {
    watcher.disconnect();
    coach.remove();
  };
  watcher.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-label", "data-ready", "data-closed"] });
  coach.querySelector("[data-coach-hide]").addEventListener("click", () => {
    end();
    bench.querySelector("[data-step][data-active]")?.focus({ preventScroll: true });
  });
  look();
}
