"use strict";
(() => {
  const block = document.getElementById("findings-data");
  if (!block) return;
  const { rules, paths, rows } = JSON.parse(block.textContent);
  const box = document.getElementById("findings-list");
  const part = (name) => document.getElementById(`findings-${name}`);
  const format = new Intl.NumberFormat("en");
  const FIRST = 25;
  const STEP = 100;
  const checks = Array.from(box.querySelectorAll('input[type="checkbox"]'));
  const texts = rows.map(([rule, path, line, message, excerpt]) =>
    [rules[rule].join(" "), `${paths[path]}:${line ?? ""}`, message, excerpt ?? ""].join("\n").toLowerCase());
  let found = [];
  let shown = 0;

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const excerptOf = (text, start, length) => {
    const code = element("code", undefined, "excerpt");
    if (!length) {
      code.textContent = text;
      return code;
    }
    const letters = Array.from(text);
    code.append(letters.slice(0, start).join(""), element("mark", letters.slice(start, start + length).join("")));
    code.append(letters.slice(start + length).join(""));
    return code;
  };

  const rowOf = ([rule, path, line, message, excerpt, start, length]) => {
    const [code, name, severity] = rules[rule];
    const row = document.createElement("tr");
    const cells = [0, 1, 2, 3].map(() => row.appendChild(document.createElement("td")));
    cells[0].append(element("span", severity, `badge ${severity}`));
    cells[1].append(element("code", code), element("span", name, "name"));
    cells[2].className = "place";
    cells[2].append(element("bdi", paths[path]));
    if (line !== null) cells[2].append(element("span", `:${line}`, "line-number"));
    const words = element("span", message);
    words.dir = "auto";
    cells[3].append(words);
    if (excerpt !== undefined) cells[3].append(excerptOf(excerpt, start, length));
    return row;
  };

  const showMore = (count) => {
    const next = found.slice(shown, shown + count);
    part("rows").append(...next.map((index) => rowOf(rows[index])));
    shown += next.length;
    const left = found.length - shown;
    part("more").hidden = !left;
    part("more").textContent = `Show ${format.format(Math.min(left, STEP))} more (${format.format(left)} left)`;
    part("status").textContent = `${format.format(shown)} of ${format.format(found.length)} shown` +
      (found.length < rows.length ? `; ${format.format(rows.length - found.length)} are filtered out` : "");
  };

  // What a choice would give: every filter but the one it belongs to is in force.
  const fill = (select, all, names, counts) => {
    const chosen = select.value;
    const options = [new Option(`all (${format.format(counts.reduce((a, b) => a + b, 0))})`, "")];
    names.forEach((name, index) => {
      if (all[index]) options.push(new Option(`${name} (${format.format(counts[index])})`, String(index)));
    });
    select.replaceChildren(...options);
    select.value = chosen;
  };

  const everyRule = rules.map(() => 0);
  const everyPath = paths.map(() => 0);
  for (const [rule, path] of rows) {
    everyRule[rule] += 1;
    everyPath[path] += 1;
  }

  const apply = () => {
    const severities = new Set(checks.filter((check) => check.checked).map((check) => check.value));
    const rule = part("rule").value;
    const path = part("file").value;
    const words = part("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const byRule = rules.map(() => 0);
    const byPath = paths.map(() => 0);
    const bySeverity = {};
    found = [];
    rows.forEach((row, index) => {
      if (!words.every((word) => texts[index].includes(word))) return;
      const severity = rules[row[0]][2];
      const inRule = rule === "" || row[0] === Number(rule);
      const inPath = path === "" || row[1] === Number(path);
      const inSeverity = severities.has(severity);
      if (inPath && inSeverity) byRule[row[0]] += 1;
      if (inRule && inSeverity) byPath[row[1]] += 1;
      if (inRule && inPath) bySeverity[severity] = (bySeverity[severity] ?? 0) + 1;
      if (inRule && inPath && inSeverity) found.push(index);
    });
    fill(part("rule"), everyRule, rules.map(([code, name]) => `${code} ${name}`), byRule);
    fill(part("file"), everyPath, paths, byPath);
    for (const check of checks) {
      check.parentElement.querySelector(".count").textContent = `(${format.format(bySeverity[check.value] ?? 0)})`;
    }
    part("rows").replaceChildren();
    shown = 0;
    showMore(FIRST);
  };

  let waiting = 0;
  part("words").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, rows.length > 1000 ? 120 : 0);
  });
  for (const control of [...checks, part("rule"), part("file")]) control.addEventListener("change", apply);
  part("more").addEventListener("click", () => {
    const row = shown;
    showMore(STEP);
    // The button may be gone: the keyboard goes on with what it brought.
    if (part("more").hidden) {
      const first = part("rows").children[row];
      first.tabIndex = -1;
      first.focus();
    }
  });
  part("clear").addEventListener("click", () => {
    for (const check of checks) check.checked = true;
    part("rule").value = part("file").value = part("words").value = "";
    apply();
  });
  box.querySelector(".tools").hidden = false;
  apply();
})();
