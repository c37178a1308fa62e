"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const format = new Intl.NumberFormat("en");

  // Light and dark: the system's choice until the reader makes one, which is kept where the browser lets us.
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = (value) => {
    try {
      if (value !== undefined) localStorage.setItem("ragdata-theme", value);
      return localStorage.getItem("ragdata-theme");
    } catch {
      return null;
    }
  };
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const tell = () => {
    button.textContent = dark() ? "Light" : "Dark";
  };
  const before = kept();
  if (before === "dark" || before === "light") root.dataset.theme = before;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    kept(root.dataset.theme);
    tell();
  });
  system.addEventListener("change", tell);
  tell();

  // A link of the contents opens what its target stands in.
  const reveal = () => {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return;
    }
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  // Where one is: the link of the section that is on the screen.
  const links = all(".contents a");
  if (links.length && "IntersectionObserver" in window) {
    const seen = new Map();
    const choose = () => {
      const end = scrollY > 0 && innerHeight + scrollY >= root.scrollHeight - 2; // a short last section never gets up there
      const here = end ? links.at(-1) : links.find((link) => seen.get(link.hash.slice(1)));
      for (const link of links) {
        if (link === here) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    };
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) seen.set(entry.target.id, entry.isIntersecting);
      choose();
    }, { rootMargin: "-20% 0px -55% 0px" });
    addEventListener("scroll", choose, { passive: true });
    for (const link of links) {
      const section = document.getElementById(link.hash.slice(1));
      if (section) watch.observe(section);
    }
  }

  // Charts: the value of a bar below the chart, by pointer or by the arrow keys.
  for (const chart of all("svg.chart")) {
    const bars = all("g[data-value]", chart);
    const readout = chart.parentElement.querySelector(".readout");
    const usual = readout ? readout.textContent : "";
    let at = -1;
    const show = (index) => {
      if (at >= 0) bars[at].classList.remove("on");
      at = index;
      if (at >= 0) bars[at].classList.add("on");
      readout.textContent = at >= 0 ? bars[at].dataset.value : usual;
    };
    if (!readout || !bars.length) continue;
    bars.forEach((bar, index) => bar.addEventListener("pointerenter", () => show(index)));
    chart.addEventListener("pointerleave", () => show(-1));
    chart.addEventListener("blur", () => show(-1));
    chart.addEventListener("keydown", (event) => {
      const last = bars.length - 1;
      const moves = { ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: last, Escape: -1 };
      if (!(event.key in moves)) return;
      event.preventDefault();
      show(moves[event.key]);
    });
  }

  // The keyboard gets into a box that scrolls, and does not stop at one that has nothing to scroll.
  const boxes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const box = target.closest(".scroll");
      if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
      else if (document.activeElement !== box) box.removeAttribute("tabindex");
    }
  });
  for (const one of all(".scroll, .scroll > table")) boxes.observe(one);

  // Words about what only works here.
  for (const one of all("[data-script]")) one.hidden = false;

  // Lists that can be searched: every item whose text has all the words.
  for (const box of all("[data-search]")) {
    const items = all("[data-item]", document.getElementById(box.dataset.search));
    const status = document.getElementById(box.dataset.search + "-status");
    const filter = document.getElementById(box.dataset.search + "-filter");
    const texts = items.map((item) => item.textContent.toLowerCase());
    const apply = () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      items.forEach((item, index) => {
        const wanted = !filter || !filter.value || item.dataset.item === filter.value;
        item.hidden = !(wanted && words.every((word) => texts[index].includes(word)));
        count += item.hidden ? 0 : 1;
      });
      if (status) status.textContent = `${format.format(count)} of ${format.format(items.length)} shown`;
    };
    box.addEventListener("input", apply);
    if (filter) filter.addEventListener("input", apply);
    box.closest("[data-live]").hidden = false;
  }

  // On paper everything stands open that is not a table behind a picture.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])").filter((one) => !one.closest("figure"));
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
})();
