import { isObject } from '../model/json.ts'
import { sign } from './address.ts'
import { jsonIn } from './auth/fetch-json.ts'
import type { Target } from './target.ts'
import type { Post } from './transport.ts'

/**
 * Asks a server of one's own how many tokens it takes in: that depends on how it was started, not on the model. Each kind
 * of server says so somewhere else, and answers 404 everywhere else; so all are asked, and the most exact answer counts.
 */
export async function readServerWindow(target: Target, post: Post): Promise<number | undefined> {
  const get = (path: string) => fetchJson(target, path, post)
  const models = `${new URL(target.baseUrl).pathname.replace(/\/+$/, '')}/models`
  const [props, list, lmStudio, running, shown] = await Promise.all([
    get('/props'),
    get(models),
    get('/api/v0/models'),
    get('/api/ps'),
    fetchJson(target, '/api/show', post, { model: target.model }),
  ])
  const listed = named(at(list, 'data'), 'id', target.model, true)
  const loaded = named(at(lmStudio, 'data'), 'id', target.model)
  const ollama =
    named(at(running, 'models'), 'name', target.model) ?? named(at(running, 'models'), 'model', target.model)
  const candidates: readonly unknown[] = [
    at(props, 'default_generation_settings', 'n_ctx'), // llama.cpp, for each slot
    at(loaded, 'loaded_context_length'), // LM Studio
    at(ollama, 'context_length'), // Ollama, of the model that is loaded
    at(listed, 'max_model_len'), // vLLM
    at(listed, 'meta', 'n_ctx'), // llama.cpp
    at(loaded, 'max_context_length'),
    numCtx(at(shown, 'parameters')), // Ollama, as its model file says
    contextLength(at(shown, 'model_info')), // what it was trained for
    at(listed, 'meta', 'n_ctx_train'),
  ]
  return candidates.find((one): one is number => typeof one === 'number' && Number.isSafeInteger(one) && one > 0)
}

const PATIENCE_MS = 2000
const MAX_BYTES = 4_000_000

/** What is at a path of the server's own; nothing where that is not JSON, or not there. */
async function fetchJson(target: Target, path: string, post: Post, body?: object): Promise<unknown> {
  try {
    const signed = await sign(target, false)
    if ('kind' in signed) return undefined
    const url = new URL(path, target.baseUrl)
    const headers = { ...signed.headers, ...(body && { 'content-type': 'application/json' }) }
    const letter = body
      ? { url, headers, body: [JSON.stringify(body)] }
      : ({ url, method: 'GET', headers, body: [] } as const)
    const reply = await post(letter, AbortSignal.timeout(PATIENCE_MS))
    const json = await jsonIn(reply.body, MAX_BYTES)
    return reply.status === 200 ? json : undefined
  } catch {
    return undefined
  }
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)
}

/** The entry of a list that has this name; `orOnly`, or the only one, for servers that have one model under any name. */
function named(list: unknown, key: string, name: string, orOnly = false): unknown {
  if (!Array.isArray(list)) return undefined
  const same = (one: unknown): boolean => {
    const value = at(one, key)
    return value === name || value === `${name}:latest`
  }
  return list.find(same) ?? (orOnly && list.length === 1 ? list[0] : undefined)
}

/** Ollama gives the parameters of a model as text, a line each. */
function numCtx(parameters: unknown): number | undefined {
  const found = typeof parameters === 'string' ? /^num_ctx\s+(\d+)/m.exec(parameters)?.[1] : undefined
  return found === undefined ? undefined : Number(found)
}

/** The key begins with the architecture: `qwen3.context_length`. */
function contextLength(info: unknown): unknown {
  if (!isObject(info)) return undefined
  const key = Object.keys(info).find((name) => name.endsWith('.context_length'))
  return key === undefined ? undefined : info[key]
}
