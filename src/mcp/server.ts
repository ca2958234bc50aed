// The MCP server of one request: the tools a key may call, in both eras of the protocol. Before:
// http.ts knows the caller. Stateless: every request brings its key, so nothing is remembered
// between two of them.
import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  type jsonSchemaValidator,
  type McpHandlerRequestOptions,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerCapabilities,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Caller } from '../accounts/directory.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { perform } from '../operations/perform.ts';
import { refuse } from '../operations/refusal.ts';
import { instructionsFor } from './instructions.ts';
import { refusal, success } from './results.ts';
import type { Tool } from './tool.ts';
import { type ToolCall, writeAnswer } from './tool-call.ts';
import { TOOLS } from './tools.ts';

export interface McpDeps extends OperationDeps {
  version: string;
}

export interface McpServer {
  /**
   * Answers one HTTP request; the caller is in authInfo, what was parsed from the body in
   * parsedBody.
   */
  fetch(request: Request, options?: McpHandlerRequestOptions): Promise<Response>;
  /** The same for a call that was read already; undefined when there is no such tool. */
  answerCall(caller: Caller, call: ToolCall): Promise<string> | undefined;
  close(): Promise<void>;
}

/** What a key may call changes rarely, and only for that key. */
const KEPT_FOR_5_MINUTES = { ttlMs: 300_000, cacheScope: 'private' } as const;
const CACHE_HINTS = {
  'server/discover': KEPT_FOR_5_MINUTES,
  'tools/list': KEPT_FOR_5_MINUTES,
  'prompts/list': KEPT_FOR_5_MINUTES,
  'resources/list': KEPT_FOR_5_MINUTES,
  'resources/templates/list': KEPT_FOR_5_MINUTES,
};

/** Only elicitation would need one, and the default builds an Ajv for every request. */
const noValidator: jsonSchemaValidator = {
  getValidator() {
    throw new Error('this server asks its clients nothing');
  },
};

const toolNamed = new Map(TOOLS.map((tool) => [tool.operation.name, tool]));

export function createMcpServer(deps: McpDeps): McpServer {
  const serverInfo = { name: 'sandmartin', title: 'Sandmartin', version: deps.version };

  function serverFor(caller: Caller, more: ServerCapabilities = {}): Server {
    const server = new Server(serverInfo, {
      capabilities: { tools: {}, prompts: {}, resources: {}, ...more },
      instructions: instructionsFor(caller),
      jsonSchemaValidator: noValidator,
      cacheHints: CACHE_HINTS,
    });
    server.setRequestHandler('tools/list', () => ({
      tools: TOOLS.filter((tool) => mayCall(caller, tool)).map((tool) => tool.listed),
    }));
    server.setRequestHandler('tools/call', ({ params }) => {
      const tool = toolNamed.get(params.name);
      if (tool === undefined) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `There is no tool ${params.name.slice(0, 100)}; tools/list shows those there are.`,
        );
      }
      return call(deps, tool, caller, params.arguments ?? {});
    });
    answerThatThereAreNone(server);
    return server;
  }

  const modern = createMcpHandler(({ authInfo }) => serverFor(callerIn(authInfo)), {
    legacy: 'reject',
    onerror: (error) => deps.log.debug({ err: error }, 'mcp request'),
  });

  /**
   * The package's own fallback answers 2025-era requests as event streams; this one answers them as
   * JSON.
   */
  async function answerLegacy(caller: Caller, request: Request, body: unknown): Promise<Response> {
    if (request.method !== 'POST') return methodNotAllowed();
    // Optional, and nothing is ever logged to clients: those that set a level get an answer instead
    // of an error. The conformance suite's logging-set-level asks for it. 2026-07-28 has deprecated
    // it.
    const server = serverFor(caller, { logging: {} });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody: body });
    } finally {
      await server.close();
    }
  }

  const answerWith = async (result: Promise<CallToolResult>, wanted: ToolCall): Promise<string> =>
    writeAnswer(wanted, await result, serverInfo);

  return {
    async fetch(request, options) {
      if (!(await isLegacyRequest(request, options?.parsedBody))) {
        return await modern.fetch(request, options);
      }
      return await answerLegacy(callerIn(options?.authInfo), request, options?.parsedBody);
    },
    answerCall(caller, wanted) {
      const tool = toolNamed.get(wanted.name);
      return tool && answerWith(call(deps, tool, caller, wanted.arguments), wanted);
    },
    close: () => modern.close(),
  };
}

/**
 * Clients that ask for prompts and resources all the same get empty lists, not errors. The
 * conformance suite's scenario `caching` asks for these lists too.
 */
function answerThatThereAreNone(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: [] }));
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${params.name}.`);
  });
  server.setRequestHandler('resources/read', ({ params }) => {
    throw new ResourceNotFoundError(params.uri);
  });
}

const mayCall = (caller: Caller, { operation: { scope } }: Tool): boolean =>
  scope === null || caller.scopes.has(scope);

async function call(
  deps: McpDeps,
  { operation, advise, show }: Tool,
  caller: Caller,
  wanted: Record<string, unknown>,
): Promise<CallToolResult> {
  const via = { door: 'mcp' as const, requestId: `req_${randomUUID()}`, person: null };
  try {
    return success(show(await perform(deps, operation, caller, wanted, via)));
  } catch (error) {
    const about = {
      door: 'mcp',
      request: via.requestId,
      operation: operation.name,
      account: caller.accountId,
    };
    const refused = refuse(deps, about, error);
    const advice =
      refused.problem && (await advise?.(deps, caller, wanted, refused.problem).catch(() => ({})));
    return refusal(refused, advice ?? {});
  }
}

// The caller travels through the package in the field it passes on untouched. The key itself does
// not.
export const authInfoOf = (caller: Caller) => ({
  token: '',
  clientId: caller.keyId ?? '',
  scopes: [...caller.scopes],
  extra: { caller },
});

function callerIn(authInfo: { extra?: Record<string, unknown> } | undefined): Caller {
  const caller = authInfo?.extra?.caller;
  if (caller === undefined) throw new Error('the door forgot to pass its caller on');
  return caller as Caller;
}

const methodNotAllowed = (): Response =>
  Response.json(
    { jsonrpc: '2.0', error: { code: -32000, message: 'Method not allowed.' }, id: null },
    { status: 405, headers: { allow: 'POST' } },
  );
