// Draws /openapi.json. All text goes in as text, never as HTML.
"use strict";

const part = (id) => document.getElementById(id);

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

// Text in which *word* is emphasis and `code` is code.
function marked(text) {
  return text.split(/(`[^`]+`|\*[^*]+\*)/).map((piece) => {
    if (/^`.+`$/.test(piece)) return make("code", "", piece.slice(1, -1));
    return /^\*.+\*$/.test(piece) ? make("em", "", piece.slice(1, -1)) : piece;
  });
}

function link(reference) {
  const name = reference.split("/").pop();
  const anchor = make("a", "", name);
  anchor.href = `#${name}`;
  return anchor;
}

function between(pieces, mark) {
  return pieces.flatMap((piece, at) => (at ? [mark, ...piece] : piece));
}

// A schema in a few words, as nodes.
function phrase(schema) {
  if (schema.$ref) return [link(schema.$ref)];
  if (schema.const !== undefined) return [make("code", "", JSON.stringify(schema.const))];
  if (schema.enum) return [make("code", "", schema.enum.map((one) => JSON.stringify(one)).join(" | "))];
  const options = schema.oneOf || schema.anyOf;
  if (options) return between(options.map(phrase), " or ");
  if (schema.type === "array") return ["list of ", ...phrase(schema.items || {})];
  if (schema.additionalProperties) return ["object, name → ", ...phrase(schema.additionalProperties)];
  if (schema.properties) return ["object with ", make("code", "", Object.keys(schema.properties).join(", "))];
  return [[schema.type || "anything"].flat().join(" or "), limits(schema)];
}

function limits(schema) {
  if (schema.minimum !== undefined && schema.maximum !== undefined) return `, ${schema.minimum} to ${schema.maximum}`;
  if (schema.maxLength !== undefined) return `, up to ${schema.maxLength} characters`;
  return "";
}

function size(schema) {
  const least = schema.minItems ?? schema.minProperties;
  const most = schema.maxItems ?? schema.maxProperties;
  return most === undefined ? "" : `, ${least ?? 0} to ${most} entries`;
}

function fieldRow(name, schema, isRequired) {
  const title = make("th", "", make("code", "", name));
  const about = make("td", "", ...phrase(schema), size(schema), isRequired ? "" : " (optional)");
  if (schema.description) about.append(make("p", "hint", ...marked(schema.description)));
  return make("tr", "", title, about);
}

function schemaCard([name, schema]) {
  const card = make("article", "card", make("h3", "", name));
  card.id = name;
  if (schema.description) card.append(make("p", "hint", ...marked(schema.description)));
  if (!schema.properties) {
    card.append(make("p", "", ...phrase(schema)));
    return card;
  }
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties).map(([field, body]) => fieldRow(field, body, required.has(field)));
  card.append(make("table", "fields", ...rows));
  return card;
}

function responseRow([status, response]) {
  const about = make("td", "", response.description);
  const content = Object.entries(response.content || {})[0];
  if (content) about.append(": ", ...(content[1].schema.$ref ? phrase(content[1].schema) : [make("code", "", content[0])]));
  return make("tr", "", make("th", "", status), about);
}

function operationCard(path, method, operation) {
  const head = make("div", "operation-head", make("span", "method", method.toUpperCase()), make("h3", "", path));
  const card = make("article", "card", head, make("p", "", operation.summary));
  if (operation.security.length) card.append(make("p", "hint", "Needs the key as a bearer token, if the server has one."));
  if (operation.description) card.append(make("p", "hint", operation.description));
  const body = operation.requestBody && operation.requestBody.content["application/json"];
  if (body) {
    card.append(make("p", "", "Body: ", ...phrase(body.schema)), make("pre", "", JSON.stringify(body.example, null, 2)));
  }
  if (!Object.values(operation.responses)[0].content["application/json"]) return card; // a page or a part of one
  const answers = make("details", "", make("summary", "", "Answers"));
  answers.open = Boolean(body);
  answers.append(make("table", "", ...Object.entries(operation.responses).map(responseRow)));
  card.append(answers);
  return card;
}

function draw(description) {
  part("version").textContent = `version ${description.info.version}`;
  part("about").append(...marked(description.info.description));
  for (const [path, operations] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (method !== "head") part("operations").append(operationCard(path, method, operation));
    }
  }
  part("schemas").append(...Object.entries(description.components.schemas).map(schemaCard));
}

async function start() {
  try {
    draw(await (await fetch("/openapi.json")).json());
  } catch {
    part("about").textContent = "The server does not answer.";
  }
}

start();
