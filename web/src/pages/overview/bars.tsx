// Recipients over time as bars: each hour or day is separate, and nothing is drawn between them.
import { Group, Text } from '@mantine/core';
import type { Analytics } from '../../../../src/client/operations.ts';

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const count = new Intl.NumberFormat();

type Point = Analytics['points'][number];

/** From the bottom up; recipients in none of them are still in progress. */
const layers = [
  { name: 'delivered', label: 'Delivered', of: (it: Point) => it.delivered },
  { name: 'bounced', label: 'Bounced', of: (it: Point) => it.bounced },
  {
    name: 'open',
    label: 'In progress, or not reported',
    of: (it: Point) => Math.max(0, it.recipients - it.delivered - it.bounced),
  },
];

export function Bars({ analytics: { points, bucket } }: { analytics: Analytics }) {
  const say = bucket === 'hour' ? hour : day;
  const most = Math.max(...points.map(({ recipients }) => recipients), 1);
  const step = Math.ceil(points.length / 8);
  return (
    <figure className="bars" aria-label={`Recipients by ${bucket}`}>
      <Text size="xs" c="dimmed" className="bars-most">
        {count.format(most)}
      </Text>
      <div className="bars-plot">
        {points.map((point) => (
          <div
            key={point.at}
            className="bar"
            title={`${say.format(new Date(point.at))}: ${count.format(point.recipients)} recipients, ${layers
              .map(({ label, of }) => `${count.format(of(point))} ${label.toLowerCase()}`)
              .join(', ')}`}
          >
            {layers.map(({ name, of }) => (
              <span
                key={name}
                data-layer={name}
                style={{ height: `${(of(point) / most) * 100}%` }}
              />
            ))}
          </div>
        ))}
      </div>
      <div className="bars-days" aria-hidden="true">
        {points
          .filter((_, place) => place % step === 0)
          .map(({ at }) => (
            <span key={at}>{say.format(new Date(at))}</span>
          ))}
      </div>
      <Group gap="lg" mt="sm" justify="center" component="figcaption">
        {layers.map(({ name, label }) => (
          <Group key={name} gap={6}>
            <i className="bars-key" data-layer={name} aria-hidden="true" />
            <Text size="xs" c="dimmed">
              {label}
            </Text>
          </Group>
        ))}
      </Group>
    </figure>
  );
}
