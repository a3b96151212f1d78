// The text of the tour.

/** The text of each step, and which frame of which recording is shown; with `look`, the card of a cell without the preceding cycle. At most 40 words each. */
export const STEPS = [
  { title: "A corridor", of: "walk", frame: 0, text: "The dot is the agent. The star pays 10; every other step costs 1. Nothing is known yet, so every cell is treated as worth 0." },
  { title: "It walks", of: "walk", frame: 3, text: "Three steps right. Each one is counted in the agent’s [model|model]: which action led where, and what it paid. V stays 0, since untried actions count as 0: no surprise yet." },
  { title: "A surprise", of: "walk", frame: 4, text: "Going right from cell 4 paid 10 and ended the episode. Its [value|value] jumps from 0 to 10; cell 3 still relies on 0. So cell 4 joins the [queue|queue]: cells with news to pass on. [Priority|priority]: the difference, 10." },
  { title: "One small backup", of: "walk", frame: 5, text: "Cell 4 is popped: it leaves the queue and updates its only [predecessor|predecessor], → from cell 3. A [small backup|small] corrects that [Q|q] by one addition: [γ|discount] × P̂ × ΔV = 0.9 × 1 × 10 = +9. P̂: how often → led here." },
  { title: "The next surprise", of: "walk", frame: 5, text: "Cell 3 counted as 0 and is now worth −1 + 9 = 8. So it has news too, and is queued with priority 8. One cell popped, its predecessors updated: that was one [update cycle|cycle].", look: 2 },
  { title: "The wave runs back", of: "walk", frame: 6, text: "The next cycle pops cell 3 and updates cell 2: +7.2. Each cell passes on only what changed." },
  { title: "Back at the start", of: "walk", frame: 8, look: null, text: "Two more cycles, and the queue is empty. One visit to the star was enough for the whole corridor: three small backups, three additions." },
  { title: "A slippery floor", of: "slip", frame: 1, text: "Now moves slip: each action leads to up to three cells. The agent has tried everything, and several cells wait on the queue." },
  { title: "Counting additions", of: "slip", frame: 2, text: ({ cells, small, full }) => `One cycle updated ${cells} cells with ${small} additions, one per Q. A [full backup|full] adds up all outcomes of every such Q again: ${full} additions, for the same result. In the paper’s maze, up to 15 times as many.` },
  { title: "One cycle is enough", of: "slip", frame: 2, text: "[One cycle per step|enough] need not finish the job: it passes on the largest surprise. Those it causes are smaller and stay queued for later steps. Values lag a little, but no change is forgotten. Now a maze, at speed." },
];
