import { Checkbox } from '../../ui/checkbox.tsx';
import { Popover } from '../../ui/popover.tsx';
import { SegmentedControl } from '../../ui/segmented-control.tsx';
import type { Density, ListView } from './list-preferences.ts';

const DENSITIES: readonly (readonly [Density, string])[] = [
  ['compact', 'Compact'],
  ['comfortable', 'Comfortable'],
];

/** Which columns a list shows, and how dense its rows are. */
export function ColumnsMenu<Row>({ view }: { view: ListView<Row> }) {
  const shown = new Set(view.shown.map(({ id }) => id));
  return (
    <Popover label="Columns" icon="sliders">
      <SegmentedControl
        label="Row height"
        options={DENSITIES}
        value={view.density}
        onChange={(density) => view.setDensity(density as Density)}
      />
      <fieldset className="mt-3 grid gap-2">
        <legend className="mb-2 font-medium">Columns</legend>
        {view.offered.map(({ id, header }) => (
          <Checkbox key={id} checked={shown.has(id)} onChange={() => view.toggle(id)}>
            {header}
          </Checkbox>
        ))}
      </fieldset>
    </Popover>
  );
}
