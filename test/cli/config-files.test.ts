import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readDocument } from '../../cli/src/config/files.ts';

describe('files that a configuration names', () => {
  let parent: string;
  let folder: string;
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'tidegate-config-files-'));
    folder = join(parent, 'config');
    mkdirSync(join(folder, 'transforms'), { recursive: true });
    writeFileSync(join(parent, 'private.js'), 'private');
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  const read = async (name: string, path = folder) => {
    writeFileSync(join(folder, 'tidegate.yaml'), `webhooks: [{ name: GitHub, transform: { file: ${name} } }]`);
    const { webhooks } = await readDocument(path);
    return webhooks?.[0]?.transform;
  };
  const problem = (name: string, path = folder) =>
    read(name, path).then(
      (text) => `read: ${text}`,
      (error: Error) => error.message,
    );

  it('are read inside its folder, even through a link', async () => {
    writeFileSync(join(folder, 'transforms/github.js'), 'code');
    symlinkSync('github.js', join(folder, 'transforms/link.js'));
    symlinkSync(folder, join(parent, 'linked'));
    for (const name of ['transforms/github.js', './transforms/link.js', join(folder, 'transforms/github.js')]) {
      expect(await read(name)).to.equal('code');
      expect(await read(name, join(folder, 'tidegate.yaml'))).to.equal('code');
    }
    expect(await read('transforms/github.js', join(parent, 'linked'))).to.equal('code');
  });

  it('are not read outside its folder, whatever the path', async () => {
    symlinkSync('../private.js', join(folder, 'file-link.js'));
    symlinkSync('..', join(folder, 'folder-link'));
    const outside = ['/proc/self/environ', '../private.js', join(parent, 'private.js'), 'file-link.js'];
    for (const name of [...outside, 'folder-link/private.js', '..', 'transforms/../../private.js']) {
      for (const path of [folder, join(folder, 'tidegate.yaml')]) {
        expect(await problem(name, path), name)
          .to.include('transform of GitHub')
          .and.include(`${name} is outside the folder of the configuration`);
      }
    }
  });

  it('cannot be hidden, such as .env and .git, whatever the path', async () => {
    for (const path of ['.env', '.git/config', 'transforms/.npmrc']) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), 'SECRET');
    }
    symlinkSync('.env', join(folder, 'code.js'));
    symlinkSync('.git', join(folder, 'git'));
    const hidden = ['.env', './.git/config', 'transforms/.npmrc', join(folder, '.env'), 'code.js', 'git/config'];
    for (const name of hidden) expect(await problem(name), name).to.include(`${name} is hidden`);
    mkdirSync(join(folder, '.config'));
    writeFileSync(join(folder, '.config/x.js'), 'code');
    expect(await problem('.config/x.js')).to.include('is hidden');
  });

  it('must be regular files of at most 1 MiB', async () => {
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    writeFileSync(join(folder, 'long.js'), 'x'.repeat(1_048_577));
    writeFileSync(join(folder, 'longest.js'), 'x'.repeat(1_048_576));
    expect(await problem('fifo')).to.include('fifo is not a regular file');
    expect(await problem('transforms')).to.include('transforms is not a regular file');
    expect(await problem('long.js')).to.include('has more than 1048576 bytes');
    expect(await problem('missing.js')).to.include('cannot read missing.js: ENOENT');
    expect(await read('longest.js')).to.have.length(1_048_576);
  });
});
