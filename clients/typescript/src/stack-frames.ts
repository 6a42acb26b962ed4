/** Reads stacks as V8 writes them: `    at charge (file:///app/src/charge.ts:12:9)`. */

export interface StackFrame {
  /** A path with slashes. */
  file: string;
  line: number;
}

const MAX_STACK_LENGTH = 32_768;

/** @param library folder of this package, whose frames are left out; undefined: no frames are left out */
export function ownFrames(stack: string, library: string | undefined): StackFrame[] {
  return stack
    .slice(0, MAX_STACK_LENGTH)
    .split('\n')
    .map(frameOf)
    .filter((frame) => frame !== undefined)
    .filter(({ file }) => !file.includes('/node_modules/') && !(library && file.startsWith(library)));
}

/** @returns undefined for a line that is no frame, or one of the runtime itself */
export function frameOf(line: string): StackFrame | undefined {
  const text = line.trim();
  if (!text.startsWith('at ')) return undefined;
  const location = text.endsWith(')') ? text.slice(text.lastIndexOf('(') + 1, -1) : text.replace(/^at (async )?/, '');
  const position = /:(\d{1,9}):\d{1,9}$/.exec(location);
  if (!position) return undefined;
  const file = pathOf(location.slice(0, position.index));
  return file === undefined ? undefined : { file, line: Number(position[1]) };
}

function pathOf(place: string): string | undefined {
  try {
    // On Windows the path of file:///C:/app is /C:/app.
    if (place.startsWith('file://')) return decodeURIComponent(new URL(place).pathname).replace(/^\/(?=[A-Za-z]:)/, '');
  } catch {
    return undefined;
  }
  return place.startsWith('/') || /^[A-Za-z]:[\\/]/.test(place) ? place.replaceAll('\\', '/') : undefined;
}
