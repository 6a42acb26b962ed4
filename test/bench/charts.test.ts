import { expect } from 'chai';
import { barChart } from '../../bench/charts/bar-chart.ts';
import { lineChart } from '../../bench/charts/line-chart.ts';
import type { Row } from '../../bench/row.ts';

const row: Row = {
  group: 'runs',
  work: 'runs & <steps>',
  value: 250,
  unit: 'runs/s',
  references: [{ what: 'a bare loop', value: 500 }],
  targets: [{ share: 0.8, of: 'a bare loop' }],
};
const widthsOf = (drawn: string, kind: string) =>
  [...drawn.matchAll(new RegExp(`class="${kind}"[^>]* width="([\\d.]+)"`, 'g'))].map(([, width]) => Number(width));

describe('a chart of the benchmark', () => {
  it('describes its content as escaped text', () => {
    const drawn = barChart('Runs', [row], 'own');
    expect(drawn).to.include('<title id="title">Runs</title>');
    expect(drawn).to.include('runs &amp; &lt;steps&gt;: 250 runs/s; a bare loop: 500; target: 400.</desc>');
    expect(drawn).to.include('(missed)');
  });

  it('draws bars on the scale of each row, or on a common scale', () => {
    const small = { ...row, value: 125, references: [], targets: [] };
    const own = barChart('Runs', [row, small], 'own');
    const [half, all] = widthsOf(own, 'own') as [number, number];
    expect(half).to.equal(all / 2);
    expect(widthsOf(own, 'beside')).to.deep.equal([all]);
    expect(widthsOf(barChart('Runs', [row, small], 'common'), 'own')).to.deep.equal([all / 2, all / 4]);
  });

  it('draws lines inside its frame and labels that do not overlap', () => {
    const lines = [
      {
        name: 'web',
        points: [
          [0, 0],
          [5, 100],
          [10, 50],
        ] as [number, number][],
      },
      {
        name: 'worker',
        points: [
          [0, 10],
          [10, 50],
        ] as [number, number][],
      },
    ];
    const drawn = lineChart('Memory', { key: 'soak', unit: 'MB', lines }, 200);
    expect(drawn).to.include('web: 0.0 MB at the start, 50.0 MB after 10 s, 100 MB maximum.');
    expect(drawn).to.include('Target: at most 200 MB.');
    const [web = [], worker = []] = [...drawn.matchAll(/points="([^"]+)"/g)].map(([, text = '']) =>
      text.split(' ').map((pair) => pair.split(',').map(Number)),
    );
    expect(web).to.have.length(3);
    // Both end at the same value; the maximum is half of the target; smaller y is higher.
    expect(web.at(-1)).to.deep.equal(worker.at(-1));
    expect(web[1]?.[1]).to.be.lessThan(web[2]?.[1] as number);
    const labels = [...drawn.matchAll(/y="([\d.]+)"[^>]*>(?:web|worker)</g)].map(([, y]) => Number(y));
    expect(Math.abs((labels[0] as number) - (labels[1] as number))).to.be.at.least(14);
  });
});
