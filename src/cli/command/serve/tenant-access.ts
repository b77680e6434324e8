import type { TenantConfig } from '../../../server/http/tenants.ts'
import { SINGLE_TENANT, SINGLE_TENANT_RIGHTS } from '../../../server/session-server.ts'
import type { McpServerConfig } from '../../../tool/mcp/client/server-config.ts'
import type { Settings } from '../../config/read-settings.ts'

/** What the sessions of a tenant have of the things of whoever runs the server. */
export interface TenantAccess {
  /** The tenant is who runs the server: own instructions, memory and tool approvals are shared with the command. */
  readonly isOwner: boolean
  readonly hasWeb: boolean
  readonly hasMemory: boolean
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>
}

/** A tenant that the settings do not name has nothing, unless it is the one of a server with a single token. */
export function findTenantAccess({ config }: Pick<Settings, 'config'>, tenant: string): TenantAccess {
  const tenants = config.server?.tenants ?? {}
  const isOwner = tenant === SINGLE_TENANT && !Object.hasOwn(tenants, tenant)
  const rights: Omit<TenantConfig, 'tokens'> = isOwner
    ? SINGLE_TENANT_RIGHTS
    : (Object.hasOwn(tenants, tenant) && tenants[tenant]) || {}
  const { mcpServers: names = [], web = false, memory = false } = rights
  const servers = Object.entries(config.mcpServers ?? {}).filter(
    ([name]) => names.includes(name) || names.includes('*'),
  )
  return { isOwner, hasWeb: web, hasMemory: memory, mcpServers: Object.fromEntries(servers) }
}
