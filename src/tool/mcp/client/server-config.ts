import { defined } from '../../../model/defined.ts'

export interface McpServerConfig {
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly url?: string
  readonly httpUrl?: string
  readonly type?: 'stdio' | 'http' | 'sse' | 'streamable-http'
  readonly headers?: Readonly<Record<string, string>>
  readonly timeout?: number
  readonly trust?: boolean
  readonly network?: boolean
  readonly includeTools?: readonly string[]
  readonly excludeTools?: readonly string[]
  readonly description?: string
  readonly disabled?: boolean
  readonly oauth?: McpOAuthConfig
}

/** A client that was registered by hand, for services without dynamic registration. */
export interface McpOAuthConfig {
  readonly clientId?: string
  readonly clientSecret?: string
  readonly scopes?: readonly string[]
  /** Hosts of the user's own network that take part in the sign-in. */
  readonly hosts?: readonly string[]
}

export type McpTransportConfig =
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] }
  /** Without a type, a URL may be of either kind. */
  | { readonly kind: 'http' | 'sse' | 'http-or-sse'; readonly url: URL }

export function parseTransportConfig(config: McpServerConfig): McpTransportConfig | { readonly problem: string } {
  const { command, args = [], type } = config
  const address = config.httpUrl ?? config.url
  if (command !== undefined && address === undefined) return { kind: 'stdio', command, args }
  if (command !== undefined) return { problem: 'the settings have both a command and a URL; remove one of them' }
  if (address === undefined) return { problem: 'the settings have neither a command nor a URL' }
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    return { problem: `the URL must begin with http:// or https://: ${address}` }
  if (type === 'stdio') return { problem: 'the type is stdio, but the settings have a URL' }
  if (type === 'sse') return { kind: 'sse', url }
  return { kind: type !== undefined || config.httpUrl !== undefined ? 'http' : 'http-or-sse', url }
}

/** A variable that is not set is a problem, not an empty string. */
export function expandVariables(
  config: McpServerConfig,
  env: Readonly<Record<string, string | undefined>>,
): McpServerConfig | { readonly problem: string } {
  const missing = new Set<string>()
  const expand = (text: string): string => expandText(text, env, missing)
  const expandAll = (pairs: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(pairs).map(([name, value]) => [name, expand(value)]))
  const { command, args, env: serverEnv, cwd, url, httpUrl, headers, oauth } = config
  const expandOptional = (text: string | undefined): string | undefined => text && expand(text)
  const expanded: McpServerConfig = {
    ...config,
    ...defined({
      command: expandOptional(command),
      args: args?.map(expand),
      env: serverEnv && expandAll(serverEnv),
      cwd: expandOptional(cwd),
      url: expandOptional(url),
      httpUrl: expandOptional(httpUrl),
      headers: headers && expandAll(headers),
      oauth: oauth && {
        ...oauth,
        ...defined({ clientId: expandOptional(oauth.clientId), clientSecret: expandOptional(oauth.clientSecret) }),
      },
    }),
  }
  return missing.size === 0 ? expanded : { problem: `the variable ${[...missing].join(', ')} is not set` }
}

/** `$NAME`, `${NAME}` and `${NAME:-default}`; other dollar signs are literal. */
const VARIABLE_PATTERN = /\$(?:\{(?<braced>[A-Za-z_]\w*)(?::-(?<other>[^}]*))?\}|(?<plain>[A-Za-z_]\w*))/g

function expandText(text: string, env: Readonly<Record<string, string | undefined>>, missing: Set<string>): string {
  return text.replace(VARIABLE_PATTERN, (whole, braced?: string, other?: string, plain?: string) => {
    const name = braced ?? plain ?? ''
    const value = env[name]
    if (value !== undefined && value !== '') return value
    if (other !== undefined) return other
    missing.add(name)
    return whole
  })
}

/** For cached lists: another command or URL is another server. */
export function getServerIdentity(config: McpServerConfig): string {
  const { command, args, cwd, url, httpUrl, type } = config
  return JSON.stringify({ command, args, cwd, url, httpUrl, type })
}
