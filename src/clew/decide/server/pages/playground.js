// Asks the judge and draws its answers. All text goes in as text, never as HTML.
"use strict";

const SAMPLES = {
  gate: JSON.stringify(
    {
      user: "From now on always run the linter before you commit. We use tabs in this repository.",
      assistant: "Understood: linter first, tabs for indentation.",
    },
    null,
    2,
  ),
  pairs: JSON.stringify(
    { a: "The staging database listens on port 5544.", b: "The staging database moved to port 6000." },
    null,
    2,
  ),
  consolidation: JSON.stringify({ entry: "The demo on Friday uses the blue theme.", written: "2026-03-02" }, null, 2),
};
const OWN_SAMPLE = JSON.stringify(
  { keep: { type: "noul", instructions: "Is this worth remembering in later sessions?" } },
  null,
  2,
);

const part = (id) => document.getElementById(id);
let questions = {};
let sampleShown = "";

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function percent(share) {
  return `${(100 * share).toFixed(1)}%`;
}

function shareRow(name, share, isLong) {
  const row = make("div", isLong ? "share long" : "share");
  const track = make("div", "track");
  const fill = make("div", "fill");
  fill.style.width = percent(share);
  track.append(fill);
  row.append(make("span", "share-name", name), track, make("span", "share-number", percent(share)));
  return row;
}

function headline(answer) {
  if (answer.x_abstained) return "abstains";
  if (answer.type === "noul") return percent(answer.noul);
  return answer.type === "choice" ? answer.choice : answer.score.toFixed(2);
}

function shares(answer) {
  if (answer.type === "noul") return [["yes", answer.noul]];
  const names = Object.entries(answer.probabilities);
  return answer.type === "choice" ? names : names.map(([level, share]) => [`${level}: ${answer.legend[level]}`, share]);
}

function note(answer) {
  if (answer.x_abstained) return "no head for this question and state: an even prior, decide nothing by it";
  return answer.x_matched_by === "id" ? `head ${answer.x_head}, found by the id` : `head ${answer.x_head}`;
}

function answerCard(id, question, answer) {
  const card = make("article", answer.x_abstained ? "answer abstained" : "answer");
  const head = make("div", "answer-head");
  head.append(make("h3", "", id), make("strong", "", headline(answer)));
  card.append(head);
  const asked = question && question.instructions;
  if (asked) card.append(make("p", "asked", typeof asked === "string" ? asked : JSON.stringify(asked)));
  for (const [name, share] of shares(answer)) card.append(shareRow(name, share, answer.type === "score"));
  card.append(make("span", "tag", note(answer)));
  return card;
}

function showProblem(text) {
  part("answers").replaceChildren(make("p", "problem", text));
  part("raw-part").hidden = true;
}

function readProblem(status, body) {
  const detail = body && body.detail;
  if (Array.isArray(detail)) {
    return detail.map((problem) => `${problem.loc.slice(1).join(" › ") || "body"}: ${problem.msg}`).join("\n");
  }
  return (detail && detail.message) || `The server answers with status ${status}.`;
}

function readState() {
  const text = part("state").value;
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // a text may begin with a bracket
  }
}

function readQuestions() {
  const set = part("set").value;
  if (set === "own") return JSON.parse(part("own").value);
  return set === "all" ? Object.assign({}, ...Object.values(questions)) : questions[set];
}

async function ask(event) {
  event.preventDefault();
  let asked;
  try {
    asked = readQuestions();
  } catch (error) {
    showProblem(`The questions are not JSON: ${error.message}`);
    return;
  }
  part("ask").disabled = true;
  try {
    await send(asked);
  } catch {
    showProblem("The server does not answer.");
  } finally {
    part("ask").disabled = false;
  }
}

async function send(asked) {
  const headers = { "Content-Type": "application/json" };
  const key = part("key").value.trim();
  if (key) headers.Authorization = `Bearer ${key}`;
  const body = JSON.stringify({ model: "jev-latest", state: readState(), questions: asked });
  const reply = await fetch("/v1/systemone", { method: "POST", headers, body });
  const answered = await reply.json();
  if (!reply.ok) {
    showProblem(readProblem(reply.status, answered));
    return;
  }
  const cards = Object.entries(answered.answers).map(([id, answer]) => answerCard(id, asked[id], answer));
  part("answers").replaceChildren(...cards);
  part("raw").textContent = JSON.stringify(answered, null, 2);
  part("raw-part").hidden = false;
}

function chooseSet() {
  const set = part("set").value;
  part("own-field").hidden = set !== "own";
  const sample = SAMPLES[set] || SAMPLES.gate;
  if (part("state").value.trim() === sampleShown.trim()) {
    part("state").value = sample; // what the person wrote stays
    sampleShown = sample;
  }
}

async function start() {
  part("own").value = OWN_SAMPLE;
  part("set").addEventListener("change", chooseSet);
  part("form").addEventListener("submit", ask);
  chooseSet();
  try {
    const [health, bundled] = await Promise.all([fetch("/health"), fetch("/questions.json")]);
    questions = await bundled.json();
    const { model, calibrated } = await health.json();
    const fingerprint = (model.fingerprint || "").slice(0, 12);
    part("model").textContent = `${model.name} · ${fingerprint} · ${calibrated ? "calibrated" : "not calibrated"}`;
  } catch {
    part("model").textContent = "the server does not answer";
  }
}

start();
