import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(resolve(ROOT, file), 'utf8');

describe('.editorconfig', () => {
  const sections = new Map(
    read('.editorconfig')
      .split(/^(?=\[)/m)
      .map((section) => {
        const [, name = ''] = /^\[(.*)\]/.exec(section) ?? [];
        const pairs = [...section.matchAll(/^(\w+) = (\S+)$/gm)].map(([, key = '', value = '']) => [key, value]);
        return [name, Object.fromEntries(pairs) as Record<string, string>];
      }),
  );

  it('formats like biome.json', () => {
    const { indentStyle, indentWidth, lineWidth, lineEnding = 'lf' } = JSON.parse(read('biome.json')).formatter;
    expect(sections.get('*')).to.include({
      indent_style: indentStyle,
      indent_size: String(indentWidth),
      max_line_length: String(lineWidth),
      end_of_line: lineEnding,
    });
  });

  it('indents Go with tabs, as gofmt does', () => {
    expect(sections.get('*.go')).to.include({ indent_style: 'tab' });
  });
});
