import type { IconName } from '../../ui/icon.tsx';

/** A line of the command palette. */
export interface Entry {
  key: string;
  icon: IconName;
  label: string;
  /** Other words by which it is found. */
  keywords?: string[];
  /** Description of the entry, or of the effect of choosing it. */
  kind: string;
  choose(): unknown;
}
