// The table: a summary of all samples, and how it is shown.

import { lead, median, quantile } from './stats.mjs';

/** Which of ours stands beside which peers. */
const OURS = { library: ['tabvisor crate', 'tabvisor HTTP'], mcp: ['tabvisor MCP'] };

/** A cell: `{value}`, `{never, said}` where no answer came in that many ms, or `{why}` it is absent. */
function cell(line, samples, why) {
  const never = samples?.find(it => it.never);
  if (never) return { never: never.never, said: never.said };
  if (why) return { why };
  if (!samples?.length) return { why: 'not measured' };
  return { value: line.of === 'p95' ? quantile(samples, 0.95) : median(samples) };
}

/** One row for each line, with a cell for each tool and, for ours, the lead on each peer of its kind. */
export function summarized(lines, tools, found, why) {
  return lines.map(line => {
    const cells = Object.fromEntries(tools.map(({ name }) => [name, cell(line, found[name]?.[line.key], why(name, line.key))]));
    const leads = {};
    for (const { name, group } of tools) {
      if (!OURS[group].includes(name)) continue;
      for (const peer of tools) {
        if (peer.group !== group || OURS[group].includes(peer.name)) continue;
        const ratio = lead(cells[name].value, cells[peer.name].value, line.higher);
        if (ratio !== undefined) (leads[name] ??= {})[peer.name] = ratio;
      }
    }
    return { label: line.label, unit: line.unit, cells, leads };
  });
}

/** Three digits that count. */
export function short(value) {
  if (value === undefined) return '-';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const shown = ({ value, never }) => {
  if (never) return `never (${never / 1000} s)`;
  return short(value);
};

const columns = table => Object.keys(table[0]?.cells ?? {});

/** Rows of texts with columns as wide as they need. */
function aligned(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map(row => row[at].length)));
  return rows.map(row => row.map((it, at) => (at ? it.padStart(widths[at]) : it.padEnd(widths[0]))).join('  ')).join('\n');
}

function medians(table) {
  const head = ['', ...columns(table)];
  return [head, ...table.map(row => [`${row.label}, ${row.unit}`, ...columns(table).map(name => shown(row.cells[name]))])];
}

function ratios(table) {
  const pairs = [];
  for (const row of table) {
    for (const [ours, leads] of Object.entries(row.leads)) {
      for (const peer of Object.keys(leads)) {
        if (!pairs.some(it => it.ours === ours && it.peer === peer)) pairs.push({ ours, peer });
      }
    }
  }
  const head = ['', ...pairs.map(({ ours, peer }) => `${ours.replace('tabvisor ', '')} : ${peer}`)];
  const of = (row, { ours, peer }) => {
    const ratio = row.leads[ours]?.[peer];
    if (ratio === undefined) return row.cells[ours].value !== undefined && row.cells[peer].never ? 'only ours' : '-';
    return `${short(ratio)}${ratio < 1 ? ' !' : ''}`;
  };
  return [head, ...table.map(row => [row.label, ...pairs.map(pair => of(row, pair))])];
}

/** Why cells are empty, a line for each. */
function reasons(table) {
  const said = [];
  for (const row of table) {
    for (const [name, { why, never, said: last }] of Object.entries(row.cells)) {
      if (why) said.push(`${name}, ${row.label}: ${why}`);
      if (never) said.push(`${name}, ${row.label}: nothing in ${never / 1000} s; the last word was: ${last}`);
    }
  }
  return said;
}

/** For a terminal. */
export function printable(table) {
  const why = reasons(table);
  return [
    aligned(medians(table)), '', 'How many times better ours is (behind: !)', aligned(ratios(table)),
    ...(why.length ? ['', ...why] : []),
  ].join('\n');
}

const lined = rows => [rows[0], rows[0].map((_, at) => (at ? '---:' : '---')), ...rows.slice(1)]
  .map(row => `| ${row.map(it => it.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');

/** A page for the repository: what was measured on what. */
export function markdown(table, about) {
  const { cores, cpu, chromium, node, tabvisor, quick, rounds, seconds, ...packages } = about;
  const peers = Object.entries(packages).map(([name, version]) => `${name} ${version}`).join(', ');
  const why = reasons(table).map(it => `- ${it}`).join('\n');
  return `# tabvisor beside its peers

Made by \`make peers\`${quick ? ' (quick: few repeats)' : ''}: one run of ${seconds} s, ${rounds} rounds, all tools in turn on ${chromium}, on ${cores} cores
(${cpu}), Node ${node}, ${tabvisor}; ${peers}. The crate and the libraries are measured inside a process that
uses them, the others by their client.

${lined(medians(table))}

How many times better ours is than each peer of its kind; \`!\` where it is behind:

${lined(ratios(table))}
${why ? `\nWhat has no number:\n\n${why}\n` : ''}`;
}
