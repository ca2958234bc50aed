// What receivers and readers would object to in the email, below its preview. Findings are advice:
// a template can be saved with them.
import { Alert, List, Text } from '@mantine/core';
import type { LintFinding } from '../../../../src/client/operations.ts';

export function Findings({ findings }: { findings: readonly LintFinding[] }) {
  if (findings.length === 0) return null;
  const broken = findings.some(({ severity }) => severity === 'error');
  const title =
    findings.length === 1 ? 'One thing to look at' : `${findings.length} things to look at`;
  return (
    <Alert color={broken ? 'orange' : 'yellow'} variant="light" mb="sm" title={title}>
      <List size="sm" listStyleType="none" spacing="xs">
        {findings.map(({ rule, message, hint }) => (
          <List.Item key={rule}>
            <Text span size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {message}
            </Text>{' '}
            {hint}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
