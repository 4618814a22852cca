// The token as it is now: signing in from another tab renews the cookie, and then the page's own copy is stale.

export function csrfToken() {
  const cookie = /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  return cookie ?? document.querySelector('meta[name="csrf-token"]')?.content ?? "";
}
