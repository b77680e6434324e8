import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { WebClient } from '../../host/host.ts'
import { readRegularFile } from '../../host/files/regular-file.ts'
import { findEnvironmentSecrets } from '../../model/security/redactor.ts'
import { createUrlGuard, type UrlGuard } from '../../policy/url/url-guard.ts'
import { type Model, findProxy } from '../../provider/index.ts'
import type { Session } from '../../session/session.ts'
import type { WebToolOptions } from '../../tool/builtin/index.ts'
import type { WebSearchOptions } from '../../tool/web/web-search-service.ts'
import { createAuxiliaryModel } from '../../tool/auxiliary-model.ts'
import type { Config } from '../config/schema.ts'
import { defined } from '../../model/defined.ts'
import { lazy } from '../../model/lazy.ts'

/** Checks the URLs that a session fetches: those typed by the user are allowed, and none may contain a secret. */
export function createSessionUrlGuard(session: Session, folders: readonly string[], env: NodeJS.ProcessEnv): UrlGuard {
  const getSecrets = lazy(() => findEnvironmentSecrets(env))
  return createUrlGuard({
    typed: (url) => isTypedByUser(url, session),
    secrets: () => [...getSecrets(), ...folders.flatMap(readEnvFileValues)],
  })
}

/** The values in a folder's `.env` files, which a program may have printed to the model. */
function readEnvFileValues(folder: string): string[] {
  try {
    const files = readdirSync(folder).filter((name) => /^\.env(?:\.|$)/.test(name))
    return files.flatMap((name) => {
      const content = readRegularFile(join(folder, name), { maxBytes: 2 ** 20 })
      const text = 'bytes' in content ? content.bytes.toString('utf8') : ''
      return [...text.matchAll(/^\s*(?:export\s+)?\w+\s*=\s*["']?([^\s"'#]{8,})/gm)].map(([, value = '']) => value)
    })
  } catch {
    return []
  }
}

/** Loaded on first use. */
export function createLazyWeb(urlPolicy: UrlGuard, env: NodeJS.ProcessEnv): WebClient {
  const open = lazy(async () => {
    const { createGuardedWebClient } = await import('../../host/web/guarded-web-client.ts')
    return createGuardedWebClient({ urlPolicy, proxy: (url) => findProxy(url, env) })
  })
  return { fetch: async (request) => (await open()).fetch(request) }
}

export function createWebToolOptions(
  model: () => Model,
  createId: () => string,
  search: Config['search'],
  env: NodeJS.ProcessEnv,
): WebToolOptions {
  const options: WebSearchOptions | undefined = search && {
    service: search.service,
    ...defined({ url: search.url }),
    ...(search.key !== undefined && { key: env[search.key] ?? '' }),
  }
  return { model: createAuxiliaryModel(model, createId), ...defined({ search: options }) }
}

/**
 * Only the first part of a user message was typed by the user: attached files were written by others, and so were summaries
 * and entries imported from another session.
 */
function isTypedByUser(url: string, { entries }: Session): boolean {
  return entries.some((entry) => {
    if (entry.kind !== 'user' || entry.foreign) return false
    const [first] = entry.parts
    return (entry.own ?? (first?.kind === 'text' ? first.text : '')).includes(url)
  })
}
