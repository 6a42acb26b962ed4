/** The part of package-lock.json that the released service installs, as its npm-shrinkwrap.json. */
import type { Shrinkwrap } from './sbom.ts';

export interface LockedPackage {
  version?: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  dev?: boolean;
  devOptional?: boolean;
}

export interface Lock {
  packages: Record<string, LockedPackage>;
}

const NODE_MODULES = 'node_modules/';

/** @param manifest of the released package */
export function shrinkwrap(
  lock: Lock,
  manifest: { name: string; version: string; dependencies: Record<string, string> },
): Shrinkwrap {
  const { name, version } = manifest;
  const packages = needed(lock, Object.keys(manifest.dependencies))
    .sort()
    .map((path) => {
      // What it is in the tree of development.
      const { dev: _, devOptional: __, ...entry } = lock.packages[path] ?? {};
      return [path, entry];
    });
  return {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': manifest, ...Object.fromEntries(packages) },
  };
}

/** Paths of the packages, of those that they need, and so on. */
function needed({ packages }: Lock, names: string[]): string[] {
  const found = new Set<string>();
  const add = (from: string, name: string) => {
    const path = resolve(packages, from, name);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[
      path
    ] as LockedPackage;
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) add(path, next);
    for (const next of Object.keys(peerDependencies ?? {}))
      if (!peerDependenciesMeta?.[next]?.optional) add(path, next);
  };
  for (const name of names) add('', name);
  return [...found];
}

/** Where Node finds the package. */
function resolve(packages: Record<string, LockedPackage>, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(NODE_MODULES) - 1))) {
    const path = `${folder && `${folder}/`}${NODE_MODULES}${name}`;
    if (packages[path] && !packages[path].link) return path;
    if (folder === '') return undefined;
  }
}
