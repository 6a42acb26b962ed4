/** Does what a container engine does with the Dockerfile, without one: images are folders, and root is whoever runs this.
 *  Knows the instructions that the Dockerfile has, and no more. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Stage {
  base: string;
  name: string | undefined;
  instructions: { name: string; value: string }[];
}

export function readStages(file: string): Stage[] {
  const lines = readFileSync(file, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Stage[] = [];
  for (const line of lines) {
    const [, name = '', value = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    const from = /^(\S+)(?: AS (\S+))?$/.exec(value);
    if (name === 'FROM') stages.push({ base: from?.[1] ?? '', name: from?.[2], instructions: [] });
    else stages.at(-1)?.instructions.push({ name, value });
  }
  return stages;
}

export const valuesOf = ({ instructions }: Stage, wanted: string): string[] =>
  instructions.filter(({ name }) => name === wanted).map(({ value }) => value);

/** `NAME=value NAME=value` of ENV. */
export function environmentOf(stage: Stage): Record<string, string> {
  return Object.fromEntries(
    valuesOf(stage, 'ENV').flatMap((value) => value.split(/\s+/).map((item) => item.split('='))),
  );
}

/** The build context: what git has, or would have, and .dockerignore does not leave out. */
export function filesOfContext(root: string): string[] {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  return listed.split('\n').filter((file) => file !== '' && isIncluded(file, rules));
}

/** The last rule that matches the file, or a folder it is in, decides. */
function isIncluded(file: string, rules: string[]): boolean {
  const parts = file.split('/');
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  const last = rules.findLast((rule) => paths.some((path) => patternOf(rule).test(path)));
  return last?.startsWith('!') ?? true;
}

/** Unlike that of a shell, `*` also stands for names that start with a dot. */
function patternOf(rule: string): RegExp {
  const parts = rule.replace(/^!/, '').split(/(\*\*\/|\*)/);
  const translated = parts.map(
    (part) => ({ '**/': '(?:.*/)?', '*': '[^/]*' })[part] ?? part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'),
  );
  return new RegExp(`^${translated.join('')}$`);
}

export function copyContext(root: string, to: string): void {
  for (const file of filesOfContext(root)) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(root, file), join(to, file));
  }
}

/** The COPY instructions of a stage that take from others.
 *  @param folderOf the folder of a stage */
export function copyFromStages(stage: Stage, folderOf: (name: string) => string, to: string): void {
  for (const value of valuesOf(stage, 'COPY')) {
    const [from = '', ...paths] = value.split(/\s+/);
    const target = paths.pop() as string;
    for (const path of paths) {
      const source = path.replace(/^\/app\//, '');
      cpSync(join(folderOf(from.replace('--from=', '')), source), join(to, target === './' ? source : target), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
  }
}
