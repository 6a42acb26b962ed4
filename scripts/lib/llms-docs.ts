/** docs/llms.txt, the index of the docs for programs (https://llmstxt.org): the pages in the sections of README.md, each with its title and its
 *  first sentence. A service serves it, and the pages (src/api/operations/doc-pages.ts). */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const SECTION = /^- \*\*(\w+)\*\*: (.+)$/gm;
const PAGE = /\]\(docs\/([a-z-]+\.md)\)/g;
const TITLE = /^# (.+)$/m;
/** The first paragraph that is neither a heading, a comment, a table nor a list. */
const PARAGRAPH = /\n\n(?!#|<|\||```|>|!|- | {4})([\s\S]+?)(?:\n\n|$)/;
const SENTENCE = /^.+?[.:](?= |$)/;

export function llmsPage(): string {
  const readme = read('README.md');
  const sections = [...readme.slice(readme.indexOf('## Documentation')).matchAll(SECTION)].map(
    ([, name, list = '']) => {
      const pages = Array.from(list.matchAll(PAGE), ([, page]) => lineOf(page as string));
      return `## ${name}\n\n${pages.join('\n')}`;
    },
  );
  return `# Tidegate

> ${firstSentence(readme)}

${sections.join('\n\n')}

## API

- [OpenAPI](/openapi.json): Every route with its fields and errors, for callers with an API key.
`;
}

function lineOf(page: string): string {
  const text = read(`docs/${page}`);
  return `- [${TITLE.exec(text)?.[1]}](/docs/${page}): ${firstSentence(text)}`;
}

/** Without links, on one line. */
function firstSentence(text: string): string {
  const paragraph = (PARAGRAPH.exec(text)?.[1] ?? '').replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  return (SENTENCE.exec(paragraph)?.[0] ?? paragraph).replace(/:$/, '.');
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
