/** JSON for Lua scripts. */

/** An escape of JSON: a letter, or the code unit of a lone surrogate, which JSON.stringify writes for nothing else. */
const ESCAPE = /\\(?:ud[89a-f]..|.)/g;
const LONE = 6;
const REPLACEMENT = String.fromCharCode(0xfffd);

/** Like JSON.stringify, in well-formed Unicode: cjson refuses the escapes of lone surrogates, which any JSON of a sender may contain. */
export function luaJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\ud') ? text.replace(ESCAPE, (pair) => (pair.length === LONE ? REPLACEMENT : pair)) : text;
}
