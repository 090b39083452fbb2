// Keeps what a page says of a running batch up to date, and reads files of queries.
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

// A file is read here and put into the form, with the queries that are in it already.
const reads = document.querySelector("[data-reads]");
if (reads) {
  reads.hidden = false;
  const [input, error] = [reads.querySelector("input"), reads.querySelector(".error")];
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (!file) { return; }
    error.textContent = file.size > reads.dataset.most ? "The file is too large for this form: webdata batches submit takes it." : "";
    if (!error.textContent) {
      const text = await file.text();
      const lines = file.name.endsWith(".csv") ? text.split(/\r?\n/).map(firstCell) : text.split(/\r?\n/);
      document.getElementById(reads.dataset.reads).value = lines.filter((line) => line.trim()).join("\n");
    }
  });
}

function firstCell(line) {
  const quoted = /^"((?:[^"]|"")*)"/.exec(line);
  return quoted ? quoted[1].replaceAll('""', '"') : line.split(",")[0];
}
