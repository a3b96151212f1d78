// The text of the tour.

/** The text of each step, and which frame of which recording is shown; with `look`, the card of a cell without the preceding cycle. At most 40 words each. */
export const STEPS = [
  { title: "A corridor", of: "walk", frame: 0, text: "The dot is the agent. The star pays 10; every other step costs 1. Nothing is known yet, so every cell is treated as worth 0." },
  { title: "It walks", of: "walk", frame: 3, text: "Three steps right. The agent counts each one in its [model|model]: which action led where, and what it paid. V stays 0, since actions that have not been tried count as 0. Nothing is surprising yet." },
  { title: "A surprise", of: "walk", frame: 4, text: "Going right from cell 4 paid 10 and ended the episode. Its [value|value] is now 10, but cell 3 still counts on 0. So cell 4 joins the [queue|queue], the cells with news to pass on. [Priority|priority]: the difference, 10." },
  { title: "One small backup", of: "walk", frame: 5, text: "Cell 4 is popped: it leaves the queue. Its only [predecessor|predecessor] is → in cell 3, which always led here: P̂ = 1. A [small backup|small] corrects that [Q|q] with one addition: [γ|discount] × P̂ × ΔV = 0.9 × 1 × 10 = +9." },
  { title: "The next surprise", of: "walk", frame: 5, text: "Cell 3 is now worth −1 + 9 = 8, but cell 2 still counts on 0. So cell 3 has joined the queue, with priority 8. Popping one cell and updating its predecessors is one [update cycle|cycle].", look: 2 },
  { title: "Second episode: one step, one cycle", of: "walk", frame: 6, text: "The agent starts again. It takes one step, to cell 2, and the planner does one cycle: it pops cell 3, and the news of the star reaches cell 2: +7.2." },
  { title: "One more step, one more cycle", of: "walk", frame: 7, text: "The agent goes right. The planner pops cell 2, and cell 1 gets +5.58. While the agent walks right, the news comes back left, one cell per cycle." },
  { title: "One cycle per step is enough", of: "walk", frame: 8, text: "By itself, a step changes one value. What [one cycle|enough] passes on is at most γ · P̂ times as large. The rest waits: values lag a little, no change is lost. In Figure 3, one cycle scores −52.0, ten −51.8." },
  { title: "A slippery floor", of: "slip", frame: 1, text: "Now moves slip: each of the four actions leads to up to three cells. For this picture the agent tried everything while the planner was switched off, so several cells wait on the queue." },
  { title: "Counting additions", of: "slip", frame: 2, text: ({ n, cells, small, full }) => `One cycle changed ${n} Q values in ${cells} cells with ${small} additions. A [full backup|full] adds up all outcomes of such a Q again. The same update by full backups would take ${full} additions.` },
  { title: "Now a maze", of: "slip", frame: 2, look: null, text: "In the paper’s maze a move has up to 15 outcomes. Race the paper’s planner, made of small backups, against the method of [Moore & Atkeson|full], made of full ones. Both get the same number of additions.", isLast: true },
];
