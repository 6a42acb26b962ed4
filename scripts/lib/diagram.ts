/** Diagrams of which room imports which, in Mermaid. */
import type { ICruiseResult } from 'dependency-cruiser';

/** An arrow for each import between rooms, without the arrows that longer paths imply.
 *  @param room its first group is the room of a file */
export function diagramOf({ modules }: ICruiseResult, room: RegExp): string {
  const imports = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    const from = room.exec(source)?.[1];
    if (from === undefined) continue;
    const targets = imports.get(from) ?? new Set();
    for (const { resolved } of dependencies) {
      const to = room.exec(resolved)?.[1];
      if (to !== undefined && to !== from) targets.add(to);
    }
    imports.set(from, targets);
  }
  removeImplied(imports);
  const arrows = [...imports].flatMap(([from, targets]) => [...targets].map((to) => `  ${node(from)} --> ${node(to)}`));
  return ['```mermaid', 'flowchart TD', ...arrows.sort(), '```'].join('\n');
}

function removeImplied(imports: ReadonlyMap<string, Set<string>>): void {
  for (const [from, targets] of imports) {
    for (const to of [...targets]) {
      targets.delete(to);
      if (!reaches(imports, from, to)) targets.add(to);
    }
  }
}

function reaches(
  imports: ReadonlyMap<string, Set<string>>,
  from: string,
  to: string,
  seen = new Set<string>(),
): boolean {
  seen.add(from);
  return [...(imports.get(from) ?? [])].some(
    (next) => next === to || (!seen.has(next) && reaches(imports, next, to, seen)),
  );
}

/** Mermaid's IDs are words. */
function node(room: string): string {
  return /^\w+$/.test(room) ? room : `${room.replace(/\W/g, '_')}[${room}]`;
}
