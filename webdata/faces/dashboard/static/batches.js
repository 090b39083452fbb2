// Keeps what a page says of a running batch up to date.
"use strict";

const SECONDS = 2;

async function refresh() {
  const shown = document.querySelector("[data-live]");
  if (!shown) { return; }
  if (!document.hidden) {
    try {
      const response = await fetch(location.href);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const now = response.ok && page.getElementById(shown.id);
      if (now) {
        shown.replaceWith(now);
        showTimes(now);
      }
    } catch { /* the service is away for a moment */ }
  }
  setTimeout(refresh, SECONDS * 1000);
}
setTimeout(refresh, SECONDS * 1000);
