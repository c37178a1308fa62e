"use strict";
(() => {
  // The boxes of a picture are one stop of the Tab key: the arrow keys go up and down a column, and to the next one.
  // What a box stands for is read in the list below, and shown under the picture.
  for (const figure of document.querySelectorAll("figure.hierarchy")) {
    const readout = figure.querySelector(".readout");
    const boxes = Array.from(figure.querySelectorAll("a.box"), (link) => {
      const { x, y, height } = link.parentElement;
      return { link, x: x.baseVal.valueInSpecifiedUnits, y: y.baseVal.value, end: y.baseVal.value + height.baseVal.value };
    });
    let at = 0;
    const stop = (place) => {
      boxes[at].link.setAttribute("tabindex", -1);
      at = place;
      boxes[at].link.setAttribute("tabindex", 0);
    };
    const tell = ({ link }) => {
      const item = document.getElementById(link.getAttribute("href").slice(1));
      readout.textContent = item ? item.querySelector(".text").textContent : "";
    };
    // The box that begins nearest to this one in the next column with any, on the way.
    const beside = (way) => {
      const here = boxes[at];
      const columns = [...new Set(boxes.map((box) => box.x))].sort((a, b) => a - b);
      const column = columns[columns.indexOf(here.x) + way];
      const distance = (box) => Math.abs(box.y - here.y) + (box.y <= here.y && here.y < box.end ? -1e6 : 0);
      const there = boxes.filter((box) => box.x === column).sort((a, b) => distance(a) - distance(b));
      return there.length ? boxes.indexOf(there[0]) : at;
    };
    const along = (way) => {
      const column = boxes.filter((box) => box.x === boxes[at].x);
      const next = column[column.indexOf(boxes[at]) + way];
      return next ? boxes.indexOf(next) : at;
    };
    if (!boxes.length) continue;
    boxes.forEach(({ link }) => link.setAttribute("tabindex", -1));
    stop(0);
    boxes.forEach((box, place) => {
      box.link.addEventListener("focus", () => { stop(place); tell(box); });
      box.link.addEventListener("pointerenter", () => tell(box));
    });
    figure.addEventListener("keydown", (event) => {
      const moves = {
        ArrowDown: () => along(1), ArrowUp: () => along(-1), ArrowRight: () => beside(1), ArrowLeft: () => beside(-1),
        Home: () => 0, End: () => boxes.length - 1,
      };
      if (!Object.hasOwn(moves, event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      boxes[moves[event.key]()].link.focus();
    });
  }
})();
