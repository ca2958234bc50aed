// What is wrong with a template, in words; the editor also marks the places.
import { Alert, List, Text } from '@mantine/core';
import { type Fault, SandmartinError } from '../../../../src/client/calls.ts';
import { capital } from '../../parts/status.tsx';

export function FaultList({
  faults,
  onGo,
}: {
  faults: readonly Fault[];
  onGo?: (fault: Fault) => void;
}) {
  return (
    <Alert color="red" mb="sm" role="alert" title="The template has an error">
      <List size="sm" listStyleType="none">
        {faults.map((fault) => (
          <List.Item key={`${fault.path} ${fault.line} ${fault.column} ${fault.message}`}>
            <Text span size="sm" fw={600}>
              {sayPlace(fault)}
            </Text>
            : {fault.message}
            {onGo && fault.line !== undefined && (
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

/** Why a template was refused: its faults with their places, otherwise the message itself. */
export function faultsOf(refusal: Error | null): readonly Fault[] {
  if (!(refusal instanceof SandmartinError) || refusal.code !== 'invalid') return [];
  const { faults, message } = refusal;
  return faults.length > 0 ? faults : [{ path: 'template', message }];
}

/** The part of the template that is wrong. A missing value is the fault of the sample. */
export const partOf = ({ path }: Fault): string =>
  path.startsWith('variables.') ? 'sample' : (/^(?:draft\.)?(\w+)/.exec(path)?.[1] ?? 'template');

function sayPlace(fault: Fault): string {
  const part = partOf(fault);
  const name = part === 'html' ? 'HTML' : capital(part);
  if (fault.line === undefined) return name;
  return `${name}, line ${fault.line}, column ${fault.column ?? 1}`;
}
