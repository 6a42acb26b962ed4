import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { forkOptions } from '../../src/transforms/scheduler/fork-options.ts';
import { REQUEST, returning, transformChildren, withTransforms } from './support.ts';

/** Result of an expression in a process with the fork options of the child. */
function inChild(expression: string): unknown {
  const script = `const fs = require('node:fs'); let result;
    try { result = ${expression} } catch (error) { result = error.code ?? error.message }
    console.log(JSON.stringify(result ?? null))`;
  const { execArgv = [], env } = forkOptions();
  const { stdout, stderr } = spawnSync(process.execPath, [...execArgv, '-e', script], {
    env: env ?? {},
    encoding: 'utf8',
  });
  expect(stderr).to.equal('');
  return JSON.parse(stdout);
}

describe('A transform process', () => {
  const file = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));

  for (const [what, expression] of [
    ['the environment of its parent', 'fs.readFileSync("/proc/" + process.ppid + "/environ").length'],
    ['its own environment', 'fs.readFileSync("/proc/self/environ").length'],
    ['the files of the system', 'fs.readFileSync("/etc/passwd").length'],
    ['the files of the service', `fs.readFileSync(${file('../../src/settings/settings.ts')}).length`],
    ['a list of files', 'fs.readdirSync("/").length'],
    ['a file to write', 'fs.writeFileSync("/tmp/from-a-transform", "")'],
    ['a process to start', 'require("node:child_process").execSync("id").toString()'],
  ]) {
    it(`has no access to ${what}`, () => {
      expect(inChild(expression as string)).to.equal('ERR_ACCESS_DENIED');
    });
  }

  it('has an empty environment', () => {
    expect(inChild('Object.keys(process.env)')).to.deep.equal([]);
  });

  it('drops root privileges, so that code that escapes from V8 cannot read the environment of its parent', async function () {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) this.skip();
    await withTransforms({}, async (transforms) => {
      await transforms.run(returning('return null'), REQUEST);
      const status = readFileSync(`/proc/${transformChildren()[0]}/status`, 'utf8');
      expect(/^Uid:\s+(.*)$/m.exec(status)?.[1]?.split('\t')).to.deep.equal(Array(4).fill('65534'));
      expect(/^Groups:[ \t]*(.*)$/m.exec(status)?.[1]?.trim()).to.equal('');
    });
  });
});
