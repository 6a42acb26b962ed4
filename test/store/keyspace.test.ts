import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PAGE } from '../../scripts/lib/redis-docs.ts';
import type { KeyDeclaration } from '../../src/store/keys/key-declaration.ts';
import { ENVIRONMENT_KEY_WORDS, KEY_DECLARATIONS_BY_ROOM, keyspace } from '../../src/store/redis/keyspace/keyspace.ts';

const all = keyspace({ prefix: 'p' });
const { of: _of, partition, all: _all, homesOf: _homesOf, homeOf: _homeOf, prefix: _prefix, ...ofInstallation } = all;
const { prefix: _tag, number: _number, ...ofPartition } = partition(0);
const keys: Record<string, unknown> = { ...ofInstallation, ...ofPartition };
const declarations = Object.values(KEY_DECLARATIONS_BY_ROOM).flatMap((room): [string, KeyDeclaration][] =>
  Object.entries(room),
);
const fileOf = (owner: string) => new URL(`../../src/store/${owner}`, import.meta.url);

describe('Redis keys', () => {
  it('match their declarations', () => {
    expect(declarations.map(([name]) => name).sort()).to.deep.equal(Object.keys(keys).sort());
    for (const [name, { pattern }] of declarations) {
      const placeholders = pattern.match(/<[^>]+>/g) ?? [];
      const key = keys[name];
      expect(typeof key === 'function' ? key(...placeholders) : key, name).to.equal(`p:${pattern}`);
    }
  });

  it('have an owner, a file that names them', () => {
    for (const [name, { owner }] of declarations) {
      expect(existsSync(fileOf(owner)), `${name}: ${owner}`).to.equal(true);
      expect(readFileSync(fileOf(owner), 'utf8'), `${name}: ${owner}`).to.match(new RegExp(`\\b${name}\\b`));
    }
  });

  it('of an environment start with a word that no other key has, so that only they are deleted with the environment', () => {
    for (const [name, { pattern, type }] of declarations) {
      const [word = '', second] = pattern.split(':');
      const isOfEnvironment = second === '<env>' && type !== 'channel';
      if (second !== undefined) expect(ENVIRONMENT_KEY_WORDS.includes(word), name).to.equal(isOfEnvironment);
      if (pattern.includes('<env>')) expect(second, name).to.equal('<env>');
    }
  });

  it('mentioned in the text of docs/redis.md exist', () => {
    const patterns = new Set(declarations.map(([, { pattern }]) => pattern));
    const text = readFileSync(PAGE, 'utf8').replace(/<!-- keys[\s\S]*?<!-- end -->/g, '');
    const mentioned = [...text.matchAll(/`([a-z-]+(?::<[^`]+|))`/g)].map(([, key]) => key as string);
    const named = mentioned.filter((key) => key.includes(':') || key.includes('-runs'));
    expect(named.filter((key) => !patterns.has(key))).to.deep.equal([]);
    expect(named.length).to.be.above(15);
  });
});
