// The host of an MCP App, as the official package has it, for held-email-app.test.ts: frames the
// App under the policy that hosts give, passes a tool's result on, and hands what the App asks for
// to the test.
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'";

globalThis.startHost = async ({ html, result, theme }) => {
  const frame = document.createElement('iframe');
  frame.sandbox.add('allow-scripts');
  frame.title = 'App';
  document.body.append(frame);
  const bridge = new AppBridge(
    null,
    { name: 'host', version: '1' },
    { openLinks: {}, serverResources: {}, serverTools: {} },
    { hostContext: { theme } },
  );
  bridge.oninitialized = () => bridge.sendToolResult(result);
  bridge.onreadresource = ({ uri }) => globalThis.readResource(uri);
  bridge.onopenlink = async ({ url }) => {
    await globalThis.openLink(url);
    return {};
  };
  bridge.oncalltool = async (params) => {
    await globalThis.calledTool(params.name);
    return { content: [] };
  };
  bridge.onsizechange = ({ height }) => {
    frame.style.height = `${height}px`;
  };
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html.replace(
    '<head>',
    `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
  );
};
