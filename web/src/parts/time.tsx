// Times as people say them ("3 minutes ago"), with the exact one on hover and in the markup. They
// stay true while one looks.
import { Text, type TextProps, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';

const steps: [limitSeconds: number, divisor: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [60, 1, 'second'],
  [3600, 60, 'minute'],
  [86_400, 3600, 'hour'],
  [86_400 * 30, 86_400, 'day'],
  [86_400 * 365, 86_400 * 30, 'month'],
  [Number.POSITIVE_INFINITY, 86_400 * 365, 'year'],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export function sayRelative(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  if (Math.abs(seconds) < 5) return 'just now';
  const [, divisor, unit] = steps.find(([limit]) => Math.abs(seconds) < limit)!;
  return relative.format(Math.trunc(seconds / divisor), unit);
}

/** Timeline times come without a zone suffix; they are UTC. */
export const asDate = (iso: string): Date =>
  new Date(/(?:Z|[+-]\d\d:?\d\d)$/.test(iso) ? iso : `${iso}Z`);

export const sayExact = (iso: string): string => exact.format(asDate(iso));

export function Time({ at, ...text }: { at: string } & TextProps) {
  const now = useNow();
  const date = asDate(at);
  return (
    <Tooltip label={`${exact.format(date)} · ${date.toISOString()}`}>
      <Text component="time" dateTime={date.toISOString()} inherit span {...text}>
        {sayRelative(date, now)}
      </Text>
    </Tooltip>
  );
}

function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
