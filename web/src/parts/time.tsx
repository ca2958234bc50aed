// Times as people say them ("3 minutes ago"), with the exact time on hover and in the markup. They
// are updated while the page is open.
import { useSyncExternalStore } from 'react';
import { Tooltip } from './tooltip.tsx';

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
  // The past is rounded down, the future to the nearest: 2 days and 23 hours is "in 3 days".
  const say = seconds < 0 ? Math.trunc : Math.round;
  return relative.format(say(seconds / divisor), unit);
}

/** Timeline times come without a zone suffix; they are UTC. */
export const asDate = (iso: string): Date =>
  new Date(/(?:Z|[+-]\d\d:?\d\d)$/.test(iso) ? iso : `${iso}Z`);

export const sayExact = (iso: string): string => exact.format(asDate(iso));

const moment = new Intl.DateTimeFormat(undefined, {
  ...{ year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
});

/** The day and the second, for timelines whose steps are close together. */
export const sayMoment = (iso: string): string => moment.format(asDate(iso));

const spans: [ms: number, unit: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`: its two largest units. */
export function sayDuration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const first = spans.findIndex(([length]) => ms >= length);
  const [length, unit] = spans[first]!;
  const next = spans[first + 1];
  const rest = next ? Math.floor((ms % length) / next[0]) : 0;
  return `${Math.floor(ms / length)} ${unit}${rest > 0 ? ` ${rest} ${next![1]}` : ''}`;
}

export function Time({ at }: { at: string }) {
  const date = asDate(at);
  const said = useSyncExternalStore(watchClock, () => sayRelative(date, new Date()));
  return (
    <Tooltip label={`${exact.format(date)} · ${date.toISOString()}`}>
      <time dateTime={date.toISOString()}>{said}</time>
    </Tooltip>
  );
}

/** For inputs of the type `datetime-local`, which speak local time without a zone. */
export function localInput(iso: string | undefined): string {
  if (!iso) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export const readLocalInput = (local: string): string =>
  local === '' ? '' : new Date(local).toISOString();

const watchers = new Set<() => void>();
let clock: ReturnType<typeof setInterval> | undefined;

/** One clock for all times of a page: a long list has thousands. */
function watchClock(watcher: () => void): () => void {
  watchers.add(watcher);
  clock ??= setInterval(() => {
    for (const one of watchers) one();
  }, 10_000);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(clock);
    clock = undefined;
  };
}
