// Says that a call is on its way; a download leaves the form as it is.
"use strict";

for (const form of document.querySelectorAll("form[data-runs]")) {
  form.addEventListener("submit", ({ submitter }) => {
    if (submitter?.hasAttribute("data-downloads")) {
      setTimeout(() => { delete form.dataset.sent; });
      return;
    }
    const button = form.querySelector("button[data-busy]");
    const label = button.textContent;
    button.textContent = button.dataset.busy;
    button.setAttribute("aria-busy", "true");
    addEventListener("pageshow", () => { button.textContent = label; button.removeAttribute("aria-busy"); }, { once: true });
  });
}

// On a small screen the endpoints are a row that scrolls: the chosen one is in view.
const chosen = document.querySelector(".resources [aria-current]");
if (chosen) {
  const row = chosen.closest(".resources");
  row.scrollLeft = chosen.offsetLeft + chosen.offsetWidth / 2 - row.clientWidth / 2;
}
