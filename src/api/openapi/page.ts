/** The OpenAPI document as an HTML page without scripts. */
import { escapeHtml, inlineStyle } from '../http/html-page.ts';
import type { openApi } from './document.ts';
import { curlOf, type Described, type Schemas } from './example.ts';

type Document = ReturnType<typeof openApi>;
interface Operation extends Described {
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: unknown }[];
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>;
}

export const DOCS_STYLE = inlineStyle(`
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 50rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
section { margin: 1.5rem 0 2.5rem; }
h3 { font-size: 1rem; margin-bottom: .25rem; }
h3 code { font-size: .95rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); }
pre { overflow: auto; padding: .8rem; border: 1px solid var(--line); border-radius: .4rem; font-size: .85rem; }
summary { cursor: pointer; }
nav { columns: 3 10rem; }
nav a { display: block; }
:target h3 { text-decoration: underline; }
`);

export function docsPage(document: Document): string {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({ path, method, operation })),
  );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags?.[0] ?? '');
  const components: Schemas = document.components?.schemas ?? {};
  const groups = (document.tags ?? []).filter(({ name }) => byTag.has(name));
  const sections = groups.map(({ name, description = '' }) => {
    const all = (byTag.get(name) ?? []).map((entry) => section(entry.path, entry.method, entry.operation, components));
    return `<h2 id="${slug(name)}">${escapeHtml(name)}</h2><p>${prose(description)}</p>${all.join('')}`;
  });
  const links = groups.map(({ name }) => `<a href="#${slug(name)}">${escapeHtml(name)}</a>`);
  const schemas = Object.entries(components).map(
    ([name, schema]) => `<section id="${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>${block(schema)}</section>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(document.info.title)} API</title>${DOCS_STYLE.tag}</head><body><main>
<h1>${escapeHtml(document.info.title)} API</h1><p>${prose(document.info.description ?? '')}
The OpenAPI document: <a href="/openapi.json">openapi.json</a>. The job queues: <a href="/queues">Bull Board</a>.</p>
<p>The examples use two shell variables: <code>URL</code>, the URL of this service, and <code>API_KEY</code>, which may have any value in dev mode.</p>
<nav>${links.join('')}</nav>${sections.join('')}<h2>Schemas</h2>${schemas.join('')}</main></body></html>`;
}

function section(path: string, method: string, operation: Operation, schemas: Schemas): string {
  const { summary = '', description = '', ...rest } = operation;
  return `<section id="${slug(`${method} ${path}`)}"><h3><code>${method.toUpperCase()} ${escapeHtml(path)}</code></h3><p>${prose(summary)}. ${prose(description)}</p>
<pre>${escapeHtml(curlOf(method, path, operation, schemas))}</pre>${parameters(rest.parameters ?? [])}${body('Request', rest.requestBody)}${responses(rest.responses)}</section>`;
}

function parameters(all: NonNullable<Operation['parameters']>): string {
  if (all.length === 0) return '';
  const rows = all.map(
    ({ name, in: location, required, description = '' }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${location}${required ? ', required' : ''}</td><td>${prose(description)}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

function responses(all: Operation['responses']): string {
  const rows = Object.entries(all).map(
    ([status, { description, content }]) =>
      `<tr><td>${status}</td><td>${prose(description)}${status.startsWith('2') ? body('Response', content && { content }) : ''}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

function body(title: string, given: { content: Record<string, { schema: unknown }> } | undefined): string {
  const schema = given && Object.values(given.content)[0]?.schema;
  return schema ? `<details><summary>${title}</summary>${block(schema)}</details>` : '';
}

/** An anchor for a name. */
function slug(name: string): string {
  return name.toLowerCase().replace(/\W+/g, '-').replace(/^-|-$/g, '');
}

function block(schema: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>`;
}

/** Formats `backticks` as code. */
function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
