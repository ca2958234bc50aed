// Parts of an email that several answers show: headers, and files without their content.
import { z } from 'zod';

export const headerList = (value: string) =>
  z.array(
    z.object({
      name: z.string().describe('Name of the header.'),
      value: z.string().describe(value),
    }),
  );

const fileFields = {
  filename: z.string().describe('File name.'),
  content_type: z.string().describe('Media type.'),
  size: z.number().int().describe('Bytes.'),
};

export const fileList = <More extends z.ZodRawShape>(more: More = {} as More) =>
  z.array(z.object({ ...more, ...fileFields })).describe('Files, without what is in them.');
