// Shows how far jobs are while the page stays open. Without it, the link "Look again" does.
"use strict";

const SECONDS = 3;

async function look() {
  const list = document.getElementById("jobs");
  if (!list || !list.querySelector("[data-open]")) return;
  try {
    const answer = await fetch("/jobs", { headers: { Accept: "text/html" } });
    const text = answer.ok ? await answer.text() : "";
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("jobs");
    // whoever is about to press a button there keeps it
    if (fresh && !list.contains(document.activeElement)) list.replaceChildren(...fresh.children);
  } catch {
    // the service does not answer now: look again later
  }
  setTimeout(look, SECONDS * 1000);
}

setTimeout(look, SECONDS * 1000);
