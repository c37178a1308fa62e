"use strict";
(() => {
  // What is still being read is loaded again by itself.
  if (document.querySelector("[data-reload]")) setTimeout(() => location.reload(), 1000);

  // What is at fault in a long line is brought into view.
  const fault = document.querySelector(".lines mark");
  if (fault) {
    const box = fault.closest(".scroll");
    const place = fault.getBoundingClientRect().left - box.getBoundingClientRect().left;
    if (place > box.clientWidth * 0.7) box.scrollLeft = place - box.clientWidth / 3;
  }

  // Keys: / goes to the search, n and p turn pages, j and k go from record to record, Enter opens.
  const rows = Array.from(document.querySelectorAll("[data-row]"));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    if (event.key === "/") {
      const search = document.querySelector("[data-words]");
      if (search) {
        event.preventDefault();
        search.select();
      }
    } else if (event.key === "j" || event.key === "k") {
      const at = rows.indexOf(document.activeElement);
      const next = rows[at < 0 ? 0 : at + (event.key === "j" ? 1 : -1)];
      if (next) next.focus();
    } else {
      const target = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
      if (target) target.click();
    }
  });
})();
