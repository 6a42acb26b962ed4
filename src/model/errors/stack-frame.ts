/** One frame of a stack trace in any supported language, and the owner of its code: app, library or runtime. */

export interface StackFrame {
  /** The text that the runtime wrote; several lines if it includes source code. */
  text: string;
  /** Name of the function; undefined if it is anonymous. */
  name?: string | undefined;
  /** Path or URL. */
  file?: string | undefined;
  line?: number | undefined;
  column?: number | undefined;
  /** The package or runtime that the frame belongs to; undefined for the app's own code. */
  library?: string | undefined;
}

/** Owner of frames without a file: `at Array.map (<anonymous>)`. */
export const RUNTIME = 'the runtime';

/** Folders that hold packages, and how many path parts after them name a package. Packages nest, so the last of these
 *  folders in a path decides. */
const PACKAGE_FOLDERS: readonly [folder: string, depth: number][] = [
  ['/node_modules/', 1],
  ['/site-packages/', 1],
  ['/dist-packages/', 1],
];
/** Hosts of Go packages: `github.com/acme/pay`. */
const GO_FOLDERS: typeof PACKAGE_FOLDERS = [
  ['/pkg/mod/', 3],
  ['/vendor/', 3],
];

/** Schemes of modules that come with a runtime. */
const RUNTIME_SCHEME = /^(?:node|bun|deno|ext|internal|native|wasm):/;
/** Hosts from which code imports packages. */
const PACKAGE_HOST =
  /^https:\/\/(?:deno\.land|jsr\.io|esm\.sh|cdn\.jsdelivr\.net|unpkg\.com)\/(?:x\/|npm\/)?((?:@[^/]{1,64}\/)?[^/@]{1,64})/;
/** Excludes `/go/src/`, where many apps live. */
const GO_RUNTIME = /\/(?:local|lib|opt|sdk|libexec)\/(?:go(?:-?\d[\d.]{0,12})?\/)?src\//;
/** Folder in which Go stores downloaded toolchains. */
const GO_TOOLCHAIN = /\/toolchain@[^/]{1,64}\/src\//;
/** Builds with `-trimpath` have paths without their beginning. */
const GO_STANDARD = /^(?:runtime|net|reflect|sync|testing|internal|io|os|encoding|time|context|bufio|log)\//;
const PYTHON_LIBRARY = /\/lib\/python\d(?:\.\d{1,3})?\//;

/** @returns undefined for the app's own code */
export function libraryOf(file: string): string | undefined {
  if (file === '' || file.startsWith('<')) return RUNTIME;
  const scheme = RUNTIME_SCHEME.exec(file)?.[0];
  // Collapses files of one runtime library: `node:internal/timers` is part of `node:internal`.
  if (scheme) return scheme + file.slice(scheme.length).split('/', 1)[0];
  const hosted = PACKAGE_HOST.exec(file)?.[1];
  if (hosted) return hosted;
  const path = file.replaceAll('\\', '/');
  if (path.endsWith('.go')) return goLibraryOf(path);
  return packageIn(path, PACKAGE_FOLDERS) ?? (PYTHON_LIBRARY.test(path) ? 'Python' : undefined);
}

function goLibraryOf(path: string): string | undefined {
  if ([GO_RUNTIME, GO_TOOLCHAIN, GO_STANDARD].some((pattern) => pattern.test(path))) return 'Go';
  const version = path.indexOf('@v');
  return packageIn(path, GO_FOLDERS) ?? (version > 0 ? path.slice(0, version) : undefined);
}

function packageIn(path: string, folders: typeof PACKAGE_FOLDERS): string | undefined {
  let found: { at: number; depth: number } | undefined;
  for (const [folder, depth] of folders) {
    const at = path.lastIndexOf(folder);
    if (at !== -1 && at + folder.length > (found?.at ?? 0)) found = { at: at + folder.length, depth };
  }
  if (!found) return undefined;
  const parts = path.slice(found.at).split('/');
  const depth = parts[0]?.startsWith('@') ? 2 : Math.min(found.depth, Math.max(1, parts.length - 1));
  const name = parts.slice(0, depth).join('/');
  // `github.com/acme/pay@v1.2.3`, not `@acme/pay`
  const version = name.indexOf('@', 1);
  return version === -1 ? name : name.slice(0, version);
}
