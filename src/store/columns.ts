// Columns of a batch: one list gives the names and types of a statement's parameters, and the value
// of each for a row. Batches go to PostgreSQL as one array per column (binary.ts), and nobody
// counts parameters by hand.
import { type BinaryValue, type ElementName, type ElementValue, encodeArray } from './binary.ts';

/** One column: its type, and its value for a row. */
export interface Column<Row, Type extends ElementName = ElementName> {
  type: Type;
  of(row: Row): ElementValue[Type] | null;
}

/** One kind per type, so that the value fits the type. */
type AnyColumn<Row> = { [Type in ElementName]: Column<Row, Type> }[ElementName];

export interface ColumnList<Row> {
  /** How many parameters it takes. */
  length: number;
  /** Name and type of each, in order. */
  types: readonly (readonly [name: string, type: ElementName])[];
  /**
   * For a call of a function: `p_id => $1::uuid[], …`. By name, so the order in which the function
   * declares them does not matter. If two lists have the same names, one takes another prefix.
   */
  asArguments(first?: number, prefix?: string): string;
  /** For a statement: `unnest($1::uuid[], …) AS alias (id, …)`. */
  asRows(alias: string, first?: number): string;
  /** The parameters. */
  values(rows: readonly Row[]): (BinaryValue | null)[];
}

export function columnList<Row>(columns: Record<string, AnyColumn<Row>>): ColumnList<Row> {
  const list = Object.values(columns) as Column<Row>[];
  const types = Object.entries(columns).map(([name, { type }]) => [name, type] as const);
  const parameters = (first: number) => types.map(([, type], n) => `$${first + n}::${type}[]`);
  return {
    length: list.length,
    types,
    asArguments: (first = 1, prefix = 'p_') =>
      parameters(first)
        .map((parameter, n) => `${prefix}${types[n]![0]} => ${parameter}`)
        .join(', '),
    asRows: (alias, first = 1) =>
      `unnest(${parameters(first).join(', ')}) AS ${alias} (${Object.keys(columns).join(', ')})`,
    values: (rows) => list.map(({ type, of }) => encodeArray(type, rows.map(of))),
  };
}
