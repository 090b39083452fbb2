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

// On a large screen it is a list: what is typed leaves those that have all of its words.
const finds = document.querySelector("[data-finds]");
if (finds) {
  finds.hidden = false;
  finds.addEventListener("input", () => {
    const words = finds.value.toLowerCase().split(/\s+/);
    let found = false;
    for (const item of document.querySelectorAll("[data-words]")) {
      item.hidden = !words.every((word) => item.dataset.words.includes(word));
      found ||= !item.hidden;
    }
    for (const section of document.querySelectorAll(".resources section")) {
      section.hidden = !section.querySelector("[data-words]:not([hidden])");
    }
    document.querySelector("[data-none]").hidden = found;
  });
}
