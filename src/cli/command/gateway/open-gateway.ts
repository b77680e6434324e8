import { startGateway, type Gateway } from '../../../gateway/gateway.ts'
import { createRoutingTable } from '../../../gateway/routing-table.ts'
import { defined } from '../../../model/defined.ts'
import type { WireId } from '../../../model/turn.ts'
import { getErrorMessage } from '../../../model/error-message.ts'
import { type Endpoint, type ResolveError, resolveModel } from '../../../provider/index.ts'
import { completeProfile } from '../../../provider/forwarding.ts'
import { loadWire } from '../../../wire/wires.ts'
import { parsePort } from '../../args/parse-port.ts'
import { readSettings } from '../../config/read-settings.ts'
import type { Config } from '../../config/schema.ts'
import { createSecretRedactor, createTrafficRecorder } from '../../recording/traffic-recorder.ts'
import { createLazyCatalog } from '../../setup/catalog.ts'
import { detectModel, listProviders } from '../../setup/choose-model.ts'
import { isRehearsalModel, startRehearsalModel } from '../../setup/rehearsal-model.ts'
import { readSavedCapabilities } from '../../setup/saved-capabilities.ts'
import { createCredentialSources } from '../../sign-in/credential-sources.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'
import { getGatewayFolder, readEnvelopeKey } from './envelope-key.ts'
import { openSpendingFiles } from './spending-file.ts'

interface GatewayArgs {
  readonly port?: string
  readonly host?: string
  readonly token?: string
  readonly model?: string
  readonly record?: string
  /** The client of requests that do not name theirs. */
  readonly client?: string
}

export interface OpenedGateway extends Gateway {
  /** The models that clients can ask for. */
  readonly models: readonly string[]
  /** The wire of all models, if it is one. */
  readonly wire?: WireId
  readonly hasEncryptedReasoning: boolean
}

/** Starts a gateway with the settings and the keys of the user. */
export async function openGateway(args: GatewayArgs): Promise<OpenedGateway> {
  const { config } = readSettings(process.cwd())
  const { routes = [], passKeys, maxCostPerDay } = config.gateway ?? {}
  const model = args.model ?? (routes.length === 0 ? await detectModel(config) : undefined)
  if (model === undefined && routes.length === 0) throw new UserError(NO_MODEL_MESSAGE, EXIT_CODE.signIn)
  const resolver = createResolver(config)
  const endpoints = await checkModels(createRoutingTable(routes, model).listTargets(), resolver.resolve)
  const warn = (message: string) => void process.stderr.write(`dragoman: ${message}\n`)
  const recorder = args.record === undefined ? undefined : createTrafficRecorder({ record: args.record }, warn)
  const catalog = await createLazyCatalog(config)()
  const gateway = await start({
    resolveModel: resolver.resolve,
    routes,
    envelopeKey: readEnvelopeKey(),
    price: catalog.cost,
    getContextWindow: (name) => catalog.card(splitModelName(name))?.window,
    spending: openSpendingFiles(getGatewayFolder(), warn),
    redact: createSecretRedactor().redact,
    port: parsePort(args.port),
    ...(recorder && { httpClient: recorder.httpClient }),
    ...(config.requestTimeout !== undefined && { maxSilenceMs: config.requestTimeout * 1000 }),
    ...defined({ model, host: args.host, token: args.token, client: args.client, passKeys, maxCostPerDay }),
  })
  return {
    ...gateway,
    models: createRoutingTable(routes, model).listModels(),
    ...(await describeEndpoints(endpoints)),
    async close() {
      await gateway.close()
      recorder?.close()
      await resolver.close()
    },
  }
}

function splitModelName(name: string) {
  const [provider = '', ...rest] = name.split('/')
  return { provider, model: rest.join('/') }
}

const NO_MODEL_MESSAGE =
  'no model is configured: set a key (GEMINI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, …), use --model, or set gateway.routes in your settings'

async function start(options: Parameters<typeof startGateway>[0]): Promise<Gateway> {
  try {
    return await startGateway(options)
  } catch (error) {
    throw new UserError(`the gateway cannot start: ${getErrorMessage(error)}`, EXIT_CODE.failure)
  }
}

/** Resolves the names of models as a run does; a scripted model is started when it is first named. */
function createResolver(config: Config) {
  const closers: (() => Promise<void>)[] = []
  return {
    resolve: async (name: string): Promise<Endpoint | ResolveError> => {
      if (!isRehearsalModel(name))
        return resolveModel(name, process.env, listProviders(config), createCredentialSources(), readSavedCapabilities)
      const { endpoint, close } = await startRehearsalModel(name, 'hello')
      closers.push(close)
      return endpoint
    },
    close: async (): Promise<void> => void (await Promise.all(closers.map((close) => close()))),
  }
}

/** A wrong name is an error now, not at the first request. A scripted model is not started for that. */
async function checkModels(
  names: readonly string[],
  resolve: (name: string) => Promise<Endpoint | ResolveError>,
): Promise<(Endpoint | undefined)[]> {
  const endpoints: (Endpoint | undefined)[] = []
  for (const name of names) {
    const found = isRehearsalModel(name) ? undefined : await resolve(name)
    if (found && 'problem' in found) throw new UserError(found.problem, found.code)
    endpoints.push(found)
  }
  return endpoints
}

/** What all of them have in common. */
async function describeEndpoints(endpoints: readonly (Endpoint | undefined)[]) {
  const wires = new Set(endpoints.map((one) => one?.wire))
  const isEncrypted = await Promise.all(endpoints.map(returnsEncryptedReasoning))
  return {
    hasEncryptedReasoning: isEncrypted.every(Boolean),
    ...(wires.size === 1 && defined({ wire: [...wires][0] })),
  }
}

async function returnsEncryptedReasoning(endpoint: Endpoint | undefined): Promise<boolean> {
  if (!endpoint) return false
  const { encryptedReasoning, thinking } = completeProfile((await loadWire(endpoint.wire)).profile, endpoint.profile)
  return encryptedReasoning && thinking !== 'none'
}
