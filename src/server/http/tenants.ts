import { createHash, timingSafeEqual } from 'node:crypto'
import { TENANT_PATTERN } from '../tenant-name.ts'

/**
 * `read`: sessions, events and files. `prompt`: also to create, prompt and cancel. `approve`: to answer questions. `metrics`: the
 * counters of the process. `admin`: all.
 */
export type Scope = 'read' | 'prompt' | 'approve' | 'metrics' | 'admin'

export const SCOPES: readonly Scope[] = ['read', 'prompt', 'approve', 'metrics', 'admin']

/** Who a tenant is, and what it may do. */
export interface TenantConfig {
  readonly tokens: readonly TokenConfig[]
  readonly limits?: TenantLimits
  /** The models that its sessions may name, beside that of the server. */
  readonly models?: readonly string[]
  /** The labels of workers that its sessions may name. */
  readonly labels?: readonly string[]
  /** The beginnings of the git URLs that its workspaces may have. */
  readonly git?: readonly string[]
  /** Its sessions may fetch public pages and search the web. */
  readonly web?: boolean
  /** The MCP servers of the settings that its sessions have; `*` for all. */
  readonly mcpServers?: readonly string[]
  /** Its sessions save facts for each other, on each machine. */
  readonly memory?: boolean
}

/** A token, by its hash, and its scopes. */
export interface TokenConfig {
  /** `sha256:` and the hash of the token in hexadecimal digits. */
  readonly hash: string
  readonly scopes: readonly Scope[]
}

/** The limits of a tenant. What is absent is not limited. */
export interface TenantLimits {
  readonly sessions?: number
  readonly schedules?: number
  /** Prompts, and messages to runs. */
  readonly promptsPerMinute?: number
  /** Prompts of a provider that run at the same time, in all processes; others wait. */
  readonly concurrency?: number
  /** Prompts of a provider that start within a minute, in all processes; others wait. */
  readonly startsPerMinute?: number
  /** Event streams that are open at the same time, on one server. */
  readonly streams?: number
  readonly dollarsPerMonth?: number
}

/** Who makes a request. */
export interface Caller {
  readonly tenant: string
  readonly scopes: readonly Scope[]
}

/** The hash of a token, as the settings of a tenant have it. */
export function hashToken(token: string): string {
  return `sha256:${createHash('sha256').update(token).digest('hex')}`
}

/** Finds the tenant of a token. The time it takes says nothing about the tokens. */
export function createTokenCheck(
  tenants: Readonly<Record<string, TenantConfig>>,
): (token: string) => Caller | undefined {
  const all = Object.entries(tenants).flatMap(([tenant, { tokens }]) =>
    tokens.map(({ hash, scopes }) => ({ tenant, scopes, bytes: parseHash(tenant, hash) })),
  )
  return (token) => {
    const bytes = createHash('sha256').update(token).digest()
    let caller: Caller | undefined
    for (const one of all) if (timingSafeEqual(one.bytes, bytes)) caller ??= one
    return caller && { tenant: caller.tenant, scopes: caller.scopes }
  }
}

function parseHash(tenant: string, hash: string): Buffer {
  if (!TENANT_PATTERN.test(tenant)) throw new TypeError(`“${tenant}” is not a valid name of a tenant`)
  const hex = /^sha256:([0-9a-f]{64})$/i.exec(hash)?.[1]
  if (hex === undefined)
    throw new TypeError(`a token of the tenant ${tenant} is not “sha256:” and 64 hexadecimal digits`)
  return Buffer.from(hex, 'hex')
}

export function hasScope({ scopes }: Caller, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes('admin')
}
