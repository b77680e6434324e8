import { isObject } from '../model/json.ts'
import { fetchEndpointJson } from './list-models.ts'
import type { Endpoint } from './endpoint.ts'
import type { HttpClient } from './http/http-client.ts'

/** Each kind of local server reports it at another path, so all are asked, and the most exact answer counts. */
export async function fetchServerContextWindow(
  endpoint: Endpoint,
  httpClient: HttpClient,
): Promise<number | undefined> {
  const get = (path: string) => fetchServerJson(endpoint, path, httpClient)
  const models = `${new URL(endpoint.baseUrl).pathname.replace(/\/+$/, '')}/models`
  const [props, list, lmStudio, running, shown] = await Promise.all([
    get('/props'),
    get(models),
    get('/api/v0/models'),
    get('/api/ps'),
    fetchServerJson(endpoint, '/api/show', httpClient, { model: endpoint.model }),
  ])
  const listed = findByName(getAtPath(list, 'data'), 'id', endpoint.model, true)
  const loaded = findByName(getAtPath(lmStudio, 'data'), 'id', endpoint.model)
  const ollama =
    findByName(getAtPath(running, 'models'), 'name', endpoint.model) ??
    findByName(getAtPath(running, 'models'), 'model', endpoint.model)
  const candidates: readonly unknown[] = [
    getAtPath(props, 'default_generation_settings', 'n_ctx'), // llama.cpp, for each slot
    getAtPath(loaded, 'loaded_context_length'), // LM Studio
    getAtPath(ollama, 'context_length'), // Ollama, of the model that is loaded
    getAtPath(listed, 'max_model_len'), // vLLM
    getAtPath(listed, 'meta', 'n_ctx'), // llama.cpp
    getAtPath(loaded, 'max_context_length'),
    parseNumCtx(getAtPath(shown, 'parameters')), // Ollama, as its model file says
    findContextLength(getAtPath(shown, 'model_info')), // what it was trained for
    getAtPath(listed, 'meta', 'n_ctx_train'),
  ]
  return candidates.find((one): one is number => typeof one === 'number' && Number.isSafeInteger(one) && one > 0)
}

const REQUEST_TIMEOUT_MS = 2000

async function fetchServerJson(
  endpoint: Endpoint,
  path: string,
  httpClient: HttpClient,
  body?: object,
): Promise<unknown> {
  const url = new URL(path, endpoint.baseUrl)
  const response = await fetchEndpointJson(endpoint, url, httpClient, REQUEST_TIMEOUT_MS, body)
  return 'json' in response && response.status === 200 ? response.json : undefined
}

function getAtPath(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)
}

/** `orOnly`: or the only entry, for servers that serve one model under any name. */
function findByName(list: unknown, key: string, name: string, orOnly = false): unknown {
  if (!Array.isArray(list)) return undefined
  const same = (one: unknown): boolean => {
    const value = getAtPath(one, key)
    return value === name || value === `${name}:latest`
  }
  return list.find(same) ?? (orOnly && list.length === 1 ? list[0] : undefined)
}

/** Ollama lists the parameters of a model as text, one per line. */
function parseNumCtx(parameters: unknown): number | undefined {
  const found = typeof parameters === 'string' ? /^num_ctx\s+(\d+)/m.exec(parameters)?.[1] : undefined
  return found === undefined ? undefined : Number(found)
}

/** The key starts with the architecture: `qwen3.context_length`. */
function findContextLength(info: unknown): unknown {
  if (!isObject(info)) return undefined
  const key = Object.keys(info).find((name) => name.endsWith('.context_length'))
  return key === undefined ? undefined : info[key]
}
