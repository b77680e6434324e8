import { defined } from '../model/defined.ts'

/** Which models answer what clients ask for. */
export interface GatewayRoute {
  /** The model that a client asks for; `*` stands for any text. */
  readonly match: string
  /** Only for this client, such as `claude` or `codex`. */
  readonly client?: string
  /** `provider/model`; each of a list is used only if the one before cannot answer. */
  readonly to: string | readonly string[]
  /** US dollars per day and client. */
  readonly maxCostPerDay?: number
  /** Requests at the same time; others wait. */
  readonly concurrency?: number
}

/** The models for a request, in the order of fallback, with their limits. */
export interface ChosenRoute {
  /** The same for all requests that share the limits. */
  readonly key: string
  readonly models: readonly string[]
  readonly maxCostPerDay?: number
  readonly concurrency?: number
}

export type RoutingTable = ReturnType<typeof createRoutingTable>

/** `model` is for everything that has no route. */
export function createRoutingTable(routes: readonly GatewayRoute[], model?: string) {
  const compiled = routes.map((route) => ({ route, pattern: toPattern(route.match) }))
  return {
    /** Undefined if nothing is configured for the model; then a literal `provider/model` may still work. */
    choose(requested: string, client: string): ChosenRoute | undefined {
      const found = compiled.findIndex(
        ({ route, pattern }) => (route.client === undefined || route.client === client) && pattern.test(requested),
      )
      const route = compiled[found]?.route
      if (!route) return model === undefined ? undefined : { key: '*', models: splitNames(model) }
      const { maxCostPerDay, concurrency } = route
      const models = typeof route.to === 'string' ? splitNames(route.to) : route.to
      return { key: getRouteKey(route), models, ...defined({ maxCostPerDay, concurrency }) }
    },
    /** What a client can ask for: the names that need no pattern, and the models behind the others. */
    listModels(client?: string): string[] {
      const names = routes
        .filter((route) => route.client === undefined || route.client === client)
        .flatMap(({ match, to }) => [
          ...(match.includes('*') ? [] : [match]),
          ...(typeof to === 'string' ? splitNames(to) : to),
        ])
      return [...new Set([...names, ...splitNames(model ?? '')])]
    },
    /** All models that may be asked. */
    listTargets: (): string[] => [
      ...new Set([
        ...routes.flatMap(({ to }) => (typeof to === 'string' ? splitNames(to) : to)),
        ...splitNames(model ?? ''),
      ]),
    ],
    /** As the settings say it, for messages. */
    describe: (): string[] => [
      ...routes.map(({ match, client }) => (client === undefined ? match : `${match} (${client})`)),
      ...(model === undefined ? [] : ['*']),
    ],
  }
}

/** Stays the same if other routes are added. */
function getRouteKey({ match, client = '*' }: GatewayRoute): string {
  return `${match} ${client}`
}

function splitNames(names: string): string[] {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function toPattern(match: string): RegExp {
  const escaped = match.split('*').map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.*')}$`, 'i')
}
