/** All presets: each file of presets/ has one as its default export. */
import { parse } from 'node:path';
import { z } from 'zod';
import { type Preset, presetSchema } from './preset.ts';
import { PRESET_FILES } from './preset-files.ts';

/** @param given default export of the file
 *  @throws Error that names the file and each wrong field */
export function readPreset(file: string, given: unknown): Preset {
  const { success, data, error } = presetSchema.safeParse(given);
  if (!success) throw new Error(`presets/${file} is no preset:\n${z.prettifyError(error)}`);
  if (data.id !== parse(file).name) {
    throw new Error(`presets/${file}: id: expected the name of the file; got "${data.id}"`);
  }
  return data;
}

/** Providers by name, then the generic ones. */
export const PRESETS: readonly Preset[] = PRESET_FILES.map(([file, content]) => readPreset(file, content)).sort(
  (a, b) => Number(a.kind === 'generic') - Number(b.kind === 'generic') || a.name.localeCompare(b.name, 'en'),
);

const byId = new Map(PRESETS.map((preset) => [preset.id, preset]));

export function presetOf(id: string): Preset | undefined {
  return byId.get(id);
}
