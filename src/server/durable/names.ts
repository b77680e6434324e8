import { createHash } from 'node:crypto'
import type { SessionKey } from '../backend.ts'

/** The schema with the sessions of a tenant. Two tenants never share one, whatever their names. */
export function getTenantSchema(prefix: string, tenant: string): string {
  // A name of a schema has at most 63 characters; names with capitals or dashes could collide with others.
  const name = `${prefix}_t_${tenant}`
  return /^[a-z0-9_]+$/.test(tenant) && name.length <= 63 ? name : `${prefix}_h_${hash(tenant)}`
}

/** The channel of the notifications about a session. A channel each, so that a process gets only what it watches. */
export function getSessionChannel(schema: string, kind: 'inbox' | 'live', { tenant, session }: SessionKey): string {
  return `dragoman_${hash(JSON.stringify([schema, kind, tenant, session]))}`
}

/** The channel that wakes the workers. */
export function getJobsChannel(schema: string): string {
  return `dragoman_${hash(JSON.stringify([schema, 'jobs']))}`
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
