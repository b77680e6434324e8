import { GATEWAY_CLIENTS } from '../../../gateway/clients/all-clients.ts'
import type { ClientSetup, GatewayClient } from '../../../gateway/clients/client.ts'
import { createInspectorUrl } from '../../../gateway/inspector/start-inspector.ts'
import { defined } from '../../../model/defined.ts'
import { isLoopback } from '../../../provider/index.ts'
import { findSubcommand, type OptionValues, parseCommandLine, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { printHelp } from '../../args/print-help.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'
import { openGateway } from './open-gateway.ts'
import { prepareClient, runClient } from './run-client.ts'
import { GATEWAY_COMMAND } from './spec.ts'

const COMMAND = 'dragoman gateway'

type GatewayValues = OptionValues<typeof GATEWAY_COMMAND.options>

export async function runGatewayCommand(argv: string[]): Promise<number> {
  const end = argv.indexOf('--')
  const [own, clientArgs] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)]
  const { values, positionals } = parseCommandLine(COMMAND, GATEWAY_COMMAND.options, own)
  if (values.help) return printHelp('gateway')
  const [subcommand, name] = positionals
  if (subcommand === undefined) return serve(values)
  findSubcommand(COMMAND, GATEWAY_COMMAND.subcommands, subcommand)
  rejectExtraArgs(`${COMMAND} ${subcommand}`, positionals, 2)
  const client = findClient(subcommand, name)
  return subcommand === 'run' ? run(client, values, clientArgs) : printSetup(client, values)
}

async function serve(values: GatewayValues): Promise<number> {
  const gateway = await openGateway(defined(values))
  const { url, token } = gateway
  const inspector = createInspectorUrl(url, token)
  if (values.json) process.stdout.write(`${JSON.stringify({ url, token, inspector })}\n`)
  else {
    process.stdout.write(`${url}\n`)
    process.stderr.write(
      `Token: ${token}\nAnthropic: ${url}   OpenAI: ${url}/v1   Gemini: ${url}\nInspector: ${inspector}\nPress Ctrl-C to stop.\n`,
    )
  }
  if (!isLoopback(values.host ?? '127.0.0.1'))
    process.stderr.write('dragoman: other machines can reach the gateway, and the connection is not encrypted\n')
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await gateway.close()
  return EXIT_CODE.ok
}

async function run(client: GatewayClient, values: GatewayValues, args: readonly string[]): Promise<number> {
  const { port, model, record } = values
  const gateway = await openGateway(defined({ port, model, record, client: client.id }))
  process.stderr.write(`dragoman: what is sent is shown at ${createInspectorUrl(gateway.url, gateway.token)}\n`)
  try {
    return await runClient(client, gateway, args)
  } finally {
    await gateway.close()
  }
}

function printSetup(client: GatewayClient, { url, token, model, json }: GatewayValues): number {
  if (url === undefined || token === undefined)
    throw new UserError(
      `${COMMAND} env needs --url and --token of a running gateway (dragoman gateway --json prints them)`,
    )
  const setup = prepareClient(client, { url, token, models: model === undefined ? [] : model.split(',') })
  const { env, unset = [], args } = setup
  process.stdout.write(json ? `${JSON.stringify({ env, unset, args })}\n` : formatSetup(client, setup))
  return EXIT_CODE.ok
}

/** For a shell to evaluate; the command is a comment. */
function formatSetup({ id }: GatewayClient, { env, unset = [], args }: ClientSetup): string {
  return [
    ...unset.map((name) => `unset ${name}`),
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
    `# ${[id, ...args.map(quote)].join(' ')}`,
    '',
  ].join('\n')
}

function quote(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function findClient(subcommand: string, name: string | undefined): GatewayClient {
  const names = GATEWAY_CLIENTS.map(({ id }) => id).join(', ')
  if (name === undefined) throw new UserError(`${COMMAND} ${subcommand} needs a client: ${names}`)
  const client = GATEWAY_CLIENTS.find(({ id }) => id === name)
  if (!client) throw new UserError(`unknown client “${name}”; the clients are ${names}`)
  return client
}
