"use strict";
const { minimum, states } = JSON.parse(document.getElementById("data").textContent);
const ask = document.getElementById("ask");
const answer = document.getElementById("answer");
const byName = new Map(states.map((state) => [state[0], state]));

function element(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function row(cells, tag, className) {
  const made = document.createElement("tr");
  cells.forEach((cell, i) => made.append(element(tag, cell ?? "not known", i > 0 ? "number" : "")));
  if (className) made.className = className;
  return made;
}

function show(name) {
  answer.replaceChildren();
  const state = byName.get(name);
  if (!state) {
    if (name) answer.append(element("p", `No state '${name}' among those embedded; choose one from the list.`));
    return;
  }
  const [, visits, value, actions] = state;
  answer.append(element("p", `${visits} logged visits; worth ${value} under the policy.`));
  const table = document.createElement("table");
  table.append(row(["action", "count", "logged, %", "policy, %", "value", "from", "to", "change per case"], "th"));
  for (const [action, n, logged, policy, q, low, high, change] of actions) {
    const rare = n < minimum;
    table.append(row([rare ? `${action} (below the minimum)` : action, n, logged, policy, q, low, high, change], "td", rare ? "rare" : ""));
  }
  answer.append(table);
}

const names = document.getElementById("names");
for (const [name] of states) {
  const option = document.createElement("option");
  option.value = name;
  names.append(option);
}
ask.addEventListener("input", () => show(ask.value));
if (states.length > 0) {
  ask.value = states[0][0];
  show(ask.value);
}
