"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Tabs: one panel at a time; arrow keys go from tab to tab.
  all(".tabs").forEach((tabs, number) => {
    const panels = [...tabs.children].filter((child) => child.classList.contains("panel"));
    const list = document.createElement("div");
    list.className = "tablist";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", tabs.dataset.label);
    const buttons = panels.map((panel, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = panel.dataset.label;
      button.id = `tab-${number}-${index}`;
      button.setAttribute("role", "tab");
      panel.id = `panel-${number}-${index}`;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", button.id);
      button.setAttribute("aria-controls", panel.id);
      button.addEventListener("click", () => show(index));
      list.append(button);
      return button;
    });
    const show = (chosen) => {
      panels.forEach((panel, index) => { panel.hidden = index !== chosen; });
      buttons.forEach((button, index) => {
        button.setAttribute("aria-selected", String(index === chosen));
        button.tabIndex = index === chosen ? 0 : -1;
      });
    };
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = (buttons.indexOf(event.target) + step + buttons.length) % buttons.length;
      show(next);
      buttons[next].focus();
    });
    tabs.prepend(list);
    show(0);
  });

  // Dependences: a row of the table and its arrows.
  const light = (number) => {
    all("[data-dependence]").forEach((each) => {
      each.classList.toggle("lit", number !== null && each.dataset.dependence === number);
    });
    all(".arcs").forEach((arcs) => arcs.classList.toggle("has-lit", number !== null));
  };
  all("[data-dependence]").forEach((each) => {
    for (const on of ["mouseenter", "focus"]) {
      each.addEventListener(on, () => light(each.dataset.dependence));
    }
    for (const off of ["mouseleave", "blur"]) each.addEventListener(off, () => light(null));
  });

  // Iteration spaces: what the instance under the pointer is.
  const floor = (a, b) => Math.floor(a / b);
  const operations = {
    "+": (a, b) => a + b,
    "*": (a, b) => a * b,
    floordiv: floor,
    ceildiv: (a, b) => Math.ceil(a / b),
    mod: (a, b) => a - b * floor(a, b),
  };
  const value = (formula, names) => {
    if (typeof formula === "number") return formula;
    if (typeof formula === "string") return names[formula];
    return operations[formula[0]](value(formula[1], names), value(formula[2], names));
  };
  const ordinal = (number) => {
    const tens = number % 100, ones = number % 10;
    if (tens >= 11 && tens <= 13) return `${number}th`;
    return number + (["th", "st", "nd", "rd"][ones] ?? "th");
  };
  const describe = (data, row, column) => {
    const rank = data.scheduled[row]?.[column];
    if (rank === undefined || rank < 0) return null;
    const names = { ...data.held, [data.column]: data.columns[column] };
    if (data.row !== null) names[data.row] = data.rows[row];
    const at = data.loops.map((name) => `${name}=${names[name]}`).join(", ");
    const count = data.scheduled.flat().filter((each) => each >= 0).length;
    const loops = data.functions.map(([name, formula]) => `${name}=${value(formula, names)}`);
    const accesses = data.accesses.map(([kind, array, subscripts]) => {
      const places = subscripts.map((each) => value(each, names)).join(", ");
      return `${kind}s ${array}[${places}]`;
    });
    return [
      `${data.statement}[${at}] runs ${ordinal(rank + 1)} of the ${count} shown`,
      ...(loops.length ? [`in ${loops.join(", ")}`] : []),
      [...new Set(accesses)].join(", "),
    ].join("; ");
  };
  all("figure.plane").forEach((figure) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const readout = figure.querySelector(".readout");
    const hint = "Point at a cell.";
    readout.textContent = hint;
    all("svg.space", figure).forEach((svg) => {
      const cursor = svg.querySelector(".cursor");
      let row = 0, column = 0;
      const go = (r, c) => {
        const text = describe(data, r, c);
        cursor.setAttribute("visibility", text === null ? "hidden" : "visible");
        if (text === null) return false;
        [row, column] = [r, c];
        cursor.setAttribute("x", data.left + c * data.cell);
        cursor.setAttribute("y", data.top + r * data.cell);
        readout.textContent = text;
        return true;
      };
      svg.addEventListener("pointermove", (event) => {
        const box = svg.getBoundingClientRect();
        const scale = svg.viewBox.baseVal.width / box.width;
        const x = (event.clientX - box.left) * scale - data.left;
        const y = (event.clientY - box.top) * scale - data.top;
        go(Math.floor(y / data.cell), Math.floor(x / data.cell));
      });
      svg.addEventListener("keydown", (event) => {
        const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
        const step = steps[event.key];
        if (!step) return;
        event.preventDefault();
        if (!go(row + step[0], column + step[1])) go(row, column);
      });
      svg.addEventListener("focus", () => {
        const ranks = data.scheduled.flat();
        if (readout.textContent !== hint) return;
        const first = ranks.findIndex((rank) => rank >= 0);
        go(Math.floor(first / data.columns.length), first % data.columns.length);
      });
    });
  });

  // The section that is read is marked in the list.
  const links = all("nav a");
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => {
        if (link.hash === `#${entry.target.id}`) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
    }
  }, { rootMargin: "0px 0px -70% 0px" });
  all("main > section").forEach((section) => seen.observe(section));

  // Light or dark, whatever the system says.
  const theme = document.querySelector(".theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });

  // On paper, everything is open.
  addEventListener("beforeprint", () => all("details").forEach((each) => { each.open = true; }));

  // What is copied or saved.
  all("button[data-save]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => {
      const source = document.getElementById(button.dataset.save);
      const url = URL.createObjectURL(new Blob([source.textContent], { type: "application/json" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = button.dataset.name;
      link.click();
      URL.revokeObjectURL(url);
    });
  });
})();
