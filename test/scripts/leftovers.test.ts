import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
/** What it leaves goes when mocha ends: `cat` with its input, the others by a hook outside all suites. */
const UNTIDY = `
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { connectRedis, freshPrefix } from '${ROOT}/test/support/redis.ts';

const server = createServer();
const redis = connectRedis();
const key = freshPrefix();
after(async () => {
  server.close();
  await redis.del(key);
  await redis.quit();
});

describe('processes', () => {
  it('are left', () => {
    const cat = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
    cat.stdin.unref();
    cat.unref();
  });
});
describe('servers', () => {
  it('are left', (done) => void server.listen(0, done));
});
describe('keys', () => {
  it('are left', async () => void (await redis.set(key, '1')));
});
describe('nothing', () => {
  it('is left', () => {});
});
`;

describe('mocha, as it is set up here', () => {
  it('fails each suite that leaves a process, a server or a key behind, and ends with the totals', () => {
    const dir = mkdtempSync(join(tmpdir(), 'tidegate-untidy-'));
    const file = join(dir, 'untidy.test.ts');
    writeFileSync(file, UNTIDY);
    const args = [join(ROOT, 'node_modules/mocha/bin/mocha.js'), file];
    const { stdout, status } = spawnSync(process.execPath, args, {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, TEST_PATIENCE_MS: '2000' },
    });
    rmSync(dir, { recursive: true });

    const [processes, servers, keys, ...more] = stdout.match(/what these tests made is gone: .*/g) ?? [];
    expect(processes).to.match(/: process \d+ \(cat\)/);
    expect(servers)
      .to.match(/: a listening server/)
      .and.not.include('cat');
    expect(keys).to.match(/: key test-\w+$/);
    expect(more).to.deep.equal([]);
    expect(stdout.trimEnd().split('\n').at(-1)).to.equal('4 passed, 3 failed');
    expect(status).to.equal(3);
  });
});
