/** Bundles the processes of the service: with one file for hundreds of modules a process starts with half of the CPU time. What a process
 *  reads beside its code, such as Lua scripts, stays in src/. */
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Plugin } from 'rolldown';
import { newest } from './dashboard.ts';

/** Where `npm run build` puts the bundles, and scripts/start looks for them. */
export const BUNDLES = 'dist/service';
/** Inputs of the build; those that scripts/start looks at, and the build itself. */
const INPUTS = ['src', 'package-lock.json', 'scripts/lib/bundle.ts', 'scripts/lib/bundle'];
const ENTRIES = ['web', 'worker', 'release', 'move', 'supervisor'];
/** Are loaded from node_modules: native code, files of their own, or seldom used. */
const EXTERNAL = [
  /^(isolated-vm|piscina|pino|node-pg-migrate|pg|pg-copy-streams|bullmq-otel)$/,
  /^@bull-board\//,
  /^@opentelemetry\/(?!api$)/,
];
export const isExternal = (name: string) => EXTERNAL.some((pattern) => pattern.test(name));
/** The processes for transforms may read their own bundles only, in a folder of their own. */
const TRANSFORMS = 'transforms';
const SANDBOX_ENTRIES = ['child', 'thread', 'program'];
const PRESET_FILES = 'providers/preset-files.ts';
/** This file in front of each entry. */
const SOURCE_LINES = join(import.meta.dirname, 'bundle/source-lines.ts');
const ENTRY = '\0entry:';
/** Functions and errors keep their names. */
const WHITESPACE = { mangle: false, compress: false } as const;
/** Starts the entries beside it, which the bundles have too. */
const SUPERVISOR = 'supervisor.ts';
const META = /\bimport\.meta\.(url|filename|dirname)\b/g;

export function areBundlesStale(root: string): boolean {
  const built = join(root, BUNDLES, 'web.js');
  return !existsSync(built) || INPUTS.some((input) => newest(join(root, input)) > statSync(built).mtimeMs);
}

/** @param out is replaced; the bundles run in dist/service/ of a tree
 *  @param extension of the files in its src/: .js in the released package */
export async function bundleService(root: string, out: string, extension: '.ts' | '.js' = '.ts'): Promise<void> {
  const { rolldown } = await import('rolldown');
  const src = join(root, 'src');
  const home = join(root, BUNDLES);
  const common = { cwd: root, platform: 'node', external: EXTERNAL } as const;
  const sandbox = join(src, 'transforms/sandbox');
  const transforms = await rolldown({
    ...common,
    input: Object.fromEntries(SANDBOX_ENTRIES.map((name) => [name, join(sandbox, `${name}.ts`)])),
    // Isolates get the text of functions, which must stay as it is.
    treeshake: false,
  });
  const service = await rolldown({
    ...common,
    input: Object.fromEntries(ENTRIES.map((name) => [name, ENTRY + join(src, `${name}.ts`)])),
    plugins: [
      entries(),
      presets(join(src, PRESET_FILES)),
      beside(join(sandbox, 'program.ts')),
      places(src, home, extension),
    ],
    // Packages evaluate text to name functions, which bundling leaves as it is.
    checks: { eval: false },
  });
  mkdirSync(dirname(out), { recursive: true });
  const fresh = mkdtempSync(`${out}-`);
  chmodSync(fresh, 0o755);
  try {
    await transforms.write({ dir: join(fresh, TRANSFORMS), format: 'esm', keepNames: false, minify: false });
    await service.write({
      dir: fresh,
      format: 'esm',
      keepNames: true,
      minify: WHITESPACE,
      sourcemap: true,
      sourcemapExcludeSources: true,
      // The same wherever the bundles are made.
      sourcemapPathTransform: (source, map) => relative(home, resolve(dirname(map), source)).replaceAll(sep, '/'),
    });
    rmSync(out, { recursive: true, force: true });
    renameSync(fresh, out);
  } finally {
    await Promise.all([service.close(), transforms.close()]);
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Makes one file of a program that has parts of the service, for tests that start it again and again.
 *  @param out in the tree */
export async function bundleProgram(root: string, program: string, out: string): Promise<void> {
  const { rolldown } = await import('rolldown');
  const src = join(root, 'src');
  const bundle = await rolldown({
    ...{ cwd: root, platform: 'node', external: EXTERNAL, input: program, checks: { eval: false } },
    plugins: [presets(join(src, PRESET_FILES)), places(src, dirname(out), '.ts')],
  });
  // Others may make it at the same time.
  const fresh = `${out}-${process.pid}.js`;
  await bundle
    .write({ file: fresh, format: 'esm', keepNames: true, codeSplitting: false })
    .finally(() => bundle.close());
  renameSync(fresh, out);
}

function entries(): Plugin {
  return {
    name: 'entries',
    resolveId: (id) => (id.startsWith(ENTRY) ? id : null),
    load(id) {
      if (!id.startsWith(ENTRY)) return null;
      return [SOURCE_LINES, id.slice(ENTRY.length)].map((file) => `import ${JSON.stringify(file)};`).join('\n');
    },
  };
}

/** Instead of reading the folder, imports of each file. */
function presets(file: string): Plugin {
  return {
    name: 'presets',
    load(id) {
      if (id !== file) return null;
      const files = globSync('presets/*.ts', { cwd: dirname(file) }).sort();
      const imports = files.map((path, index) => `import p${index} from './${path}';`);
      const list = files.map((path, index) => `[${JSON.stringify(basename(path))}, p${index}]`);
      return `${imports.join('\n')}\nexport const PRESET_FILES = [${list.join(', ')}];`;
    },
  };
}

/** The module is not in the bundles, but in those of transforms, which it finds. */
function beside(file: string): Plugin {
  return {
    name: 'beside',
    async resolveId(id, importer) {
      const resolved = importer ? await this.resolve(id, importer, { skipSelf: true }) : null;
      return resolved?.id === file ? { id: `./${TRANSFORMS}/program.js`, external: 'relative' } : null;
    },
  };
}

/** A module finds its files where its source is. */
function places(src: string, home: string, extension: string): Plugin {
  return {
    name: 'places',
    transform(code, id) {
      if (!id.startsWith(src + sep) || id === join(src, SUPERVISOR)) return null;
      const source = relative(home, id).replace(/\.ts$/, extension).replaceAll(sep, '/');
      const pathOf = (path: string) => `process.getBuiltinModule('node:path').join(import.meta.dirname, '${path}')`;
      const replacements: Record<string, string> = {
        url: `new URL('${source}', import.meta.url).href`,
        filename: pathOf(source),
        dirname: pathOf(dirname(source)),
      };
      const placed = code.replace(META, (_, what: string) => replacements[what] as string);
      return placed === code ? null : { code: placed, map: sameLines(id, placed) };
    },
  };
}

/** A source map of lines without columns: nothing has moved to another line. */
function sameLines(file: string, code: string) {
  const mappings = code.split('\n').map((_, line) => (line === 0 ? 'AAAA' : 'AACA'));
  return { version: 3, sources: [file], names: [], mappings: mappings.join(';') };
}
