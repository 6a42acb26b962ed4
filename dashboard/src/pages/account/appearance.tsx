import { setTheme, THEMES, type Theme, useTheme } from '../../lib/theme.ts';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';

const OPTIONS = {
  system: ['monitor', 'System'],
  light: ['sun', 'Light'],
  dark: ['moon', 'Dark'],
} as const satisfies Record<Theme, unknown>;

/** The theme, stored in this browser. */
export function Appearance() {
  const theme = useTheme();
  return (
    <Card title="Theme">
      <fieldset className="grid grid-cols-3 gap-2 p-4">
        <legend className="sr-only">Theme</legend>
        {THEMES.map((each) => (
          <label
            key={each}
            className="flex cursor-pointer flex-col items-center gap-2 rounded-md border border-line px-2 py-3 text-center text-sm has-checked:border-accent has-checked:bg-accent-soft has-checked:font-medium has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name="theme"
              value={each}
              checked={theme === each}
              onChange={() => setTheme(each)}
              className="sr-only"
            />
            <Icon name={OPTIONS[each][0]} />
            {OPTIONS[each][1]}
          </label>
        ))}
      </fieldset>
    </Card>
  );
}
