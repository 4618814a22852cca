// What this browser keeps until the server has it: ids and what the person marked, never a word of the problem or
// the solution. Keyed by person, forgotten after a day, wiped at sign-out.

export const PREFIX = "stepmark:work:";
const OLD_PREFIXES = ["stepmark:draft:", "stepmark:client:"];
export const SIGN_OUT = 'form[action$="sign-out/"]';
const KEPT_FOR = 24 * 3600 * 1000;

export class Copies {
  #prefix;

  constructor(person, { storage = localStorage, now = Date.now } = {}) {
    Object.assign(this, { storage, now });
    this.#prefix = `${PREFIX}${person}:`;
  }

  /** The copy of that name, or null: nothing there, too old, or storage is off. */
  read(name) {
    return this.#fresh(this.#prefix + name);
  }

  /** Returns whether it was kept. */
  write(name, value) {
    try {
      this.storage.setItem(this.#prefix + name, JSON.stringify({ ...value, at: value.at ?? this.now() }));
      return true;
    } catch {
      return false; // storage is full or off: the page's memory is the only place then
    }
  }

  forget(name) {
    try {
      this.storage.removeItem(this.#prefix + name);
    } catch {
      // Storage is off, so there was no copy.
    }
  }

  /** All of a kind ("out:"), oldest first. */
  all(kind) {
    const start = this.#prefix + kind;
    return keysOf(this.storage)
      .filter((key) => key.startsWith(start))
      .map((key) => this.#fresh(key))
      .filter(Boolean)
      .sort((a, b) => a.at - b.at);
  }

  /** Drops what is older than a day, whoever's it is. */
  expire() {
    for (const key of keysOf(this.storage)) {
      if (key.startsWith(PREFIX)) this.#fresh(key);
      else if (OLD_PREFIXES.some((old) => key.startsWith(old))) this.storage.removeItem(key);
    }
  }

  #fresh(key) {
    try {
      const value = JSON.parse(this.storage.getItem(key));
      if (value && this.now() - (value.at ?? 0) <= KEPT_FOR) return value;
      if (value) this.storage.removeItem(key);
    } catch {
      // Storage is off, or holds something that isn't ours.
    }
    return null;
  }
}

/** At sign-out nothing of anybody stays behind. */
export function wipe(storage = localStorage) {
  try {
    for (const key of keysOf(storage)) if (key.startsWith(PREFIX)) storage.removeItem(key);
  } catch {
    // Storage is off: nothing was kept.
  }
}

/** For every page: the form that signs out wipes, unless something holds it back. */
export function wipeAtSignOut() {
  document.addEventListener("submit", (event) => {
    if (event.target.closest(SIGN_OUT) && !event.defaultPrevented) wipe();
  });
}

function keysOf(storage) {
  try {
    return Array.from({ length: storage.length }, (_, i) => storage.key(i)).filter(Boolean);
  } catch {
    return [];
  }
}
