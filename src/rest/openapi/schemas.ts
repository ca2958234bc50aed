// The schemas of the document: zod's as JSON Schema, those with a name (`meta({ id })`) once under
// components.
import { z } from 'zod';
import { PROBLEM_CODES } from '../../errors.ts';

export type Schema = Record<string, unknown>;

export class Schemas {
  readonly named: Record<string, Schema>;

  constructor(named: Record<string, Schema>) {
    this.named = named;
  }

  /** A reference if the schema has a name, otherwise the schema itself. */
  of(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const { id, ...made } = this.inline(schema, io) as Schema & { id?: string };
    return id === undefined ? made : this.name(id, made);
  }

  inline(schema: z.ZodType, io: 'input' | 'output'): Schema {
    const {
      $schema: _dialect,
      $defs = {},
      ...made
    } = z.toJSONSchema(schema, {
      io,
      target: 'draft-2020-12',
      override: ({ jsonSchema }) => {
        // Answers may gain fields.
        if (io === 'output' && jsonSchema.additionalProperties === false) {
          delete jsonSchema.additionalProperties;
        }
      },
    }) as Schema & { $defs?: Record<string, Schema> };
    for (const [name, definition] of Object.entries($defs)) {
      const { id: _same, ...rest } = pointToComponents(definition);
      this.name(name, rest);
    }
    return pointToComponents(made);
  }

  name(name: string, schema: Schema): Schema {
    const known = this.named[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas are called ${name}. Give one of them another name.`);
    }
    this.named[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }
}

/** `send_email` → `SendEmail`. */
export const typeName = (name: string): string =>
  name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const pointToComponents = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));

export const PROBLEM: Schema = {
  type: 'object',
  description: 'Why a call was refused.',
  required: ['detail', 'code'],
  properties: {
    detail: { type: 'string', description: 'What is wrong and what to do about it.' },
    code: {
      type: 'string',
      description: `The kind of problem, for programs: ${[...PROBLEM_CODES, 'internal'].join(', ')}. There may be more.`,
    },
    data: {
      type: 'array',
      items: { type: 'object' },
      maxItems: 0,
      description: 'For a batch: empty, because nothing was queued.',
    },
    errors: {
      type: 'array',
      description: 'For a batch: which emails are at fault, and why.',
      items: { $ref: '#/components/schemas/BatchError' },
    },
    faults: {
      type: 'array',
      description: 'The fields at fault, if any, and what is wrong with each.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'Which field, such as `to[2]`.' },
          message: { type: 'string', description: 'What is wrong with it.' },
          line: { type: 'integer', description: 'The line, in the text of a template.' },
          column: { type: 'integer', description: 'The column in that line.' },
        },
      },
    },
  },
};
