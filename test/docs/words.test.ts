import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
const GLOSSARY = 'docs/glossary.md';
const TEXT = /\.(tsx?|lua|md|css|html|py|go|sh|json)$|^scripts\/[a-z]+$/;
/** Attack code of others' making, recorded results, what other programs write, and the history of changes. */
const SKIPPED =
  /^(docs\/glossary\.md|CHANGELOG\.md|package-lock\.json|test\/docs\/words\.test\.ts)$|\/attacks\/|\/results\/|\/corpus\/|go\.sum$/;

interface Entry {
  words: string[];
  exceptions: string[];
  pattern: RegExp;
}

const split = (cell: string) =>
  cell
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);

function entries(): Entry[] {
  const section = readFileSync(resolve(ROOT, GLOSSARY), 'utf8').split('## Say this, not that')[1] ?? '';
  const rows = [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \|([^|]*)\|$/gm)].slice(1);
  return rows.map(([, , words = '', exceptions = '']) =>
    entryOf(
      split(words),
      split(exceptions).map((text) => text.replaceAll('`', '')),
    ),
  );
}

function entryOf(words: string[], exceptions: string[]): Entry {
  const pattern = new RegExp(`\\b(${words.map((word) => escaped(word.toLowerCase())).join('|')})s?\\b`);
  return { words, exceptions, pattern };
}

/** `runSlots`, `run_slots` and `run-slots` are read as `run slots`. */
const readable = (line: string) =>
  line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_]/g, ' ')
    .toLowerCase();

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** @param readableText of the whole text: few texts have any of the words, and only those are read by lines */
function uses(text: string, readableText: string, { exceptions, pattern }: Entry): string[] {
  if (!pattern.test(readableText)) return [];
  return text.split('\n').flatMap((line, index) => {
    const rest = exceptions.reduce((left, exception) => left.replaceAll(readable(exception), ''), readable(line));
    const found = pattern.exec(rest)?.[1];
    return found === undefined ? [] : [`${index + 1}: "${found}" in ${line.trim().slice(0, 100)}`];
  });
}

describe('The glossary', () => {
  it('finds a word in identifiers of every spelling, but not inside other words', () => {
    const entry = entryOf(['slot'], ['time slot']);
    const found = (line: string) => uses(line, readable(line), entry).length;
    expect(['runSlots', 'run_slot', 'run-slots.ts', 'A slot holds'].map(found)).to.deep.equal([1, 1, 1, 1]);
    expect(['slotted', 'a time slot', 'ballot'].map(found)).to.deep.equal([0, 0, 0]);
  });

  it('lists words that no file of the repository uses', () => {
    const all = entries();
    expect(all).to.have.length.greaterThan(30);
    const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 })
      .split('\n')
      .filter((file) => TEXT.test(file) && !SKIPPED.test(file));
    expect(files).to.have.length.greaterThan(500);
    const found = files.flatMap((file) => {
      const text = readFileSync(resolve(ROOT, file), 'utf8');
      const readableText = readable(text);
      return all.flatMap((entry) => uses(text, readableText, entry).map((use) => `${file}:${use}`));
    });
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});
