// Sends and what became of them over time. A chunk of its own: Recharts is large.
import '@mantine/charts/styles.css';
import { AreaChart } from '@mantine/charts';
import type { Statistics } from '../../../../src/client/operations.ts';

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

export function VolumeChart({ statistics }: { statistics: Statistics }) {
  const say = statistics.bucket === 'hour' ? hour : day;
  return (
    <AreaChart
      h={280}
      data={statistics.points.map(({ at, ...volume }) => ({
        at: say.format(new Date(at)),
        ...volume,
      }))}
      dataKey="at"
      series={[
        { name: 'sends', label: 'Sent', color: 'gray.5' },
        { name: 'delivered', label: 'Delivered', color: 'martin.5' },
        { name: 'opened', label: 'Opened', color: 'violet.5' },
        { name: 'bounced', label: 'Bounced', color: 'red.6' },
      ]}
      curveType="monotone"
      withDots={false}
      withLegend
      legendProps={{ verticalAlign: 'bottom' }}
      gridAxis="x"
      strokeWidth={1.75}
      fillOpacity={0.12}
      tickLine="none"
      yAxisProps={{ allowDecimals: false, width: 44 }}
      xAxisProps={{ minTickGap: 40 }}
      areaProps={{ isAnimationActive: false }}
    />
  );
}
