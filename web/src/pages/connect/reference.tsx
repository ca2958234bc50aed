// The API reference, from the service's own openapi.json: what each operation is for, the scope it
// needs, and its fields. Linked from Connect.
import { Code, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Fault } from '../../parts/fault.tsx';
import { BackIcon } from '../../parts/icons.tsx';
import { SearchBox } from '../../parts/list.tsx';
import { LoadingRows, Page, Section, TableBox } from '../../parts/page.tsx';
import { useSearchText } from '../../parts/typed.ts';
import { type Field, fieldsOf, type OpenApi, type Operation, operationsOf } from './openapi.ts';
import { openApiQuery } from './openapi-query.ts';

export function ReferencePage() {
  const asked = useSearchText();
  const document = useQuery(openApiQuery);
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
          <div className="operations">
            {operations.map((one) => (
              <OperationLine key={one.id} operation={one} document={document.data!} />
            ))}
          </div>
        </Section>
      ))}
      {document.data && groups.length === 0 && <Text size="sm">No operation matches.</Text>}
    </Page>
  );
}

/**
 * Plain elements, and fields only when they are opened: a hundred rows with a table each took a
 * third of a second.
 */
function OperationLine({ operation, document }: { operation: Operation; document: OpenApi }) {
  const { method, path, title, description } = operation;
  const [isOpen, open] = useState(false);
  return (
    <div className="operation">
      <button
        type="button"
        className="operation-line"
        aria-expanded={isOpen}
        onClick={() => open(!isOpen)}
      >
        <span className="operation-method" data-reads={method === 'GET'}>
          {method}
        </span>
        <code>{path}</code>
        <span className="operation-title">{title}</span>
      </button>
      {isOpen && (
        <div className="operation-fields">
          <Text size="sm" mb="md">
            {description}
          </Text>
          <Fields name="Takes" fields={fieldsOf(document, operation, 'request')} />
          <Fields name="Answers" fields={fieldsOf(document, operation, 'answer')} />
        </div>
      )}
    </div>
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
