// Runs before the first paint, so that a choice never flashes its opposite. What the server knows about a person
// stands on <html> already and is mirrored here, for the pages before signing in; else the mirror counts, else the
// system's wishes.
const root = document.documentElement;
const CHOICES = { theme: ["system", "light", "dark"], contrast: ["normal", "high"], size: ["small", "normal", "large", "larger"] };

for (const [name, allowed] of Object.entries(CHOICES)) {
  try {
    const known = root.dataset[name];
    const kept = localStorage.getItem(`stepmark:${name}`);
    if (known) localStorage.setItem(`stepmark:${name}`, known);
    else if (allowed.includes(kept)) root.dataset[name] = kept;
  } catch {
    // Storage is off: the system's look it is.
  }
}
if (!root.dataset.contrast && matchMedia("(prefers-contrast: more)").matches) root.dataset.contrast = "high";
