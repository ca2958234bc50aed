// The MCP server of one request: the tools a key may call, in both eras of the protocol. Before it:
// http.ts identified the caller. Stateless: every request carries its key, so nothing is remembered
// between requests.
import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  createMcpHandler,
  type InputRequiredResult,
  isLegacyRequest,
  type jsonSchemaValidator,
  type McpHandlerRequestOptions,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerCapabilities,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Caller } from '../accounts/directory.ts';
import { Problem } from '../errors.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { type NewVia, perform } from '../operations/perform.ts';
import { refuse } from '../operations/refusal.ts';
import type { Reader } from '../operations/whole-emails.ts';
import { problemOf } from '../process/connection-fault.ts';
import {
  askedInStream,
  askForApproval,
  askInStream,
  decidedMeanwhile,
  type HeldAnswer,
  isHeld,
  opensPages,
  sessionFor,
  wasOpened,
} from './asking.ts';
import { fence, unfenced } from './fence.ts';
import {
  APP_URI,
  APPS_EXTENSION,
  readResource,
  resourcesFor,
  showsHeld,
} from './held-email-app.ts';
import { instructionsFor } from './instructions.ts';
import { refusal, success } from './results.ts';
import { listedFields, type Tool } from './tool.ts';
import { type ToolCall, writeAnswer } from './tool-call.ts';
import { TOOLS } from './tools.ts';

export interface McpDeps extends OperationDeps {
  version: string;
}

export interface McpServer {
  /** Answers one HTTP request; the caller is in authInfo, the parsed body in parsedBody. */
  fetch(request: Request, options?: McpHandlerRequestOptions): Promise<Response>;
  /** The same for a call that is already parsed; undefined if there is no such tool. */
  answerCall(caller: Caller, call: ToolCall): Promise<string> | undefined;
  /**
   * The messages of a stream, its answer last, if a person may have to be asked on the way;
   * undefined if not.
   */
  askAndAnswer(
    caller: Caller,
    call: ToolCall,
    signal: AbortSignal,
  ): AsyncIterable<string> | undefined;
  close(): Promise<void>;
}

/** What a key may call rarely changes, and differs from key to key. */
const KEPT_FOR_5_MINUTES = { ttlMs: 300_000, cacheScope: 'private' } as const;
const CACHE_HINTS = {
  'server/discover': KEPT_FOR_5_MINUTES,
  'tools/list': KEPT_FOR_5_MINUTES,
  'prompts/list': KEPT_FOR_5_MINUTES,
  'resources/list': KEPT_FOR_5_MINUTES,
  'resources/templates/list': KEPT_FOR_5_MINUTES,
};

/** Only forms would need a validator, and the default builds an Ajv for every request. */
const noValidator: jsonSchemaValidator = {
  getValidator() {
    throw new Error('this server gives its clients no forms');
  },
};

const toolNamed = new Map(TOOLS.map((tool) => [tool.operation.name, tool]));

