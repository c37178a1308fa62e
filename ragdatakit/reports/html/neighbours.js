"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const CHOICES = 10;
  const ROWS = 100;
  const PRINTED = 20; // as in the styles
  const [CENTRE, NAME, RELATION] = ["600 13px", "13px", "11px"]; // as in the styles
  const pen = document.createElement("canvas").getContext("2d");
  const format = new Intl.NumberFormat("en");
  const many = (count, word) => `${format.format(count)} ${word}${count === 1 ? "" : "s"}`;

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const shape = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const start = (box) => {
    const graph = JSON.parse(document.getElementById(box.dataset.graph).textContent);
    const { names, degrees, types, typeNames, marks, relations, edges, texts } = graph;
    const lower = names.map((name) => name.toLowerCase());
    const byDegree = names.map((_, node) => node).sort((a, b) => degrees[b] - degrees[a] || a - b);
    const links = names.map(() => []);
    for (let at = 0; at < edges.length; at += 3) {
      const [from, relation, to] = [edges[at], edges[at + 1], edges[at + 2]];
      links[from].push({ out: true, relation, node: to });
      if (to !== from) links[to].push({ out: false, relation, node: from });
    }
    // The best connected neighbours first; several edges to one of them stay together.
    for (const some of links) some.sort((a, b) => degrees[b.node] - degrees[a.node] || a.node - b.node);
    const typed = types.some((type) => type >= 0);
    const input = box.querySelector('[role="combobox"]');
    const list = box.querySelector('[role="listbox"]');
    const trail = box.querySelector(".trail");
    const status = box.querySelector(".status");
    const description = box.querySelector(".about");
    const drawing = box.querySelector(".drawing");
    const neighbours = box.querySelector(".neighbours");
    let path = [];
    let choices = [];
    let chosen = -1;

    const about = (node) => [
      types[node] >= 0 ? typeNames[types[node]] : "",
      marks[node] ?? "",
      many(degrees[node], "edge"),
    ].filter(Boolean).join(", ");

    // The names that begin with what was typed, then those that have it elsewhere; the best connected first.
    const find = (typed) => {
      const word = typed.trim().toLowerCase();
      const first = [];
      const others = [];
      for (const node of byDegree) {
        const place = lower[node].indexOf(word);
        if (place === 0) first.push(node);
        else if (place > 0) others.push(node);
        if (first.length === CHOICES) break;
      }
      const exact = word ? byDegree.filter((node) => lower[node] === word || lower[node].endsWith(` [${word}]`)) : [];
      return [...new Set([...exact, ...first, ...others])].slice(0, CHOICES);
    };

    const close = () => {
      list.hidden = true;
      chosen = -1;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    };
    const mark = (index) => {
      chosen = index;
      Array.from(list.children).forEach((item, at) => item.setAttribute("aria-selected", String(at === index)));
      if (index >= 0) {
        input.setAttribute("aria-activedescendant", list.children[index].id);
        list.children[index].scrollIntoView({ block: "nearest" });
      } else input.removeAttribute("aria-activedescendant");
    };
    const open = () => {
      choices = find(input.value);
      list.replaceChildren(...choices.map((node, at) => {
        const item = element("li");
        item.id = `${list.id}-${at}`;
        item.setAttribute("role", "option");
        item.append(element("bdi", names[node]), element("small", about(node)));
        item.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          go(node);
          close();
        });
        return item;
      }));
      list.hidden = !choices.length;
      input.setAttribute("aria-expanded", String(choices.length > 0));
      mark(-1);
      if (!choices.length) status.textContent = `No node on this page has “${input.value.trim()}” in its name.`;
    };
    input.addEventListener("input", open);
    input.addEventListener("focus", () => input.select());
    input.addEventListener("click", open);
    input.addEventListener("blur", close);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (list.hidden) open();
        if (!choices.length) return;
        const step = event.key === "ArrowDown" ? 1 : -1;
        mark(chosen < 0 && step < 0 ? choices.length - 1 : (chosen + step + choices.length) % choices.length);
      } else if (event.key === "Enter") {
        event.preventDefault();
        const node = chosen >= 0 && !list.hidden ? choices[chosen] : find(input.value)[0];
        if (node === undefined) return;
        go(node);
        close();
      }
    });

    const step = (node, className) => {
      const button = element("button", names[node], className);
      button.type = "button";
      button.dir = "auto";
      button.addEventListener("click", () => {
        go(node);
        input.scrollIntoView({ block: "nearest" });
      });
      return button;
    };

    const go = (node, keep = true) => {
      if (keep && path.at(-1) !== node) path = [...path, node].slice(-8);
      input.value = names[node];
      const here = links[node];
      const left = degrees[node] - here.length - here.filter((link) => link.node === node).length;
      status.textContent = `${names[node]}: ${about(node)}` +
        (left > 0 ? `; ${format.format(here.length)} of them on this page` : "");
      description.textContent = texts[node] ?? "";
      trail.replaceChildren(...path.slice(0, -1).map((old, at) => {
        const item = element("li");
        const button = element("button", names[old], "link");
        button.type = "button";
        button.addEventListener("click", () => {
          path = path.slice(0, at + 1);
          go(old, false);
        });
        item.append(button);
        return item;
      }));
      draw(node);
      listNeighbours(node);
    };

    const wayOf = (out) => (out ? "to the neighbour" : "from the neighbour");
    // Edges that are the same in all that is shown of them, as one with their number.
    const alike = (some) => {
      const found = new Map();
      for (const { out, relation, node } of some) {
        const key = `${out} ${relation} ${node}`;
        if (!found.has(key)) found.set(key, { out, relation, node, count: 0 });
        found.get(key).count += 1;
      }
      return Array.from(found.values());
    };

    const listNeighbours = (node) => {
      const all = alike(links[node]);
      const rows = all.slice(0, ROWS).map(({ out, relation, node: other, count }) => {
        const row = element("tr");
        const head = element("th");
        head.scope = "row";
        head.append(step(other, "link"));
        const edge = element("td", relations[relation] + (count > 1 ? ` (${format.format(count)} edges)` : ""));
        edge.dir = "auto";
        row.append(head, element("td", wayOf(out), "direction"), edge);
        if (typed) row.append(element("td", types[other] >= 0 ? typeNames[types[other]] : ""));
        row.append(element("td", format.format(degrees[other]), "n"));
        return row;
      });
      const table = element("table");
      const head = element("tr");
      for (const word of ["neighbour", "direction", "relation", ...(typed ? ["type"] : []), "its edges"]) {
        const cell = element("th", word, word === "its edges" ? "n" : "");
        cell.scope = "col";
        head.append(cell);
      }
      const top = element("thead");
      top.append(head);
      const body = element("tbody");
      body.append(...rows);
      const caption = element("caption");
      caption.append(element("span", `Neighbours of ${names[node]}`));
      table.append(caption, top, body);
      const scroll = element("div", undefined, "scroll");
      scroll.tabIndex = 0;
      scroll.setAttribute("role", "group");
      scroll.setAttribute("aria-label", "Neighbours");
      scroll.append(table);
      neighbours.replaceChildren(scroll);
      const more = all.length - rows.length;
      if (rows.length > PRINTED) neighbours.append(element("p", `The first ${PRINTED} are printed.`, "print-only"));
      if (more > 0) neighbours.append(element("p", `And ${format.format(more)} more on this page.`, "small muted"));
    };

    // As much of a text as fits, measured: letters of other scripts are twice as wide as those of ours.
    const family = getComputedStyle(document.body).fontFamily;
    const widthOf = (text, font) => {
      pen.font = `${font} ${family}`;
      return pen.measureText(text).width;
    };
    const cut = (text, room, font) => {
      if (widthOf(text, font) <= room) return text;
      const all = Array.from(text);
      let [fits, not] = [1, all.length];
      while (not - fits > 1) {
        const middle = (fits + not) >> 1;
        if (widthOf(all.slice(0, middle).join("") + "…", font) <= room) fits = middle;
        else not = middle;
      }
      return all.slice(0, fits).join("") + "…";
    };
    const arrowHead = () => {
      const marker = shape("marker", {
        id: `${box.id}-arrow`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto",
      });
      marker.append(shape("path", { d: "M0 0 8 4 0 8z" }));
      const defs = shape("defs", {});
      defs.append(marker);
      return defs;
    };
    const canvas = (node, width, height) => {
      const svg = shape("svg", { class: "ego", height, viewBox: `0 0 ${width} ${height}`, role: "group" });
      svg.setAttribute("aria-label", `${names[node]} and its neighbours; the table below has the same`);
      svg.append(arrowHead());
      return svg;
    };
    const centreOf = (node, x, y, half) => {
      const group = shape("g", { class: "centre" });
      group.append(
        shape("title", {}, names[node]),
        shape("rect", { x: x - half, y: y - 16, width: half * 2, height: 32, rx: 16 }),
        shape("text", { x, y: y + 4.5, "text-anchor": "middle" }, cut(names[node], half * 2 - 18, CENTRE)),
      );
      return group;
    };
    const halfOf = (node, most) => Math.min(Math.max(widthOf(names[node], CENTRE) / 2 + 12, 30), most);
    const line = (from, to) => {
      const bend = (from[0] + to[0]) / 2;
      return shape("path", {
        class: "link-line", "marker-end": `url(#${box.id}-arrow)`,
        d: `M${from[0]} ${from[1]}C${bend} ${from[1]} ${bend} ${to[1]} ${to[0]} ${to[1]}`,
      });
    };
    // Edges of one direction to one neighbour together, with all their relations.
    const together = (some) => {
      const found = new Map();
      for (const { out, relation, node } of some) {
        const key = `${out} ${node}`;
        if (!found.has(key)) found.set(key, { out, node, words: new Set() });
        found.get(key).words.add(relations[relation]);
      }
      return Array.from(found.values(), ({ out, node, words }) => ({ out, node, words: [...words].join(" · ") }));
    };
    // A neighbour: something to press, with its name and the relations beside a ring.
    const nodeOf = (node, link, x, y, sign, room, prefix = "") => {
      const name = cut(names[link.node], room, NAME);
      const words = cut(link.words, room - (prefix ? widthOf(prefix, RELATION) : 0), RELATION);
      const whole = `${names[link.node]} ${link.words}`;
      const way = wayOf(link.out);
      // What is spoken begins with what is shown, so that one can say it to press it.
      const spoken = `${name} ${words} (${way})` + (whole === `${name} ${words}` ? "" : `: ${whole}`);
      const group = shape("g", { class: "node", tabindex: -1, role: "button", "aria-label": spoken });
      const anchor = sign > 0 ? "start" : "end";
      const tx = x + sign * 11;
      const relation = shape("text", { class: "rel", x: tx, y: y + 13, "text-anchor": anchor });
      if (prefix) relation.append(shape("tspan", { "aria-hidden": "true" }, prefix));
      relation.append(words);
      group.append(
        shape("title", {}, `${whole} (${way})`),
        shape("rect", { x: sign > 0 ? x - 8 : x - room - 12, y: y - 20, width: room + 20, height: 40, fill: "transparent" }),
        shape("circle", { cx: x, cy: y, r: 5 }),
        shape("text", { x: tx, y: y - 1, "text-anchor": anchor }, `${name} `),
        relation,
      );
      group.addEventListener("click", () => go(link.node));
      group.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        go(link.node);
        input.focus();
        close();
      });
      return group;
    };

    // All neighbours are one stop of the Tab key: the arrow keys go through one side, or to the other one.
    const oneStop = (svg) => {
      const all = Array.from(svg.querySelectorAll(".node"), (group) => {
        const ring = group.querySelector("circle");
        return { group, x: Number(ring.getAttribute("cx")), y: Number(ring.getAttribute("cy")) };
      });
      let at = 0;
      const stop = (place) => {
        all[at].group.setAttribute("tabindex", -1);
        at = place;
        all[at].group.setAttribute("tabindex", 0);
      };
      const beyond = (way) => {
        const { x, y } = all[at];
        const there = all.filter((one) => (one.x - x) * way > 0).sort((a, b) => Math.abs(a.y - y) - Math.abs(b.y - y));
        return there.length ? all.indexOf(there[0]) : at;
      };
      if (!all.length) return;
      stop(0);
      all.forEach(({ group }, place) => group.addEventListener("focus", () => stop(place)));
      svg.addEventListener("keydown", (event) => {
        const moves = {
          ArrowDown: () => Math.min(at + 1, all.length - 1), ArrowUp: () => Math.max(at - 1, 0),
          ArrowLeft: () => beyond(-1), ArrowRight: () => beyond(1), Home: () => 0, End: () => all.length - 1,
        };
        if (!Object.hasOwn(moves, event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        all[moves[event.key]()].group.focus();
      });
    };

    // On a phone: the node above, its neighbours one below the other.
    const drawNarrow = (node, width) => {
      const most = 10;
      const all = together(links[node]);
      const shown = all.slice(0, most);
      const left = all.length - shown.length;
      const svg = canvas(node, width, 56 + shown.length * 44 + (left ? 24 : 0));
      const half = halfOf(node, width / 2 - 4);
      shown.forEach((link, at) => {
        const y = 66 + at * 44;
        svg.append(shape("path", { class: "link-line", d: `M16 34V${y - 10}Q16 ${y} 28 ${y}` }));
        svg.append(nodeOf(node, link, 36, y, 1, width - 56, link.out ? "→ " : "← "));
      });
      if (left) {
        const y = 66 + shown.length * 44 - 6;
        svg.append(shape("text", { class: "more", x: 47, y }, `${format.format(left)} more in the table`));
      }
      svg.append(centreOf(node, half + 2, 20, half));
      return svg;
    };

    // The node in the middle; edges that come in at the left, those that go out at the right.
    const drawWide = (node, width) => {
      const most = 11;
      const gap = 44;
      const sides = [false, true].map((out) => together(links[node].filter((link) => link.out === out)));
      const rows = Math.max(...sides.map((side) => Math.min(side.length, most) + (side.length > most ? 1 : 0)), 1);
      const height = Math.max(rows * gap + 16, 90);
      const lone = sides.findIndex((side) => !side.length); // nothing at this side, so it needs no room
      const x0 = width * (lone < 0 || !(sides[0].length + sides[1].length) ? 0.5 : lone ? 0.75 : 0.25);
      const y0 = height / 2;
      const reach = Math.min(width * 0.22, 210);
      const half = halfOf(node, Math.min(width * 0.16, reach - 40));
      const svg = canvas(node, width, height);
      sides.forEach((side, right) => {
        const shown = side.slice(0, most);
        const count = shown.length + (side.length > most ? 1 : 0);
        const sign = right ? 1 : -1;
        const x = x0 + sign * reach;
        const room = (right ? width - x : x) - 18;
        const placeOf = (at) => y0 + (at - (count - 1) / 2) * gap;
        shown.forEach((link, at) => {
          const edge = [x0 + sign * half, y0];
          svg.append(right ? line(edge, [x - 8, placeOf(at)]) : line([x + 8, placeOf(at)], [edge[0] - 2, y0]));
          svg.append(nodeOf(node, link, x, placeOf(at), sign, room));
        });
        if (side.length > most) {
          svg.append(shape("text", {
            class: "more", x: x + sign * 11, y: placeOf(most) + 4, "text-anchor": right ? "start" : "end",
          }, `${format.format(side.length - most)} more in the table`));
        }
      });
      svg.append(centreOf(node, x0, y0, half));
      return svg;
    };

    const draw = (node) => {
      const width = Math.max(drawing.clientWidth, 260);
      const svg = width < 560 ? drawNarrow(node, width) : drawWide(node, width);
      oneStop(svg);
      drawing.replaceChildren(svg);
    };

    box.hidden = false;
    const first = graph.first >= 0 ? graph.first : byDegree[0];
    const ready = () => go(path.at(-1) ?? first, path.length === 0);
    // A box in something closed has no width yet: it is drawn when it gets one.
    let drawn = 0;
    new ResizeObserver(() => {
      if (drawing.clientWidth && drawing.clientWidth !== drawn) {
        drawn = drawing.clientWidth;
        ready();
      }
    }).observe(drawing);
  };

  for (const box of document.querySelectorAll("[data-graph]")) start(box);
})();
