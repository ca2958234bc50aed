// Beside a domain's records: which provider hosts its DNS, the zone file, and a check that repeats
// while something is missing.
import { Anchor, Button, Group, Text } from '@mantine/core';
import { useEffect } from 'react';
import type { Domain, DomainRecord } from '../../../../src/client/operations.ts';
import { type Output, useChange } from '../../operations.ts';
import { downloadText } from '../../parts/download.ts';
import { DownloadIcon } from '../../parts/icons.tsx';
import { zoneFileOf } from './zone-file.ts';

type DomainDns = Output<'domains.getDns'>;

/** Names of the service that no public DNS server answers for. */
export const isPlaceholder = ({ value }: DomainRecord, bounceDomain: string): boolean =>
  value.includes(bounceDomain) &&
  /(?:^|\.)(?:localhost|local|test|example|invalid|internal)$/.test(bounceDomain);

const EVERY_MS = 10_000;
/** A page that was left open does not query DNS all night. */
const AT_MOST_MS = 30 * 60_000;

/** Live ticks: a published record is seen within seconds. */
export function useRecheck(domain: string, wanted: boolean): void {
  const { mutate } = useChange('domains.check', { changes: ['domains.list'] });
  useEffect(() => {
    if (!wanted) return;
    const since = Date.now();
    const timer = setInterval(() => {
      if (Date.now() - since > AT_MOST_MS) clearInterval(timer);
      else if (document.visibilityState === 'visible') mutate({ domain });
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [domain, wanted, mutate]);
}

interface DnsHelpProps {
  domain: Domain;
  dns: DomainDns | undefined;
  /** Without records that have no value yet. */
  records: DomainRecord[];
  checking: boolean;
}

export function DnsHelp({ domain, dns, records, checking }: DnsHelpProps) {
  return (
    <Group justify="space-between" gap="xs" mb="sm" align="flex-start">
      <div>
        {dns?.zone && (
          <Text size="sm">
            {dns.provider ? (
              <>
                The DNS of {dns.zone} is at <b>{dns.provider.name}</b>:{' '}
                <Anchor
                  href={dns.provider.url}
                  target="_blank"
                  rel="noreferrer"
                  size="sm"
                  className="plain-link"
                >
                  open it
                </Anchor>
                .{' '}
              </>
            ) : (
              <>
                The DNS of {dns.zone} is served by {dns.name_servers[0]}.{' '}
              </>
            )}
            Names leave out {dns.zone}, which the form adds.
          </Text>
        )}
        {checking && (
          <Text size="xs" c="dimmed" role="status">
            Checked automatically every 10 seconds while this page is open.
          </Text>
        )}
      </div>
      <Button
        size="xs"
        variant="default"
        leftSection={<DownloadIcon size={14} />}
        onClick={() => downloadText(`${domain.domain}.zone`, zoneFileOf(domain.domain, records))}
      >
        Zone file
      </Button>
    </Group>
  );
}
