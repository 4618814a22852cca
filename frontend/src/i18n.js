// Words by Django's own i18n: makemessages -d djangojs finds them, and words.js (the catalogue) comes before us.
// Without a catalogue, as in the tests, they stay as they are written.

const django = globalThis.django ?? {};

export const gettext = (text) => django.gettext?.(text) ?? text;

export const ngettext = (one, many, n) => django.ngettext?.(one, many, n) ?? (n === 1 ? one : many);

/** fill("Step %(step)s", {step: 3}) */
export const fill = (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => String(values[name]));
