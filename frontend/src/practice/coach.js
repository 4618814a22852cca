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

function begin(bench) {
  const look = () => {
    show(hintFor(bench));
    coach.style.setProperty("--coach-bar", `${bench.querySelector(".bar").offsetHeight}px`);
  };
  const watcher = new MutationObserver(look);
  const end = () => {
    watcher.disconnect();
    coach.remove();
  };
  watcher.observe(bench, { subtree: true, attributes: true, attributeFilter: ["data-label", "data-ready", "data-closed"] });
  coach.querySelector("[data-coach-hide]").addEventListener("click", () => {
    end();
    bench.querySelector("[data-step][data-active]")?.focus({ preventScroll: true });
  });
  document.addEventListener("stepmark:bench", end, { once: true });
  window.addEventListener("resize", look);
  look();
}

if (coach) begin(document.getElementById("bench"));