export function createMcpServer(deps: McpDeps): McpServer {
  const serverInfo = { name: 'sandmartin', title: 'Sandmartin', version: deps.version };

  function serverFor({ caller, reader }: Client, more: ServerCapabilities = {}): Server {
    const server = new Server(serverInfo, {
      capabilities: {
        ...{ tools: {}, prompts: {}, resources: {} },
        ...(showsHeld(caller) ? { extensions: { [APPS_EXTENSION]: {} } } : {}),
        ...more,
      },
      instructions: instructionsFor(caller),
      jsonSchemaValidator: noValidator,
      cacheHints: CACHE_HINTS,
    });
    server.setRequestHandler('tools/list', () => ({
      tools: TOOLS.filter((tool) => mayCall(caller, tool)).map((tool) => listedFor(caller, tool)),
    }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const tool = toolNamed.get(params.name);
      if (tool === undefined) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `There is no tool ${params.name.slice(0, 100)}; tools/list shows the ones you can call.`,
        );
      }
      return callOrAsk(deps, tool, caller, params.arguments ?? {}, mcpReq);
    });
    answerResources(server, deps, caller, reader);
    answerThatThereAreNone(server);
    return server;
  }

  const modern = createMcpHandler(({ authInfo }) => serverFor(clientIn(authInfo)), {
    legacy: 'reject',
    onerror: (error) => deps.log.debug({ err: error }, 'mcp request'),
  });

  /**
   * The package's own fallback answers 2025-era requests as event streams; this one answers them as
   * JSON.
   */
  async function answerLegacy(client: Client, request: Request, body: unknown): Promise<Response> {
    if (request.method !== 'POST') return methodNotAllowed();
    // Optional, and nothing is ever logged to clients: those that set a level get an answer instead
    // of an error. The conformance suite's logging-set-level requires it; 2026-07-28 deprecates it.
    const server = serverFor(client, { logging: {} });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      const response = await transport.handleRequest(request, { parsedBody: body });
      const session = sessionFor(body);
      if (session !== undefined) response.headers.set('mcp-session-id', session);
      return response;
    } finally {
      await server.close();
    }
  }

  const answerWith = async (called: Promise<ToolAnswer>, wanted: ToolCall): Promise<string> =>
    writeAnswer(wanted, (await called).result, serverInfo);

  async function* asking(
    caller: Caller,
    wanted: ToolCall,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    const tool = toolNamed.get(wanted.name)!;
    const { result, held } = await call(deps, tool, caller, wanted.arguments);
    if (held === undefined) return yield writeAnswer(wanted, result, serverInfo);
    yield JSON.stringify(askInStream(held));
    const told = await answer(deps, tool, caller, wanted.arguments, () =>
      decidedMeanwhile(deps, caller, held.id, { opened: true, signal }),
    );
    if (told.held === undefined) yield JSON.stringify(askedInStream(held));
    yield writeAnswer(wanted, told.result, serverInfo);
  }

  return {
    askAndAnswer: (caller, wanted, signal) =>
      wanted.opensPages && wanted.name === HOLDS && showsHeld(caller)
        ? asking(caller, wanted, signal)
        : undefined,
    async fetch(request, options) {
      if (!(await isLegacyRequest(request, options?.parsedBody))) {
        return await modern.fetch(request, options);
      }
      return await answerLegacy(clientIn(options?.authInfo), request, options?.parsedBody);
    },
    answerCall(caller, wanted) {
      const tool = toolNamed.get(wanted.name);
      return tool && answerWith(call(deps, tool, caller, wanted.arguments), wanted);
    },
    close: () => modern.close(),
  };
}

/** The only tool whose emails are held one by one. */
const HOLDS = 'send_email';

/**
 * A client that opens pages is asked to show its user the held email, and comes back with the id:
 * that second call sends nothing and only reports the decision.
 */
async function callOrAsk(
  deps: McpDeps,
  tool: Tool,
  caller: Caller,
  wanted: Record<string, unknown>,
  { envelope, inputResponses, signal, requestState }: ServerContext['mcpReq'],
): Promise<CallToolResult | InputRequiredResult> {
  if (tool.operation.name !== HOLDS) return (await call(deps, tool, caller, wanted)).result;
  const asked = requestState<string>();
  if (asked !== undefined) {
    const opened = wasOpened(inputResponses);
    const meanwhile = () => decidedMeanwhile(deps, caller, asked, { opened, signal });
    return (await answer(deps, tool, caller, wanted, meanwhile)).result;
  }
  const { result, held } = await call(deps, tool, caller, wanted);
  return held && opensPages(envelope) ? askForApproval(held) : result;
}

/** If emails can be held, hosts learn of the App that shows them. */
const listedFor = (caller: Caller, { listed }: Tool) =>
  listed.name === HOLDS && showsHeld(caller)
    ? { ...listed, _meta: { ui: { resourceUri: APP_URI } } }
    : listed;

