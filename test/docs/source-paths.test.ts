import { globSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = globSync(['docs/**/*.md', '*.md'], { cwd: ROOT, exclude: ['CHANGELOG.md'] }).sort();
const SOURCES = globSync('{src,test,clients,dashboard,scripts,bench,chaos,fuzz,examples}/**/*.{ts,tsx,mjs,lua}', {
  cwd: ROOT,
  exclude: ['**/node_modules', '**/dist'],
});
const NAMES = new Set(SOURCES.map((path) => basename(path)));

describe('Source files that docs/ and the pages in the root mention', () => {
  it('exist', () => {
    const wrong = PAGES.flatMap((page) =>
      mentionsIn(readFileSync(join(ROOT, page), 'utf8'))
        .filter((path) => !exists(path))
        .map((path) => `${page}: ${path}`),
    );
    expect(wrong).to.deep.equal([]);
  });
});

/** Paths in code spans; code blocks show files of apps. */
function mentionsIn(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|tsx|mjs|lua))`/g)].map(([, path]) => path as string);
}

/** From the root, from src/ or src/store/, or by name alone. */
function exists(path: string): boolean {
  if (!path.includes('/')) return NAMES.has(path) || isFile(path);
  return ['', 'src', 'src/store'].some((folder) => isFile(join(folder, path)));
}

function isFile(path: string): boolean {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() ?? false;
}
