/** TypeScript source as far as the layer check needs it: code without comments, and what its strings say. */

export interface Source {
  /** The code, character by character where it was, but comments blank and each string's content blank within its quotes.
   *  Template literals keep the code inside `${}`. */
  code: string;
  /** Content of each string, or of a template up to its first `${`, by the offset of its opening quote. */
  strings: Map<number, string>;
  /** Regular expressions, with their slashes and flags, by offset. */
  patterns: Map<number, string>;
}

/** After one of these a slash begins a regular expression; after anything else it divides. */
const BEFORE_REGEXP =
  /(^|[(,=:[!&|?{};+\-*%<>~^]|\b(return|typeof|case|do|else|in|of|void|delete|throw|await|yield))\s*$/;
const REGEXP = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const QUOTED = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
/** From a template's backtick, or from the brace that ends a `${}`, to the next `${` or the closing backtick. */
const TEMPLATE_PART = /[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y;

export function readSource(text: string): Source {
  const strings = new Map<number, string>();
  const patterns = new Map<number, string>();
  /** For each `${` that is open: how many braces are open inside it. */
  const templates: number[] = [];
  let code = '';
  while (code.length < text.length) {
    const at = code.length;
    const char = text[at] as string;
    const match = (pattern: RegExp): string | undefined => {
      pattern.lastIndex = at;
      return pattern.exec(text)?.[0];
    };
    const endsSubstitution = char === '}' && templates.at(-1) === 0;
    const comment = char === '/' ? match(COMMENT) : undefined;
    const quoted = char === '"' || char === "'" ? match(QUOTED) : undefined;
    const part = char === '`' || endsSubstitution ? match(TEMPLATE_PART) : undefined;
    const regexp = char === '/' && !comment && BEFORE_REGEXP.test(code.slice(-100)) ? match(REGEXP) : undefined;
    if (comment) {
      code += blank(comment);
    } else if (quoted) {
      strings.set(at, quoted.slice(1, -1));
      code += char + blank(quoted.slice(1, -1)) + char;
    } else if (part) {
      const opens = part.endsWith('${');
      if (char === '`') strings.set(at, part.slice(1, opens ? -2 : -1));
      if (endsSubstitution) templates.pop();
      if (opens) templates.push(0);
      code += char + blank(part.slice(1, -1)) + part.at(-1);
    } else if (regexp) {
      patterns.set(at, regexp);
      code += blank(regexp);
    } else {
      const open = templates.length - 1;
      if (open >= 0 && char === '{') templates[open] = (templates[open] ?? 0) + 1;
      if (open >= 0 && char === '}') templates[open] = (templates[open] ?? 0) - 1;
      code += char;
    }
  }
  return { code, strings, patterns };
}

export function lineAt(code: string, offset: number): number {
  return code.slice(0, offset).split('\n').length;
}

/** Spaces of the same length and lines. */
function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