function answerResources(server: Server, deps: McpDeps, caller: Caller, reader: Reader): void {
  server.setRequestHandler('resources/list', () => ({ resources: resourcesFor(caller) }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const found = await readResource(deps, caller, reader, uri).catch((error) => {
      if (error instanceof Problem && error.code !== 'unavailable') return undefined;
      throw error;
    });
    if (found === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [found] };
  });
}

/**
 * Clients that ask for prompts anyway get empty lists, not errors. The conformance suite's scenario
 * `caching` asks for these lists too.
 */
function answerThatThereAreNone(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: [] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${params.name}.`);
  });
}

/** Never recommends a tool that the caller may not use. */
function forCaller(caller: Caller, problem: Problem | undefined): Problem | undefined {
  if (problem?.see === undefined) return problem;
  const tool = toolNamed.get(problem.see);
  if (tool !== undefined && mayCall(caller, tool)) return problem;
  const { code, detail, retryAfterSeconds, limit, faults, errors, cause } = problem;
  return new Problem(code, detail, {
    ...{ faults, cause },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(limit === undefined ? {} : { limit }),
    ...(errors === undefined ? {} : { errors }),
  });
}

function mayCall(caller: Caller, { operation: { scope, ofAllEmails }, isFor }: Tool): boolean {
  if (ofAllEmails && caller.limits?.ownMessages) return false;
  return isFor === undefined ? scope === null || caller.scopes.has(scope) : isFor(caller);
}

interface ToolAnswer {
  result: CallToolResult;
  /** Set if the email waits for a person. */
  held?: HeldAnswer;
}

const call = (
  deps: McpDeps,
  tool: Tool,
  caller: Caller,
  wanted: Record<string, unknown>,
): Promise<ToolAnswer> =>
  answer(deps, tool, caller, wanted, (via) =>
    perform(deps, tool.operation, caller, unfenced(wanted), via),
  );

/** The operation's answer as a tool result, or why it was refused. */
async function answer(
  deps: McpDeps,
  { operation, advise, show, ours }: Tool,
  caller: Caller,
  wanted: Record<string, unknown>,
  work: (via: NewVia) => Promise<Record<string, unknown>>,
): Promise<ToolAnswer> {
  const via = { door: 'mcp' as const, requestId: `req_${randomUUID()}`, person: null };
  try {
    const shown = show(await work(via)) as Record<string, unknown>;
    const listed = listedFields(operation.output);
    const result = success(fence(shown, { ours, listed }));
    return isHeld(shown) ? { result, held: shown } : { result };
  } catch (error) {
    const about = {
      door: 'mcp',
      request: via.requestId,
      operation: operation.name,
      account: caller.accountId,
    };
    const refused = refuse(deps, about, error, (it) => forCaller(caller, problemOf(it)));
    const advice =
      refused.problem && (await advise?.(deps, caller, wanted, refused.problem).catch(() => ({})));
    return { result: refusal(refused, advice ?? {}, wanted) };
  }
}

/** Who asks, and who reads the answer. */
interface Client {
  caller: Caller;
  reader: Reader;
}

// Both pass through the package in the field that it leaves untouched. The key itself does not.
export const authInfoOf = (caller: Caller, reader: Reader) => ({
  token: '',
  clientId: caller.keyId ?? '',
  scopes: [...caller.scopes],
  extra: { caller, reader },
});

function clientIn(authInfo: { extra?: Record<string, unknown> } | undefined): Client {
  const client = authInfo?.extra;
  if (client?.caller === undefined) throw new Error('the door forgot to pass its caller on');
  return client as unknown as Client;
}

const methodNotAllowed = (): Response =>
  Response.json(
    { jsonrpc: '2.0', error: { code: -32000, message: 'Method not allowed.' }, id: null },
    { status: 405, headers: { allow: 'POST' } },
  );
