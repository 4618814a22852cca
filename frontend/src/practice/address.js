// Makes a region of the workbench a practice one: it is handed in elsewhere, nothing is claimed ahead, and it can't be
// passed on to somebody else, since it is nobody else's.

const EMPTY = "00000000-0000-0000-0000-000000000000";

function practise(region) {
  const head = document.querySelector("[data-practice]");
  if (!region?.dataset.assignment || !head) return;
  region.dataset.submitUrl = head.dataset.submit.replace(EMPTY, region.dataset.assignment);
  delete region.dataset.aheadUrl;
  delete region.dataset.skipUrl;
  for (const button of region.querySelectorAll("[data-command=skip]")) button.remove();
  const submit = region.querySelector(".submit-long");
  if (submit) submit.textContent = head.dataset.compare;
}

for (const name of ["stepmark:region", "stepmark:bench"]) {
  document.addEventListener(name, (event) => practise(event.detail));
}
practise(document.getElementById("bench"));
