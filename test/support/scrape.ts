/** A minimal Prometheus client: scrapes the metrics of a process. */
import { expect } from 'chai';
import { request } from './http.ts';

export interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Scrape {
  text: string;
  series: Series[];
  types: Map<string, string>;
  /** The value of the single series with that name and at least these labels. */
  value(name: string, labels?: Record<string, string>): number | undefined;
  /** Sum over all series with these labels; 0: none. */
  sum(name: string, labels?: Record<string, string>): number;
}

export async function scrape(url: string, headers: Record<string, string> = {}): Promise<Scrape> {
  const response = await request('GET', `${url}/metrics`, { headers });
  expect(response.status, response.body).to.equal(200);
  expect(response.headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8');
  return parse(response.body as string);
}

const SERIES = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const NUMBER = /^(?:[+-]?(?:Inf|[\d.]+(?:e[+-]?\d+)?)|nan)$/i;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/y;

/** @throws for an invalid line */
export function parse(text: string): Scrape {
  const series: Series[] = [];
  const types = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    const [, typed, type] = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (typed) types.set(typed, type as string);
    else series.push(seriesOf(line));
  }
  const matching = (name: string, labels: Record<string, string>) =>
    series.filter(
      (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
    );
  return {
    text,
    series,
    types,
    value(name, labels = {}) {
      const found = matching(name, labels);
      expect(found.length, `series of ${name} ${JSON.stringify(labels)}`).to.be.at.most(1);
      return found[0]?.value;
    },
    sum: (name, labels = {}) => matching(name, labels).reduce((sum, { value }) => sum + value, 0),
  };
}

function seriesOf(line: string): Series {
  const [, name, list = '', number] = SERIES.exec(line) ?? [];
  if (!name || !number || !NUMBER.test(number)) throw new Error(`not a line of Prometheus's text format: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  let at = 0;
  for (let found = LABEL.exec(list); found; found = LABEL.exec(list)) {
    labels[found[1] as string] = found[2] as string;
    at = LABEL.lastIndex;
  }
  if (at !== list.length) throw new Error(`not a list of labels: ${list}`);
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) };
}
