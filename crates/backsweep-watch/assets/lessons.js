// The list of lessons, and the text of the one that is shown.

import { LESSONS } from "./lesson-scenes.js";
import { $, element } from "./shown.js";

export class Lessons {
  /** `start` shows a scene by its address, `say` speaks to a screen reader. */
  constructor({ start, say }) {
    const list = $("lesson-list");
    for (const lesson of LESSONS) {
      const item = element("li");
      // A link, so that it can be copied or opened elsewhere.
      const link = element("a", lesson.title);
      link.href = `?${lesson.query}&run=1&lesson=${lesson.id}`;
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        $("lessons").close();
        this.show(lesson);
        start(lesson);
        say(`${lesson.title}. ${lesson.text}`);
      });
      item.append(link, element("p", lesson.text));
      list.append(item);
    }
    $("lessons-open").addEventListener("click", () => $("lessons").showModal());
    $("lessons-close").addEventListener("click", () => $("lessons").close());
    $("lesson-end").addEventListener("click", () => this.show(null));
    this.show(LESSONS.find(({ id }) => id === new URLSearchParams(location.search).get("lesson")) ?? null);
  }

  /** Shows the text of a lesson above the maze, or none. */
  show(lesson) {
    this.current = lesson;
    $("lesson").hidden = lesson === null;
    if (lesson) $("lesson-text").replaceChildren(element("b", `${lesson.title}. `), lesson.text);
  }
}
