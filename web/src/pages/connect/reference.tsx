// The API's reference, out of the service's own openapi.json: what each operation is for, the scope
// it takes, and its fields. Linked from Connect.
import '@mantine/core/styles/Accordion.css';
import { Accordion, Badge, Code, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Fault } from '../../parts/fault.tsx';
import { BackIcon } from '../../parts/icons.tsx';
import { SearchBox } from '../../parts/list.tsx';
import { LoadingRows, Page, Section, TableBox } from '../../parts/page.tsx';
import { useSearchText } from '../../parts/typed.ts';
import { type Field, fieldsOf, type OpenApi, type Operation, operationsOf } from './openapi.ts';

export function ReferencePage() {
  const asked = useSearchText();
  const document = useQuery({ queryKey: ['openapi'], queryFn: readDocument });
  const groups = document.data ? operationsOf(document.data, asked.search) : [];
  return (
    <Page
      title="API reference"
      lead="Every operation of this service, from its openapi.json."
      back={
        <Link to="/connect" className="back-link">
          <BackIcon size={15} /> Connect
        </Link>
      }
    >
      <SearchBox label="Search operations" {...asked} />
      {document.isError && <Fault fault={document.error} retry={document.refetch} />}
      {document.isPending && <LoadingRows rows={10} />}
      {groups.map(({ tag, operations }) => (
        <Section key={tag} title={tag}>
          <Operations operations={operations} document={document.data!} />
        </Section>
      ))}
      {document.data && groups.length === 0 && <Text size="sm">No operation matches.</Text>}
    </Page>
  );
}

async function readDocument(): Promise<OpenApi> {
  const answer = await fetch('./openapi.json');
  if (!answer.ok) throw new Error(`The service answered ${answer.status} to openapi.json.`);
  return (await answer.json()) as OpenApi;
}

function Operations({ operations, document }: { operations: Operation[]; document: OpenApi }) {
  const [opened, open] = useState<string | null>(null);
  return (
    <Accordion variant="contained" chevronPosition="left" value={opened} onChange={open}>
      {operations.map((one) => (
        <OperationLine
          key={one.id}
          operation={one}
          document={document}
          isOpen={one.id === opened}
        />
      ))}
    </Accordion>
  );
}

/** Its fields are drawn once they can be seen: a hundred tables took most of the page's time. */
function OperationLine({
  operation,
  document,
  isOpen,
}: {
  operation: Operation;
  document: OpenApi;
  isOpen: boolean;
}) {
  const { id, method, path, title, description } = operation;
  return (
    <Accordion.Item value={id}>
      <Accordion.Control>
        <Group gap="sm">
          <Badge color={method === 'GET' ? 'gray' : 'martin'}>{method}</Badge>
          <Code style={{ overflowWrap: 'anywhere' }}>{path}</Code>
          <Text size="sm" c="dimmed">
            {title}
          </Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        {isOpen && (
          <>
            <Text size="sm" mb="md">
              {description}
            </Text>
            <Fields name="Takes" fields={fieldsOf(document, operation, 'request')} />
            <Fields name="Answers" fields={fieldsOf(document, operation, 'answer')} />
          </>
        )}
      </Accordion.Panel>
    </Accordion.Item>
  );
}

function Fields({ name, fields }: { name: string; fields: Field[] }) {
  if (fields.length === 0) return null;
  return (
    <>
      <Text size="sm" fw={600} mb={4}>
        {name}
      </Text>
      <TableBox label={name}>
        <Table mb="md">
          <Table.Tbody>
            {fields.map((field) => (
              <Table.Tr key={`${field.where} ${field.name}`}>
                <Table.Td w={220}>
                  <Code>{field.name}</Code>
                </Table.Td>
                <Table.Td w={180} data-label="Type">
                  <Text size="xs" c="dimmed">
                    {[field.type, field.where, field.required && 'required']
                      .filter(Boolean)
                      .join(' · ')}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Text size="sm">{field.description}</Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableBox>
    </>
  );
}
