import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
const THIS = relative(ROOT, import.meta.filename);
const FOLDERS = 'src,test,clients,dashboard,scripts,bench,chaos,fuzz,examples,docs,.github';
const TEXT = 'ts,tsx,js,mjs,css,html,json,lua,md,py,go,yml,yaml,toml,sh';
const NOT_OURS = [
  '**/node_modules',
  '**/dist',
  '**/build',
  '**/.venv',
  '**/__pycache__',
  '**/corpus',
  'docs/pictures',
  'package-lock.json',
];
/** Pages that are not in the repository. */
const LEADS_NOWHERE = [
  /\bspec \d/,
  /\(protocol[:)]/,
  /\bdocs: design\b/,
  /\bdesign\.md\b/,
  /(?:\.\.\/|\/)shared\/\w+\.md/,
];

const files = globSync([`{${FOLDERS}}/**/*.{${TEXT}}`, 'scripts/*', '*.md', '*.json'], { cwd: ROOT, exclude: NOT_OURS })
  .filter((file) => file !== THIS && statSync(join(ROOT, file)).isFile())
  .sort();
const texts = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

describe('citations', () => {
  it('name no document outside the repository', () => {
    const wrong = [...texts].flatMap(([file, text]) =>
      LEADS_NOWHERE.flatMap((pattern) => {
        const found = pattern.exec(text);
        return found ? [`${file}: ${found[0]}`] : [];
      }),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('in Markdown link to files and headings that exist', () => {
    const wrong = [...texts].flatMap(([file, text]) =>
      file.endsWith('.md')
        ? linksIn(text)
            .filter((link) => !leadsSomewhere(file, link))
            .map((link) => `${file}: ${link}`)
        : [],
    );
    expect(wrong).to.deep.equal([]);
  });

  it('in every file mention pages of docs/ and headings that exist', () => {
    const wrong = [...texts].flatMap(([file, text]) =>
      [...text.matchAll(/(?<![\w./-])(docs\/[\w./-]+\.md(?:#[\w-]+)?)/g)]
        .map(([, mention]) => mention as string)
        .filter((mention) => !leadsSomewhere('README.md', mention))
        .map((mention) => `${file}: ${mention}`),
    );
    expect(wrong).to.deep.equal([]);
  });
});

/** Targets of links and pictures, without those to other sites. */
function linksIn(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target as string)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** @param from file that links, from the root */
function leadsSomewhere(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : relative(ROOT, resolve(ROOT, dirname(from), decodeURIComponent(path)));
  if (!statSync(join(ROOT, target), { throwIfNoEntry: false })) return false;
  return anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor);
}

/** As GitHub makes them of headings. */
function anchorsOf(file: string): Set<string> {
  const text = texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8');
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n++) unique = `${anchor}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}
