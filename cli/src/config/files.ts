/** Reads and writes the document as YAML, with transforms in files of their own. */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse, Scalar, stringify } from 'yaml';
import { usageError } from '../exit-codes.ts';
import { readFileOf } from '../input.ts';
import { checkDocument, type Document, type Entry, FIELDS, isObject, KINDS, type Kind, VERSION } from './document.ts';
import { readReferencedFile } from './referenced-file.ts';

export const FILE_NAME = 'tidegate.yaml';
const HEADING = '# Written by: tidegate export. Applied by: tidegate apply.\n';

/** @param path a file, or a folder with tidegate.yaml. @throws CliError */
export async function readDocument(path: string): Promise<Document> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const file = isFolder ? join(path, FILE_NAME) : path;
  const text = await readFileOf(file);
  let given: unknown;
  try {
    // A document of a few bytes must not become one of gigabytes.
    given = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw usageError(`${file}: ${(error as Error).message}`);
  }
  const document = checkDocument(given, file);
  for (const webhook of document.webhooks ?? []) {
    if (!isObject(webhook.transform)) continue;
    const { file: name } = webhook.transform;
    const what = `${file}: transform of ${webhook.name}`;
    if (typeof name !== 'string') throw usageError(`${what}: expected code or {file: …}`);
    webhook.transform = await readReferencedFile(dirname(file), name, what);
  }
  return document;
}

/** The document with its transforms included. */
export function toYaml(document: Document): string {
  return HEADING + stringify({ version: VERSION, ...shortened(document) }, { lineWidth: 0 });
}

/** Writes tidegate.yaml, and each transform to a file of its own. @returns the paths that were written */
export async function writeFolder(folder: string, document: Document): Promise<string[]> {
  const written: string[] = [];
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
    written.push(join(folder, path));
  };
  const names = new Set<string>();
  const webhooks: Entry[] = [];
  for (const webhook of document.webhooks ?? []) {
    const path = `transforms/${uniqueName(webhook, names)}.js`;
    await write(path, webhook.transform);
    webhooks.push({ ...webhook, transform: { file: path } });
  }
  await write(FILE_NAME, toYaml({ ...document, ...(document.webhooks && { webhooks }) }));
  return written;
}

function uniqueName({ name, environment }: Entry, names: Set<string>): string {
  const slug = slugOf(environment === 'production' ? name : `${environment}-${name}`);
  let unique = slug;
  for (let i = 2; names.has(unique); i++) unique = `${slug}-${i}`;
  names.add(unique);
  return unique;
}

export function slugOf(text: string): string {
  const slug = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return slug.replaceAll(/^-+|-+$/g, '') || 'unnamed';
}

/** The object without fields that have their defaults. */
function shortened(document: Document): Record<string, unknown> {
  const sections = KINDS.filter((kind) => document[kind]).map((kind) => [
    kind,
    document[kind]?.map((one) => shortEntry(kind, one)),
  ]);
  return Object.fromEntries(sections);
}

function shortEntry(kind: Kind, entry: Entry): Entry {
  const fields = Object.entries(FIELDS[kind]).filter(([name, value]) => {
    const given = entry[name];
    return given !== undefined && (value === undefined || JSON.stringify(given) !== JSON.stringify(value));
  });
  return Object.fromEntries(fields.map(([name]) => [name, asBlock(entry[name])]));
}

/** Code of several lines is easier to read and to compare as a block. It is quoted if a block would lose characters. */
function asBlock(value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes('\n') || /(?![\n\t])\p{Cc}|\p{Zl}|\p{Zp}/u.test(value)) return value;
  const scalar = new Scalar(value);
  scalar.type = 'BLOCK_LITERAL';
  return scalar;
}
