import { BUDGET_MS, costOf } from './cost.ts';
import { PARSERS } from './table.ts';

describe('A parser stays within its CPU budget for worst-case input', () => {
  for (const { name, bytes, larger, attacks, prepare, parse } of PARSERS) {
    const budgetMs = larger?.budgetMs ?? BUDGET_MS;
    it(`${name}, of ${bytes.toLocaleString('en-US')} bytes: ${budgetMs} ms`, async () => {
      const over: string[] = [];
      for (const [title, text] of attacks) {
        const given = prepare ? prepare(text) : text;
        const cost = await costOf(() => parse(given), budgetMs);
        if (cost > budgetMs) over.push(`${title}: ${cost.toFixed(0)} ms`);
      }
      if (over.length > 0) throw new Error(`It costs more than ${budgetMs} ms to parse\n  ${over.join('\n  ')}`);
    });
  }
});
