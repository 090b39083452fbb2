"use strict";
const find = document.querySelector("#find");
const none = document.querySelector("#none");

// Every word has to be somewhere in what the page says of an endpoint.
function show() {
  const words = find.value.toLowerCase().split(/\s+/);
  let left = 0;
  for (const section of document.querySelectorAll("section")) {
    const text = section.textContent.toLowerCase();
    section.hidden = !words.every((word) => text.includes(word));
    document.querySelector(`nav a[href="#${section.id}"]`).parentElement.hidden = section.hidden;
    left += !section.hidden;
  }
  none.hidden = left > 0;
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = "Copied";
  } catch {  // outside of https and localhost there is no clipboard: select the line instead
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

for (const line of document.querySelectorAll("pre")) {
  line.textContent = line.textContent.replace("$WEBDATA_URL", location.origin);
}
for (const button of document.querySelectorAll("button")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
find.hidden = false;
find.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== find) {
    event.preventDefault();
    find.focus();
  }
});
