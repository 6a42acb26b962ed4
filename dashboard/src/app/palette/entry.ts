import type { IconName } from '../../ui/icon.tsx';

/** A line of the command palette. */
export interface Entry {
  key: string;
  icon: IconName;
  label: string;
  /** Other words by which it is found. */
  keywords?: string[];
  /** What it is, or what choosing it does. */
  kind: string;
  choose(): unknown;
}
