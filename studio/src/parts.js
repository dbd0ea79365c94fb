// Parts of the page: tables of texts, choices, tabs. Every value is written as text.

export const place = (name) => document.getElementById(name);
export const counted = (n, what) => `${n.toLocaleString("en-US")} ${what}${n === 1 ? "" : what.endsWith("h") ? "es" : "s"}`;

export function put(parent, kind, text, name) {
  const made = document.createElement(kind);
  if (text !== undefined && text !== null) made.textContent = text;
  if (name) made.className = name;
  parent.append(made);
  return made;
}

// Choices of a select, which keeps what was chosen if that is still there.
export function fill(select, entries) {
  const before = select.value;
  select.replaceChildren();
  for (const [value, text] of entries) put(select, "option", text).value = value;
  select.value = entries.some(([value]) => value === before) ? before : entries[0]?.[0] ?? "";
}

// A table of columns. With `onChoose`, rows can be chosen with the pointer and the keyboard.
export function listTable(parent, { columns, cells, n_rows: total, is_number: isNumber }, onChoose) {
  parent.replaceChildren();
  const table = put(parent, "table"), head = put(put(table, "thead"), "tr"), body = put(table, "tbody");
  columns.forEach((name, n) => { put(head, "th", name, isNumber[n] ? "number" : "").scope = "col"; });
  const count = cells.length ? cells[0].length : 0;
  for (let row = 0; row < count; row++) {
    const line = put(body, "tr");
    cells.forEach((column, n) => {
      const value = column[row];
      put(line, "td", value ?? "NULL", [value === null ? "null" : "", isNumber[n] ? "number" : ""].join(" ").trim());
    });
    if (!onChoose) continue;
    line.className = "choice";
    line.tabIndex = row === 0 ? 0 : -1;
    line.addEventListener("click", () => onChoose(row));
    line.addEventListener("keydown", (event) => {
      const next = { ArrowDown: line.nextElementSibling, ArrowUp: line.previousElementSibling }[event.key];
      if (event.key === "Enter" || event.key === " ") onChoose(row);
      else if (next) { line.tabIndex = -1; next.tabIndex = 0; next.focus(); }
      else return;
      event.preventDefault();
    });
  }
  put(parent, "p", total > count ? `The first ${count} of ${counted(total, "row")}.` : counted(total, "row"), "note");
}

// Tabs of a list: arrows go from one to the next. `onShow` is told which panel is seen.
export function makeTabs(list, onShow) {
  const tabs = [...list.querySelectorAll('[role="tab"]')].filter((tab) => !tab.hidden);
  const show = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      place(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
    onShow(chosen.getAttribute("aria-controls"));
  };
  tabs.forEach((tab, n) => {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(n + step + tabs.length) % tabs.length];
      show(next);
      next.focus();
      event.preventDefault();
    });
  });
  show(tabs[0]);
}
