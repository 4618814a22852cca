// The token as it is now: signing in from another tab renews the cookie, and then the page's own copy is stale.

export function csrfToken() {
  const cookie = /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  return cookie ?? document.querySelector('meta[name="csrf-token"]')?.content ?? "";
}

/** After a refusal that may be a lost token: fetches a page that sets one. Resolves to whether a person is still signed in. */
export async function renewToken(loginUrl) {
  const page = await fetch(loginUrl, { credentials: "same-origin" });
  return page.redirected; // the sign-in page sends on whoever is signed in
}
