// Keeps the page up to date: the server sends the parts that have changed, and they are written cell by cell, as text.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const parts = new Map(); // by name: what is to be drawn
  let paused = false;

  const element = (name, text, number) => {
    const e = document.createElement(name);
    e.textContent = text;
    if (number) e.className = "number";
    return e;
  };

  const say = (text) => {
    if (byId("said").textContent !== text) byId("said").textContent = text;
  };

  const drawTable = (table) => {
    const body = byId(table.id).querySelector("tbody");
    byId(`${table.id}-note`).textContent = table.note;
    body.replaceChildren(...table.rows.map((cells) => {
      const row = document.createElement("tr");
      cells.forEach((text, i) => {
        const e = element(i === 0 ? "th" : "td", text, table.numbers[i]);
        if (i === 0) e.scope = "row";
        row.append(e);
      });
      return row;
    }));
  };

  const drawDiagram = (diagram) => {
    const drawing = byId("drawing");
    byId("diagram-note").textContent = diagram.note;
    drawing.setAttribute("width", diagram.width);
    drawing.setAttribute("height", diagram.height);
    drawing.setAttribute("viewBox", `0 0 ${diagram.width} ${diagram.height}`);
    drawing.replaceChildren(...diagram.shapes.map((shape) => {
      const e = document.createElementNS("http://www.w3.org/2000/svg", shape.w ? "rect" : "text");
      e.setAttribute("x", shape.x);
      e.setAttribute("y", shape.y);
      e.setAttribute("class", shape.class);
      if (shape.w) {
        e.setAttribute("width", shape.w);
        e.setAttribute("height", shape.h);
      } else {
        e.textContent = shape.text;
      }
      return e;
    }));
  };

  const draw = (name, part) => {
    switch (name) {
      case "title":
        document.title = part;
        if (byId("title").textContent !== part) byId("title").textContent = part;
        break;
      case "status":
        byId("status").replaceChildren(...part.map((item) => {
          const both = document.createElement("div");
          both.append(element("dt", item.name), element("dd", item.text));
          return both;
        }));
        break;
      case "diagram":
        drawDiagram(part);
        break;
      default:
        drawTable(part);
    }
  };

  const drawAll = () => {
    if (paused) return;
    parts.forEach((part, name) => draw(name, part));
    parts.clear();
  };

  const pause = byId("pause");
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    drawAll();
  });

  const source = new EventSource("events");
  source.addEventListener("page", (event) => {
    say("The page follows the job.");
    Object.entries(JSON.parse(event.data)).forEach(([name, part]) => parts.set(name, part));
    drawAll();
  });
  source.addEventListener("end", () => {
    source.close();
    say("The server has ended with the job. This is what it knew last.");
  });
  source.onerror = () => {
    say("The server does not answer: it has ended, or too many look at this page. This is what it knew last.");
  };
})();
