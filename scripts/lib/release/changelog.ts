/** Sections of CHANGELOG.md: `## <version> — <date or "unreleased">`. */
import { Problem } from '../problem.ts';

/** A section without a version, or of one that is not released yet. */
const UNRELEASED = /^## (?:\S+ — )?unreleased$/im;

/** @returns the section of the version, without its head. @throws Problem if there is none */
export function releaseNotes(changelog: string, version: string): string {
  const { head, body } = sectionOf(changelog, version);
  return `# Tidegate ${head}\n\n${body.trim()}\n`;
}

export function isDated(changelog: string, version: string): boolean {
  return /— \d{4}-\d\d-\d\d$/.test(sectionOf(changelog, version).head);
}

/** Heads what is not released yet with version and date; a second time it changes nothing.
 *  @throws Problem if nothing is unreleased, and the version has no section */
export function dateSection(changelog: string, version: string, date: string): string {
  if (UNRELEASED.test(changelog)) return changelog.replace(UNRELEASED, `## ${version} — ${date}`);
  sectionOf(changelog, version);
  return changelog;
}

function sectionOf(changelog: string, version: string): { head: string; body: string } {
  const section = changelog
    .split(/^## /m)
    .slice(1)
    .find((text) => text.split(/\s/, 1)[0] === version);
  if (!section) throw new Problem(`CHANGELOG.md has no section "## ${version}", and none that is unreleased`);
  const end = section.indexOf('\n');
  return { head: section.slice(0, end), body: section.slice(end) };
}
