/** The house rules of src/ (docs: design): which file may import what, and who alone may touch what. */
import { dirname, posix } from 'node:path';
import { type Import, importsOf, packageOf } from './imports.ts';
import { lineAt, type Source } from './source.ts';

/** From top to bottom. A unit is a folder of src/, or a file that stands in src/ itself. */
const LAYERS = [
  ['web.ts', 'worker.ts', 'release.ts'],
  ['composition'],
  ['process.ts'],
  ['api', 'workers'],
  ['jobs'],
  ['store', 'functions', 'transforms'],
  ['metrics'],
  ['model'],
  ['tracing'],
  ['config.ts', 'errors.ts', 'graceful-shutdown.ts', 'log.ts'],
  ['settings.ts'],
];

/** Packages that only the named units may import. */
const PACKAGE_HOMES: [packages: RegExp, units: string[]][] = [
  [/^(koa|koa-.*|@koa\/.*|@bull-board\/.*)$/, ['api']],
  [/^bullmq$/, ['jobs', 'workers']],
  [/^(isolated-vm|piscina)$/, ['transforms']],
  [/^ioredis$/, ['store']],
  [/^(@opentelemetry\/.*|bullmq-otel)$/, ['tracing']],
  [/^prom-client$/, ['metrics']],
];

const ENVIRONMENT_HOME = 'src/config.ts';
const ENVIRONMENT =
  /\bprocess\s*\??\.\s*env\b|\{[^{}]*\benv\b[^{}]*\}\s*=\s*process\b|\bimport\s*\{[^{}]*\benv\b[^{}]*\}\s*from\s*(?=["'])/g;

const HEADERS_HOME = 'src/functions/headers.ts';
const PROTOCOL_HEADER = /^x-(service|inngest)-/i;

export interface Violation {
  file: string;
  line: number;
  what: string;
  rule: string;
}

type Found = Omit<Violation, 'file'>;

/** @param file path from the repository's root, beginning with `src/` */
export function violationsOf(file: string, source: Source): Violation[] {
  const found = [
    ...importsOf(source).flatMap((imported) => importViolations(file, imported)),
    ...environmentViolations(file, source),
    ...headerViolations(file, source),
  ];
  return found.map((violation) => ({ file, ...violation }));
}

function importViolations(file: string, { specifier, line }: Import): Found[] {
  const unit = unitOf(file);
  const what = `imports ${specifier}`;
  if (layerOf(unit) === -1) {
    return [{ line, what, rule: `${unit} is in no layer; give it a place in scripts/lib/layers.ts` }];
  }
  const packageName = packageOf(specifier);
  if (packageName !== undefined) {
    const homes = PACKAGE_HOMES.find(([packages]) => packages.test(packageName))?.[1];
    if (!homes || homes.includes(unit)) return [];
    return [
      { line, what, rule: `${packageName} is imported in ${homes.map((home) => `src/${home}`).join(' and ')} only` },
    ];
  }
  const target = specifier.startsWith('.') ? posix.join(dirname(file), specifier) : '';
  if (!target.startsWith('src/')) return [];
  const targetUnit = unitOf(target);
  if (targetUnit === unit) return [];
  const [here, there] = [layerOf(unit), layerOf(targetUnit)];
  if (there === here)
    return [{ line, what, rule: `${unit} and ${targetUnit} stand side by side and do not import each other` }];
  if (there < here) return [{ line, what, rule: `imports go down only, and ${targetUnit} is above ${unit}` }];
  return [];
}

function environmentViolations(file: string, { code, strings }: Source): Found[] {
  if (file === ENVIRONMENT_HOME) return [];
  return [...code.matchAll(ENVIRONMENT)]
    .filter((match) => {
      const module = strings.get(match.index + match[0].length);
      return !match[0].startsWith('import') || module === 'node:process' || module === 'process';
    })
    .map(({ index }) => ({
      line: lineAt(code, index),
      what: 'reads process.env',
      rule: `the environment is read in ${ENVIRONMENT_HOME} only`,
    }));
}

function headerViolations(file: string, { code, strings }: Source): Found[] {
  if (file === HEADERS_HOME) return [];
  return [...strings]
    .filter(([, text]) => PROTOCOL_HEADER.test(text))
    .map(([offset, text]) => ({
      line: lineAt(code, offset),
      what: `spells the header ${text}`,
      rule: `only ${HEADERS_HOME} names the headers of the protocol`,
    }));
}

function unitOf(file: string): string {
  return file.split('/')[1] ?? '';
}

function layerOf(unit: string): number {
  return LAYERS.findIndex((layer) => layer.includes(unit));
}
