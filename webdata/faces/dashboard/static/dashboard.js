// Makes the pages quicker to use; they work without it.
"use strict";

function showTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.getTime())) {
      time.textContent = moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    }
  }
}
showTimes(document);

document.querySelector(".navigation a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copies]")) {
    button.hidden = false;
    const label = button.innerHTML;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copies);
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.innerHTML = label; }, 2000);
    });
  }
}

for (const form of document.querySelectorAll("form[data-submits]")) {
  form.addEventListener("change", () => form.requestSubmit());
}

// A form that is sent once: a second click while the answer is on its way does nothing.
for (const form of document.querySelectorAll('form[method="post"]')) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) { event.preventDefault(); }
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) { delete form.dataset.sent; }
});
