"use strict";
// Draws the charts whose data stand in the page. Nothing is fetched, ever.
(function () {
  const charts = JSON.parse(document.getElementById("chart-data").textContent);
  const search = JSON.parse(document.getElementById("search-data").textContent);
  const config = {
    responsive: true,
    displaylogo: false,
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
  };

  function isNarrow() {
    return window.innerWidth < 640;
  }

  // Whole powers of the base as tick labels, a few on any axis.
  function powerTicks(axis, values) {
    const base = axis.powers;
    const known = values.filter((value) => value > 0);
    if (!known.length) return {};
    const logs = known.map((value) => Math.log(value) / Math.log(base));
    const first = Math.floor(Math.min(...logs));
    const last = Math.ceil(Math.max(...logs));
    const stride = Math.max(1, Math.ceil((last - first) / (isNarrow() ? 6 : 10)));
    const tickvals = [];
    const ticktext = [];
    for (let power = first; power <= last; power += stride) {
      tickvals.push(Math.pow(base, power));
      ticktext.push(base + "<sup>" + power + "</sup>");
    }
    const inside = tickvals.filter((tick) => tick >= Math.min(...known) && tick <= Math.max(...known));
    return inside.length < 2 && known.length > 1 ? { nticks: 6 } : { tickvals, ticktext };
  }

  function axisLayout(axis, values) {
    const { powers, ...rest } = axis;
    const look = { gridcolor: "#e8ebf0", linecolor: "#9aa3b2", zeroline: false, automargin: true };
    return { ...look, ...rest, ...(powers ? powerTicks(axis, values) : {}) };
  }

  function layoutOf(layout, data) {
    const all = (key) => data.flatMap((trace) => trace[key]);
    return {
      font: { family: "system-ui, sans-serif", size: isNarrow() ? 11 : 13, color: "#1d2433" },
      margin: { l: isNarrow() ? 46 : 64, r: 12, t: 34, b: 48 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: "#8b95a5", activecolor: "#0b5cad" },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      hovermode: "closest",
      hoverlabel: { align: "left", bgcolor: "#ffffff", font: { color: "#1d2433" } },
      dragmode: isNarrow() ? false : "zoom",
      legend: { orientation: "h", y: isNarrow() ? -0.28 : -0.22 },
      ...layout,
      xaxis: axisLayout(layout.xaxis, all("x")),
      yaxis: axisLayout(layout.yaxis, all("y")),
    };
  }

  function draw(element) {
    if (element.dataset.drawn) return;
    element.dataset.drawn = "yes";
    const chart = charts[element.dataset.chart];
    Plotly.newPlot(element, chart.data, layoutOf(chart.layout, chart.data), config);
  }

  // Drawn as they come near, so that a report of many charts opens at once.
  const waiting = [...document.querySelectorAll("[data-chart]")];
  const observer = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
      observer.unobserve(entry.target);
      draw(entry.target);
    }),
    { rootMargin: "600px" },
  );
  waiting.forEach((element) => observer.observe(element));
  window.addEventListener("beforeprint", () => {
    waiting.forEach(draw);
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
  });

  if (!search.workloads.length) return;
  const chart = document.getElementById("search-chart");
  const choose = (name) => document.getElementById("search-" + name);
  const [workloads, sparsities, batches, views] = ["workload", "sparsity", "batch", "view"].map(choose);

  function fill(select, options) {
    const kept = select.value;
    select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
    if (options.some(([value]) => String(value) === kept)) select.value = kept;
  }

  function distinct(items, key, text) {
    return [...new Map(items.map((item) => [key(item), text(item)])).entries()];
  }

  function shown(dimension, value) {
    return dimension.reverse ? 1 - value : value;
  }

  function label(dimension) {
    return dimension.reverse ? "1 − " + dimension.name : dimension.name;
  }

  function metaparameterAxis(dimension) {
    const ends = [shown(dimension, dimension.low), shown(dimension, dimension.high)].sort((a, b) => a - b);
    const scale = dimension.log ? ends.map(Math.log10) : ends;
    const room = 0.04 * (scale[1] - scale[0]);
    return {
      title: { text: label(dimension) },
      type: dimension.log ? "log" : "linear",
      range: [scale[0] - room, scale[1] + room],
      exponentformat: "power",
      ...(dimension.log ? logTicks(scale) : {}),
    };
  }

  // Powers of ten; on an axis too short for three of them also their doubles and halves.
  function logTicks([low, high]) {
    if (high - low >= 2) return { dtick: 1 };
    const decades = [0, 1, 2].map((more) => Math.floor(low) + more);
    const every = decades.flatMap((power) => [1, 2, 5].map((times) => times * 10 ** power));
    const tickvals = every.filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
    return { tickvals, ticktext: tickvals.map((value) => String(Number(value.toPrecision(1)))) };
  }

  // The same for all studies of a workload, so that one can be compared with the next.
  function stepsAxis(workload) {
    const { studies } = workload;
    const seen = studies.flatMap((study) => study.k.filter((_, i) => !"pfx".includes(study.st[i])));
    const low = seen.reduce((least, steps) => Math.min(least, steps), Infinity);
    const high = studies.reduce((most, study) => Math.max(most, study.max), 1);
    const range = [Math.log10(Math.max(1, low)) - 0.15, Math.log10(high * 2.2) + 0.15];
    return { title: { text: "Steps" }, type: "log", exponentformat: "power", range, nticks: 8 };
  }

  // What each view puts across and up; steps against one metaparameter, or two against each other.
  function viewsOf(workload) {
    const at = (name) => workload.dimensions.findIndex((dimension) => dimension.name === name);
    const found = [];
    if (at("learning rate") >= 0 && at("momentum") >= 0) {
      found.push({ text: "learning rate × momentum", across: at("learning rate"), up: at("momentum") });
    }
    workload.dimensions.forEach((dimension, across) => {
      found.push({ text: "steps against " + dimension.name, across, up: null });
    });
    return found;
  }

  function height(study, index) {
    return study.st[index] === "x" ? 2.2 * study.max : Math.max(1, study.k[index]);
  }

  function hover(workload, study, index, name) {
    const values = workload.dimensions.map((dimension, d) => dimension.name + " " + study.m[d][index]);
    const steps = { c: "K = ", b: "K > ", i: "not by step ", x: "diverged by step " };
    const known = (steps[study.st[index]] || "step ") + study.k[index].toLocaleString("en");
    return ["<b>trial " + study.t[index] + ": " + name + "</b>", known, ...values].join("<br>");
  }

  function tracesOf(workload, study, view) {
    const place = (indices) => ({
      x: indices.map((i) => shown(workload.dimensions[view.across], study.m[view.across][i])),
      y: indices.map((i) => view.up === null
        ? height(study, i)
        : shown(workload.dimensions[view.up], study.m[view.up][i])),
    });
    const every = study.t.map((_, index) => index);
    const traces = search.marks.map((mark) => {
      const own = every.filter((index) => study.st[index] === mark.letter);
      return {
        ...place(own),
        mode: "markers",
        name: mark.name + " (" + own.length + ")",
        marker: { color: mark.color, symbol: mark.symbol, size: 9, line: { width: 1.5, color: mark.color } },
        text: own.map((index) => hover(workload, study, index, mark.name)),
        hoverinfo: "text",
        visible: own.length ? true : "legendonly",
        showlegend: own.length > 0,
      };
    });
    const best = every.filter((index) => study.t[index] === study.best);
    traces.push({
      ...place(best),
      mode: "markers",
      name: "best",
      marker: { color: search.gold, symbol: "star", size: 17, line: { width: 1, color: "black" } },
      text: best.map((index) => hover(workload, study, index, "best")),
      hoverinfo: "text",
      showlegend: best.length > 0,
    });
    return traces;
  }

  function drawSearch() {
    const workload = search.workloads[workloads.value];
    const study = workload.studies.find(
      (item) => item.s + "/" + item.seed === sparsities.value && String(item.b) === batches.value,
    );
    const summary = document.getElementById("search-summary");
    if (!study) {
      Plotly.purge(chart);
      summary.textContent = "This batch size was not studied at this sparsity.";
      return;
    }
    const view = viewsOf(workload)[views.value];
    const data = tracesOf(workload, study, view);
    const up = view.up === null
      ? stepsAxis(workload)
      : metaparameterAxis(workload.dimensions[view.up]);
    const layout = layoutOf({ xaxis: metaparameterAxis(workload.dimensions[view.across]), yaxis: up }, data);
    Plotly.react(chart, data, layout, config);
    const waiting = [...study.st].filter((letter) => "pf".includes(letter)).length;
    const open = waiting ? waiting + " of its trials have no result yet. " : "";
    summary.textContent = open + (study.best === null
      ? "No trial of this study is complete."
      : "Trial " + study.best + " won with K* = " + study.k[study.t.indexOf(study.best)].toLocaleString("en") + " steps.");
  }

  let started = false; // the first view is of a study with a winner; then the reader's choice stays
  function chooseWorkload() {
    const { studies } = search.workloads[workloads.value];
    const seeds = new Set(studies.map((study) => study.seed)).size > 1;
    fill(sparsities, distinct(studies, (s) => s.s + "/" + s.seed, (s) => s.name + (seeds ? ", seed " + s.seed : "")));
    const sizes = distinct(studies, (study) => study.b, (study) => study.b.toLocaleString("en"));
    fill(batches, sizes.sort((a, b) => a[0] - b[0]));
    const won = studies.filter((study) => study.best !== null);
    if (!started && won.length) {
      const shownFirst = won[Math.floor(won.length / 2)];
      sparsities.value = shownFirst.s + "/" + shownFirst.seed;
      batches.value = String(shownFirst.b);
    }
    started = true;
    fill(views, viewsOf(search.workloads[workloads.value]).map((view, index) => [index, view.text]));
    drawSearch();
  }

  fill(workloads, search.workloads.map((workload, index) => [index, workload.title]));
  workloads.addEventListener("change", chooseWorkload);
  [sparsities, batches, views].forEach((select) => select.addEventListener("change", drawSearch));
  chooseWorkload();
})();
