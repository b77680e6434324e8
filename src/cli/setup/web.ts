import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Web } from '../../host/host.ts'
import { readOrdinaryFile } from '../../host/ordinary-file.ts'
import { secretsIn } from '../../model/secret.ts'
import { urlGuard, type UrlGuard } from '../../policy/url-guard.ts'
import type { ModelPort } from '../../provider/port.ts'
import { proxyFor } from '../../provider/proxy.ts'
import type { Session } from '../../session/session.ts'
import type { WebToolOptions } from '../../tool/builtin/index.ts'
import type { SearchOptions } from '../../tool/web/search-service.ts'
import { sideModel } from '../../tool/web/side-model.ts'
import type { Config } from '../config/schema.ts'

/** Judges the addresses that a session reaches: what the person typed is theirs, and what is secret here stays here. */
export function guardFor(session: Session, folders: readonly string[], env: NodeJS.ProcessEnv): UrlGuard {
  const secrets = secretsIn(env)
  return urlGuard({
    typed: (url) => isTyped(url, session),
    secrets: () => [...secrets, ...folders.flatMap(valuesIn)],
  })
}

/** The values in a folder's `.env` files: a program that the model runs may have shown them to it. */
function valuesIn(folder: string): string[] {
  try {
    const files = readdirSync(folder).filter((name) => /^\.env(?:\.|$)/.test(name))
    return files.flatMap((name) => {
      const content = readOrdinaryFile(join(folder, name), { maxBytes: 2 ** 20 })
      const text = 'bytes' in content ? content.bytes.toString('utf8') : ''
      return [...text.matchAll(/^\s*(?:export\s+)?\w+\s*=\s*["']?([^\s"'#]{8,})/gm)].map(([, value = '']) => value)
    })
  } catch {
    return []
  }
}

/** The web, through the guard and the proxy that the person set up. It is loaded when it is first used. */
export function webThrough(judge: UrlGuard, env: NodeJS.ProcessEnv): Web {
  let web: Promise<Web> | undefined
  const open = async (): Promise<Web> => {
    const { guardedWeb } = await import('../../host/web.ts')
    return guardedWeb({ judge, proxy: (url) => proxyFor(url, env) })
  }
  return { fetch: async (request) => (await (web ??= open())).fetch(request) }
}

/** What the web tools may ask: the model, and the search service of the settings. */
export function webTools(
  model: () => ModelPort,
  mint: () => string,
  search: Config['search'],
  env: NodeJS.ProcessEnv,
): WebToolOptions {
  const options: SearchOptions | undefined = search && {
    service: search.service,
    ...(search.url !== undefined && { url: search.url }),
    ...(search.key !== undefined && { key: env[search.key] ?? '' }),
  }
  return { model: sideModel(model, mint), ...(options && { search: options }) }
}

/**
 * Did the person write this address? Only their own words count, which are the first part of what they said here: files that
 * go along were written by others, and so were a summary and what was taken over from another session.
 */
function isTyped(url: string, { entries }: Session): boolean {
  return entries.some((entry) => {
    if (entry.kind !== 'user' || entry.foreign) return false
    const [first] = entry.parts
    return (entry.own ?? (first?.kind === 'text' ? first.text : '')).includes(url)
  })
}
