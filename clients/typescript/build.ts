/** Builds the published package: `node build.ts [folder]`, by default `dist`; then `npm publish ./dist`.
 *  In the repository, examples and tests use the sources, so the published package has its own package.json. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleCli } from '../../cli/bundle.ts';

const here = import.meta.dirname;
const dist = resolve(process.argv[2] ?? join(here, 'dist'));
const tsc = join(here, '../../node_modules/.bin/tsc');

/** The sources are ES modules; compiles them again for `require`. */
const FORMATS = {
  esm: { type: 'module', options: [] },
  cjs: {
    type: 'commonjs',
    options: ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'],
  },
};

rmSync(dist, { recursive: true, force: true });
for (const [format, { type, options }] of Object.entries(FORMATS)) {
  const outDir = join(dist, format);
  mkdirSync(outDir, { recursive: true });
  execFileSync(tsc, ['-p', join(here, 'tsconfig.build.json'), '--outDir', outDir, ...options], { stdio: 'inherit' });
  for (const file of globSync('**/*.d.ts', { cwd: outDir })) nameCompiledFiles(join(outDir, file));
  writeJson(join(outDir, 'package.json'), { type });
}
await bundleCli(dist);
for (const file of ['README.md', 'LICENSE']) copyFileSync(join(here, file), join(dist, file));
writeJson(join(dist, 'package.json'), published(JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))));

/** The compiler leaves `.ts` specifiers in declarations. */
function nameCompiledFiles(file: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/((?:from|import\()\s*'\.[^']*)\.ts'/g, "$1.js'"));
}

function published({
  private: _,
  scripts: __,
  devDependencies: ___,
  exports,
  ...rest
}: Record<string, object>): object {
  const entries = Object.entries(exports ?? {}).map(([path, source]) => [path, compiled(String(source))]);
  return {
    ...rest,
    main: './cjs/index.js',
    types: './cjs/index.d.ts',
    bin: { tidegate: './cli.js' },
    sideEffects: false,
    exports: Object.fromEntries(entries),
  };
}

function compiled(source: string) {
  const name = source.replace(/^\.\/src\/(.*)\.ts$/, '$1');
  const as = (format: string) => ({ types: `./${format}/${name}.d.ts`, default: `./${format}/${name}.js` });
  return { import: as('esm'), require: as('cjs') };
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
