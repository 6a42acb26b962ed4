import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PAGE, withTables } from '../../scripts/redis-page.ts';
import type { KeyDeclaration } from '../../src/store/redis/key-declaration.ts';
import { ENVIRONMENT_KEY_WORDS, KEY_DECLARATIONS_BY_ROOM, keyspace } from '../../src/store/redis/keyspace.ts';

const keys = keyspace('p') as Record<string, unknown>;
const declarations = Object.values(KEY_DECLARATIONS_BY_ROOM).flatMap((room): [string, KeyDeclaration][] =>
  Object.entries(room),
);
const fileOf = (owner: string) => new URL(`../../src/store/${owner}`, import.meta.url);

describe('the keys in Redis', () => {
  it('are each declared as the keyspace makes them', () => {
    expect(declarations.map(([name]) => name).sort()).to.deep.equal(Object.keys(keys).sort());
    for (const [name, { pattern }] of declarations) {
      const placeholders = pattern.match(/<[^>]+>/g) ?? [];
      const key = keys[name];
      expect(typeof key === 'function' ? key(...placeholders) : key, name).to.equal(`p:${pattern}`);
    }
  });

  it('are each owned by a file that names them', () => {
    for (const [name, { owner }] of declarations) {
      expect(existsSync(fileOf(owner)), `${name}: ${owner}`).to.equal(true);
      expect(readFileSync(fileOf(owner), 'utf8'), `${name}: ${owner}`).to.match(new RegExp(`\\b${name}\\b`));
    }
  });

  it('of one environment begin with a word that no other key has, so that they are deleted with it alone', () => {
    for (const [name, { pattern, type }] of declarations) {
      const [word = '', second] = pattern.split(':');
      const isOfEnvironment = second === '<env>' && type !== 'channel';
      if (second !== undefined) expect(ENVIRONMENT_KEY_WORDS.includes(word), name).to.equal(isOfEnvironment);
      if (pattern.includes('<env>')) expect(second, name).to.equal('<env>');
    }
  });

  it('are all in docs/redis.md, which is not stale (write it with: node scripts/redis-page.ts)', () => {
    const page = readFileSync(PAGE, 'utf8');
    expect(withTables(page)).to.equal(page);
    for (const [, { pattern }] of declarations) expect(page).to.include(`| \`${pattern}\` |`);
  });

  it('that the text of docs/redis.md mentions exist', () => {
    const patterns = new Set(declarations.map(([, { pattern }]) => pattern));
    const text = readFileSync(PAGE, 'utf8').replace(/<!-- keys[\s\S]*?<!-- end -->/g, '');
    const mentioned = [...text.matchAll(/`([a-z-]+(?::<[^`]+|))`/g)].map(([, key]) => key as string);
    const named = mentioned.filter((key) => key.includes(':') || key.includes('-runs'));
    expect(named.filter((key) => !patterns.has(key))).to.deep.equal([]);
    expect(named.length).to.be.above(15);
  });
});
