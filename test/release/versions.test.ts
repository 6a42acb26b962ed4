import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { dateSection, isDated, releaseNotes } from '../../scripts/lib/release/changelog.ts';
import { renderInstallPage } from '../../scripts/lib/release/install-page.ts';
import { setVersion, versionOf, versionsIn } from '../../scripts/lib/release/versions.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('The version of a release', () => {
  it('is the same in every file that has it', () => {
    const found = versionsIn(ROOT);
    const files = found.map(({ file }) => file);
    expect(files).to.include.members([
      'package.json',
      'clients/python/src/tidegate/_version.py',
      'clients/go/version.go',
    ]);
    for (const { file, text, version } of found) expect(version, `${file}: ${text}`).to.equal(versionOf(ROOT));
  });

  it('is written to every file at once, which changes nothing else', () => {
    const copy = mkdtempSync(join(tmpdir(), 'tidegate-versions-'));
    try {
      const files = new Set(versionsIn(ROOT).map(({ file }) => file));
      for (const file of files) cpSync(join(ROOT, file), join(copy, file), { recursive: true });
      setVersion(copy, '98.7.6');
      expect(new Set(versionsIn(copy).map(({ version }) => version))).to.deep.equal(new Set(['98.7.6']));
      setVersion(copy, versionOf(ROOT));
      for (const file of files) {
        expect(readFileSync(join(copy, file), 'utf8'), dirname(file)).to.equal(readFileSync(join(ROOT, file), 'utf8'));
      }
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });

  it('is rejected when it is invalid', () => {
    for (const version of ['1', 'v1.2.3', '1.2', '1.2.3.4', '1.2.3 ']) {
      expect(() => setVersion(ROOT, version), version).to.throw('--version: got');
    }
  });
});

describe('The section of a release in CHANGELOG.md', () => {
  const changelog = '# Changelog\n\n## 0.2.0 — unreleased\n\n- New.\n\n## 0.1.0 — 2026-01-02\n\n- Old.\n';

  it('is its release notes', () => {
    expect(releaseNotes(changelog, '0.1.0')).to.equal('# Tidegate 0.1.0 — 2026-01-02\n\n- Old.\n');
    expect(() => releaseNotes(changelog, '0.3.0')).to.throw('CHANGELOG.md has no section "## 0.3.0"');
  });

  it('gets a version and a date when the version is set, and keeps them', () => {
    for (const head of ['## 0.2.0 — unreleased', '## 0.1.9 — unreleased', '## Unreleased']) {
      const dated = dateSection(changelog.replace('## 0.2.0 — unreleased', head), '0.2.0', '2026-03-04');
      expect(dated).to.equal(changelog.replace('unreleased', '2026-03-04'));
      expect(dateSection(dated, '0.2.0', '2026-05-06')).to.equal(dated);
      expect(isDated(dated, '0.2.0')).to.equal(true);
    }
    expect(isDated(changelog, '0.2.0')).to.equal(false);
  });

  it('exists for the current version', () => {
    expect(releaseNotes(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), versionOf(ROOT))).to.match(/^# Tidegate \d/);
  });
});

describe('docs/install.md', () => {
  it('names files of a release until the version is released, and then the registries', () => {
    const [before, after] = [renderInstallPage('1.2.3', false), renderInstallPage('1.2.3', true)];
    const registries = ['npm install tidegate@1.2.3', 'pip install tidegate==1.2.3', 'go get github.com/'];
    for (const command of registries) {
      expect(before).not.to.include(command);
      expect(after).to.include(command);
    }
    expect(before).to.include('./tidegate-1.2.3.tgz').and.include('./tidegate-1.2.3-py3-none-any.whl');
    expect(after).not.to.include('.tgz');
  });
});
