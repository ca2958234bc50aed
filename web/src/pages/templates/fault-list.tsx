// Where a template is wrong, in words; the editor also marks the places.
import { Alert, List, Text } from '@mantine/core';
import type { TemplateFault } from '../../../../src/dashboard/views/templates.ts';
import { capital } from '../../parts/status.tsx';

export function FaultList({
  faults,
  onGo,
}: {
  faults: TemplateFault[];
  onGo?: (fault: TemplateFault) => void;
}) {
  return (
    <Alert color="red" mb="sm" role="alert" title="The template has a fault">
      <List size="sm" listStyleType="none">
        {faults.map((fault) => (
          <List.Item key={`${fault.part} ${fault.line} ${fault.column} ${fault.message}`}>
            <Text span size="sm" fw={600}>
              {sayPlace(fault)}
            </Text>
            : {fault.message}
            {onGo && fault.line !== null && (
              <>
                {' '}
                <button type="button" className="text-button" onClick={() => onGo(fault)}>
                  Show
                </button>
              </>
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function sayPlace({ part, line, column }: TemplateFault): string {
  const name = part === 'html' ? 'HTML' : capital(part);
  if (line === null) return name;
  return `${name}, line ${line}${column === null ? '' : `, column ${column}`}`;
}
